import Foundation
import Hashes
import SimulationAPI
import Storage

/// An object as a comparison shows it.
struct ShownObject {
    /// The place of its kind in the order of kinds.
    let place: Int
    let kind: String
    let key: JSONObject
    let members: [ShownMember]
}

/// A member of an object. A document has one for each of its own members.
struct ShownMember {
    let name: String
    let value: JSONValue
    /// Whether only its place is compared.
    var isPlace = false
}

/// One reading of all objects of a state, kind by kind [D diff].
///
/// Its time is linear in the rows. Objects are known by 64-bit hashes of their keys, so that a reading keeps some dozen bytes of each.
final class StateWalk {
    /// An object that others refer to.
    private struct Target {
        let kind: Int
        let key: Int
        let nth: Int
    }

    private let transaction: Transaction
    private let kinds: [ComparedKind]
    /// Whether an object is shown; `nil` to show none.
    private let isWanted: ((Int) -> Bool)?
    private let found: (_ key: Int, _ value: Int, _ shown: ShownObject?) -> Bool
    private var targets: [Int: Target] = [:]
    private var isOver = false
    /// The places before those of the kinds: the namespace and its settings.
    private static let firstKind = 2

    /// - Parameters:
    ///   - isWanted: whether the object with a key is shown; only those are found. `nil` to find all, and show none.
    ///   - found: gets the hashes of an object's key and of its members. Returns whether to go on.
    init(
        _ transaction: Transaction, _ kinds: [ComparedKind], wanted isWanted: ((Int) -> Bool)? = nil,
        found: @escaping (_ key: Int, _ value: Int, _ shown: ShownObject?) -> Bool
    ) {
        (self.transaction, self.kinds, self.isWanted, self.found) = (transaction, kinds, isWanted, found)
    }

    func run(_ platforms: Platforms) throws {
        for object in try [whole()] + settings(platforms) where !isOver {
            let key = Self.hash(object.kind, object.key)
            try report(key, Self.hash("", JSONObject(object.members.map { ($0.name, $0.value) }))) { object }
        }
        for index in kinds.indices where !isOver { try read(index) }
    }

    /// Tells of an object, which is shown if it is wanted.
    private func report(_ key: Int, _ value: Int, _ shown: () throws -> ShownObject) throws {
        guard let isWanted else { return isOver = !found(key, value, nil) }
        if isWanted(key) { isOver = !found(key, value, try shown()) }
    }

    private static func hash(_ kind: String, _ members: JSONObject) -> Int {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(members)
        return hasher.finalize()
    }

    // MARK: The namespace itself

    private func whole() throws -> ShownObject {
        let seed = try transaction.namespaceValue(.seedText) ?? ""
        let scenario = try transaction.namespaceValue(.scenario).map {
            try WireJSON.decode(ScenarioState.self, from: Data($0.utf8))
        }
        func text(_ key: NamespaceKey) throws -> JSONValue {
            try transaction.namespaceValue(key).map { .string($0) } ?? .null
        }
        return ShownObject(
            place: 0, kind: "namespace", key: [:],
            members: [
                ShownMember(name: "clock", value: try text(.clockMode)),
                ShownMember(name: "seed", value: try text(.seedName)),
                ShownMember(
                    name: "seed_data",
                    value: .string("sha256 \(Hex.string(SHA256.hash(data: Data(seed.utf8))).prefix(12))")),
                ShownMember(name: "scenario", value: scenario.map { .string($0.name) } ?? .null),
                ShownMember(name: "scenario_actions", value: .number(JSONNumber(scenario?.outcomes.count ?? 0))),
            ])
    }

    /// The settings with their defaults: one that is set to its default is no other.
    private func settings(_ platforms: Platforms) throws -> [ShownObject] {
        let given = try transaction.namespaceValue(.settings).map { try StoredJSON.decode($0) } ?? .object([:])
        return Self.leaves(try Settings(given, platforms).document).map { name, value in
            ShownObject(
                place: 1, kind: "setting", key: ["name": .string(name)],
                members: [ShownMember(name: "value", value: value)])
        }
    }

    private static func leaves(_ value: JSONValue, at path: String = "") -> [(String, JSONValue)] {
        guard let members = value.members, !members.isEmpty else { return [(path, value)] }
        return members.sorted.flatMap { leaves($0.value, at: path.isEmpty ? $0.name : "\(path).\($0.name)") }
    }

    // MARK: Rows

