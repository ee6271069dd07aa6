import SimulationAPI
import Storage

/// A state that can be read again and again and does not change meanwhile.
enum FixedState: Sendable {
    case copy(DatabaseCopy)
    case snapshot(SnapshotRecord)

    /// Reads it with `body`, in one transaction. Blocks.
    func read<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        switch self {
        case .copy(let copy): try copy.read(body)
        case .snapshot(let snapshot): try snapshot.read(body)
        }
    }

    func close() { if case .copy(let copy) = self { copy.cancel() } }
}

/// The comparison of two states, object by object [D diff]. Each is read at most twice: once for hashes of its objects, and once for those that differ.
struct StateComparison {
    let platforms: Platforms
    /// The secrets of the server, which no answer has.
    let secrets: [String]

    /// The maximum number of objects of an answer.
    var maxObjects = 10_000
    /// About the maximum size of what is read for an answer, in bytes.
    static let maxBytes = 64_000_000
    /// The maximum number of subscriptions whose secrets are masked in any position [D secrets].
    private static let maxSecrets = 100

    private var kinds: [ComparedKind] {
        ComparedState.ofEngine.kinds + platforms.all.flatMap(\.tables.compared.kinds) + ComparedState.ofWebhooks
    }

    /// The names of members that are not compared by value.
    static func ignored(_ kinds: [ComparedKind]) -> [String] {
        Set(kinds.flatMap(\.members).filter { $0.isPlace || $0.isIgnored }.map(\.name)).sorted()
    }

    func difference(from: FixedState, to: FixedState) throws -> StateDifference {
        let kinds = kinds
        let changes = try changes(kinds, from, to)
        guard !changes.isEmpty else {
            return StateDifference(objects: [], ignored: Self.ignored(kinds), truncated: false)
        }
        let before = try shown(kinds, from) { changes[$0] == .removed || changes[$0] == .changed }
        let after = try shown(kinds, to) { changes[$0] == .added || before.objects[$0] != nil }
        let secrets = try Secrets(from.read(known) + to.read(known).texts)
        let keys = before.order + after.order.filter { changes[$0] == .added }
        let found = keys.compactMap { key in
            changes[key].flatMap { compared(before.objects[key], after.objects[key], $0, secrets) }
        }
        // Sorting by two numbers is stable.
        let sorted = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        return StateDifference(
            objects: sorted.prefix(maxObjects).map(\.element.object), ignored: Self.ignored(kinds),
            truncated: before.isCut || after.isCut || sorted.count > maxObjects)
    }

    /// The objects whose hashes differ, by their keys' hashes.
    private func changes(
        _ kinds: [ComparedKind], _ from: FixedState, _ to: FixedState
    ) throws -> [Int: ObjectDifference.Change] {
        var values: [Int: Int] = [:]
        var changes: [Int: ObjectDifference.Change] = [:]
        try from.read { transaction in
            try StateWalk(transaction, kinds) { key, value, _ in
                values[key] = value
                return true
            }.run(platforms)
        }
        try to.read { transaction in
            try StateWalk(transaction, kinds) { key, value, _ in
                let old = values.removeValue(forKey: key)
                if old != value { changes[key] = old == nil ? .added : .changed }
                return true
            }.run(platforms)
        }
        for key in values.keys { changes[key] = .removed }
        return changes
    }

    /// The objects that are wanted, and the order in which they were found.
    private struct Shown {
        var objects: [Int: ShownObject] = [:]
        var order: [Int] = []
        var isCut = false
    }

    private func shown(
        _ kinds: [ComparedKind], _ state: FixedState, wanted isWanted: @escaping (Int) -> Bool
    ) throws -> Shown {
        var shown = Shown()
        var bytes = 0
        try state.read { transaction in
            try StateWalk(transaction, kinds, wanted: isWanted) { key, _, object in
                guard let object else { return true }
                guard shown.order.count < maxObjects, bytes < Self.maxBytes else {
                    shown.isCut = true
                    return false
                }
                bytes += object.members.reduce(200) { $0 + 100 + $1.value.roughBytes }
                shown.objects[key] = object
                shown.order.append(key)
                return true
            }.run(platforms)
        }
        return shown
    }

    private func known(_ transaction: Transaction) throws -> KnownSecrets {
        KnownSecrets(
            try transaction.apiTokens() + transaction.subscriptionSecrets(limit: Self.maxSecrets) + secrets,
            tokensOf: platforms)
    }

    // MARK: Objects

    /// The change of an object, with the place of its kind; `nil` if nothing of it differs, such as only the order of a document's members,
    /// or if the second state was not read as far.
    private func compared(
        _ from: ShownObject?, _ to: ShownObject?, _ change: ObjectDifference.Change, _ secrets: Secrets
    ) -> (place: Int, object: ObjectDifference)? {
        guard let object = from ?? to, change != .changed || to != nil else { return nil }
        let (old, new) = (Self.values(from), Self.values(to))
        let added = to?.members.filter { old[$0.name] == nil } ?? []
        let members = ((from?.members ?? []) + added).compactMap { member in
            let (before, after) = (old[member.name] ?? .null, new[member.name] ?? .null)
            // The place of an object that only one state has is not compared.
            let differs =
                member.isPlace ? change == .changed && (before == .null) != (after == .null) : before != after
            return differs ? Self.member(member.name, before, after, secrets) : nil
        }
        if change == .changed, members.isEmpty { return nil }
        let key = secrets.masked(members: object.key)
        return (object.place, ObjectDifference(kind: object.kind, key: key, change: change, members: members))
    }

    private static func values(_ object: ShownObject?) -> JSONObject {
        JSONObject((object?.members ?? []).map { ($0.name, $0.value) })
    }

    private static func member(
        _ name: String, _ from: JSONValue, _ to: JSONValue, _ secrets: Secrets
    ) -> ObjectDifference.Member {
        func masked(_ value: JSONValue) -> JSONValue {
            // The last part is the name of a document's own member.
            let last = String(name.split(at: ".").last ?? "")
            return secrets.masked(members: [last: value])[last] ?? .null
        }
        return ObjectDifference.Member(
            name: secrets.masked(text: name), from: from == .null ? nil : masked(from),
            to: to == .null ? nil : masked(to))
    }
}

extension JSONValue {
    /// About the size as text, in bytes.
    fileprivate var roughBytes: Int {
        switch self {
        case .null, .bool: 8
        case .number(let number): number.text.utf8.count
        case .string(let text): text.utf8.count
        case .array(let elements): elements.reduce(16) { $0 + $1.roughBytes }
        case .object(let members): members.reduce(16) { $0 + $1.key.utf8.count + $1.value.roughBytes }
        }
    }
}