    private func read(_ index: Int) throws {
        let kind = kinds[index]
        let foreign = kind.foreign
        // The number of objects with a key, so far.
        var equals: [Int: Int] = [:]
        try transaction.read(kind.sql(isShown: isWanted != nil), []) { row in
            while !isOver, try row.next() {
                var (key, value) = (Hasher(), Hasher())
                key.combine(index)
                for (place, member) in foreign.enumerated() {
                    let part = hash(of: member, row, CInt(1 + place))
                    if member.isKey { key.combine(part) } else { value.combine(part) }
                }
                _ = row.withBytes(CInt(1 + foreign.count)) { key.combine(bytes: $0) }
                _ = row.withBytes(CInt(2 + foreign.count)) { value.combine(bytes: $0) }
                let first = key.finalize()
                let nth = (equals[first] ?? 0) + 1
                equals[first] = nth
                let place = nth == 1 ? first : Self.hash("\(first)", ["": .number(JSONNumber(nth))])
                if let id = row.withBytes(0, { Self.hash(id: $0, kind.counted) }) {
                    targets[id] = Target(kind: index, key: place, nth: nth)
                }
                try report(place, value.finalize()) { try shown(row, index, nth) }
            }
        }
    }

    private static func hash(id: UnsafeRawBufferPointer, _ counted: String?) -> Int {
        var hasher = Hasher()
        hasher.combine(counted)
        hasher.combine(bytes: id)
        return hasher.finalize()
    }

    /// The object that a column refers to; `nil` if there is none.
    private func target(_ row: borrowing DirectStatement, _ column: CInt, _ counted: String?) -> Target? {
        row.withBytes(column) { Self.hash(id: $0, counted) }.flatMap { targets[$0] }
    }

    private func hash(of member: ComparedMember, _ row: borrowing DirectStatement, _ column: CInt) -> Int {
        if case .reference(let counted) = member.role { return target(row, column, counted)?.key ?? 0 }
        return Self.hash("", ["": .string(Self.place(ofReceiver: row.text(column)))])
    }

    /// The URL of a receiver without its secrets, and without a port of this machine, which is often another in each run.
    static func place(ofReceiver url: String) -> String {
        let masked = url.maskingQuery
        let isLocal = #/([a-z]+:\/\/(?:[^\/@]*@)?(?:localhost|127\.[0-9.]+|\[::1\])):[0-9]+/#
        guard let local = masked.prefixMatch(of: isLocal) else { return masked }
        return "\(local.1):*\(masked[local.range.upperBound...])"
    }

    // MARK: Shown objects

    private func shown(_ row: borrowing DirectStatement, _ index: Int, _ nth: Int) throws -> ShownObject {
        let kind = kinds[index]
        var foreign = CInt(1)
        var others = try Self.elements(row, CInt(2 + kind.foreign.count))[...]
        var members: [ShownMember] = []
        for member in kind.members where !member.isIgnored {
            if member.isForeign {
                if !member.isKey {
                    members.append(ShownMember(name: member.name, value: try value(of: member, row, foreign)))
                }
                foreign += 1
            } else if !member.isKey {
                members += try Self.shown(member, others.popFirst() ?? .null)
            }
        }
        return ShownObject(
            place: Self.firstKind + index, kind: kind.name, key: try key(row, kind, nth), members: members)
    }

    private static func elements(_ row: borrowing DirectStatement, _ column: CInt) throws -> [JSONValue] {
        try StoredJSON.decode(row.text(column)).elements ?? []
    }

    private func key(_ row: borrowing DirectStatement, _ kind: ComparedKind, _ nth: Int) throws -> JSONObject {
        var key: JSONObject = [:]
        for (place, member) in kind.foreign.enumerated() where member.isKey {
            key[member.name] = try value(of: member, row, CInt(1 + place))
        }
        let values = try Self.elements(row, CInt(1 + kind.foreign.count))
        for (member, value) in zip(kind.key, values) { key[member.name] = value }
        if nth > 1 { key["nth"] = .number(JSONNumber(nth)) }
        return key
    }

    /// The key of another object, or its only member; the place of a receiver.
    private func value(
        of member: ComparedMember, _ row: borrowing DirectStatement, _ column: CInt
    ) throws -> JSONValue {
        guard case .reference(let counted) = member.role else {
            return .string(Self.place(ofReceiver: row.text(column)))
        }
        guard let target = target(row, column, counted) else { return .null }
        let kind = kinds[target.kind]
        let id: any ColumnValue = counted == nil ? row.text(column) : row.integer(column)
        return try transaction.read(kind.sql(isShown: false, isOne: true), [id]) { row in
            guard try row.next() else { return .null }
            let found = try key(row, kind, target.nth)
            return found.count == 1 ? found.values[0] : .object(found)
        }
    }

    private static func shown(_ member: ComparedMember, _ value: JSONValue) throws -> [ShownMember] {
        switch (member.role, value) {
        case (.document, .string(let text)):
            guard let members = try StoredJSON.decode(text).members else { break }
            return members.sorted.map { ShownMember(name: "\(member.name).\($0.name)", value: $0.value) }
        case (.time, .number(let number)):
            let moment = Instant(microseconds: Int64(number.text) ?? 0)
            return [ShownMember(name: member.name, value: .string(moment.display), isPlace: member.isPlace)]
        case (.secret, .string), (.secret, .number):
            return [ShownMember(name: member.name, value: .string(Secrets.mask), isPlace: member.isPlace)]
        default: break
        }
        return [ShownMember(name: member.name, value: value, isPlace: member.isPlace)]
    }
}
