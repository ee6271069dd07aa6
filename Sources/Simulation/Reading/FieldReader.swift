import SimulationAPI

/// Reads the members of a JSON object, or the parameters of a query, and collects all their problems.
///
/// A problem names its field by the path from the root of the document. Absent and null members read as `nil`.
package struct FieldReader {
    private var source: Source
    private let path: String
    private var problems: Problems?
    /// Whether numbers, `true` and `false` count as texts where one is expected: those of YAML need no quotes.
    let isWritten: Bool

    private enum Source {
        case object(JSONObject)
        case query(QueryParameters)
    }

    /// The problems of a document. An object of it shares them with the whole.
    private final class Problems {
        var details: [ErrorDetail] = []
    }

    /// - Parameter known: the names of all members; `nil` if others are ignored [D unknown-members].
    package init(_ members: JSONObject, known: [String]? = nil) {
        self.init(members, path: "", nil)
        if let known { refuseMembers(except: known) }
    }

    /// The members of a YAML document, in which `12` may be meant as text, and `yes` as true.
    package init(written members: JSONObject, known: [String]?) {
        self.init(members, path: "", nil, isWritten: true)
        if let known { expectMembers(known) }
    }

    /// A document, which must be an object with no members but `known`.
    ///
    /// - Parameter name: the path of the document, which begins the names of its fields.
    package init(_ document: JSONValue?, at name: String = "", known: [String]) {
        self.init(document?.members ?? [:], path: name, nil)
        if let document, document != .null, document.members == nil {
            report("", "must be an object, got \(document.quoted)")
        }
        refuseMembers(except: known)
    }

    /// - Parameters:
    ///   - query: the text after the `?`, still encoded.
    ///   - isStrict: whether ``finish()`` refuses parameters that were not read [D unknown-members].
    package init(query: Substring, isStrict: Bool = false) {
        source = .query(QueryParameters(query, isStrict: isStrict))
        path = ""
        isWritten = false
    }

    private init(_ members: JSONObject, path: String, _ problems: Problems?, isWritten: Bool = false) {
        source = .object(members)
        self.path = path
        self.problems = problems
        self.isWritten = isWritten
    }

    /// Throws ``PlatformError/invalid(_:_:)`` with all problems if there are any.
    package mutating func finish() throws {
        if case .query(let parameters) = source {
            for (key, problem) in parameters.unread { report(key, problem) }
        }
        guard let problems, !problems.details.isEmpty else { return }
        throw PlatformError.invalid(problems.details)
    }

    /// Adds a problem with a member; with the object itself if `key` is empty.
    package mutating func report(_ key: String, _ problem: String) {
        let found = problems ?? Problems()
        problems = found
        // A document of a megabyte can have as many problems as bytes.
        guard found.details.count < Self.maxProblems else { return }
        found.details.append(ErrorDetail(field(key), problem))
    }

    private func field(_ key: String) -> String {
        path.isEmpty ? key : key.isEmpty || key.utf8.first == UInt8(ascii: "[") ? path + key : "\(path).\(key)"
    }

    /// Reports all members but those of some names.
    ///
    /// - Parameter others: members that are reported elsewhere, and are not expected.
    package mutating func refuseMembers(except known: [String], ignoring others: [String] = []) {
        guard case .object(let members) = source, !members.isEmpty else { return }
        // Most objects have no other members, and need no sorting.
        let unknown = members.keys.filter { key in
            !known.contains { $0.isIdentical(to: key) } && !others.contains { $0.isIdentical(to: key) }
        }
        for key in unknown.sortedByBytes() {
            report(key, Self.unknown(key, known, guesses: problemCount < Self.maxGuesses))
        }
    }

    /// Reports the known members of a YAML document that are null: a value that was forgotten, as in `types:`, would mean all types.
    private mutating func refuseNulls(where isKnown: (String) -> Bool) {
        guard isWritten, case .object(let members) = source else { return }
        for (key, value) in members.sorted where value == .null && isKnown(key) { report(key, "must not be null") }
    }

    /// Reports members with other names than these, and those of a YAML document that are null.
    private mutating func expectMembers(_ known: [String]) {
        refuseNulls { key in known.contains { $0.isIdentical(to: key) } }
        refuseMembers(except: known)
    }

    /// The number of problems so far.
    package var problemCount: Int { problems?.details.count ?? 0 }

    /// The number of problems of a document that are kept. Answers show the first 100.
    package static let maxProblems = 1000

    /// The number of problems of a document up to which the nearest names are looked for: it takes longer than reading a name.
    package static let maxGuesses = 10

    /// The problem with a name that is not one of `known`.
    ///
    /// - Parameter guesses: whether the nearest of these names is looked for.
    package static func unknown(_ name: String, _ known: [String], guesses: Bool = true) -> String {
        guard !known.isEmpty else { return "is not known here; nothing is expected" }
        return "is not known here; \(guesses ? guess(name, known) : "")expected \(known.joined(separator: ", "))"
    }

    /// A question for the nearest of the known names, or nothing if none is near.
    package static func guess(_ name: String, _ known: [String]) -> String {
        // In short names, two other letters make another word.
        let length = min(name.utf8.count, 63)
        let near =
            NearestName.nearest(to: name, among: known, maxDistance: min(max(1, length / 3), length - 1))
            ?? known.first { length > 3 && $0.utf8.starts(with: name.utf8) }
        return near.map { "did you mean \($0)? " } ?? ""
    }

    /// The same at the end of a sentence: `; did you mean X?`, or nothing.
    package static func question(_ name: String, _ known: [String]) -> String {
        let guess = guess(name, known)
        return guess.isEmpty ? "" : "; \(guess.dropLast())"
    }

    /// The names of the members of an object, in the order of their bytes.
    package var names: [String] {
        if case .object(let members) = source { members.keys.sorted() } else { [] }
    }

    /// Whether there is no member.
    package var isEmpty: Bool {
        if case .object(let members) = source { members.isEmpty } else { false }
    }

    /// Whether the member exists, even as null.
    package func has(_ key: String) -> Bool {
        switch source {
        case .object(let members): members[key] != nil
        case .query(let parameters): parameters.has(key)
        }
    }

    /// The member as it is; `nil` if it is absent or null.
    package mutating func value(_ key: String) -> JSONValue? {
        switch source {
        case .object(let members):
            guard let value = members[key] else { return nil }
            if case .null = value { return nil }
            return value
        case .query(var parameters):
            let (text, problem) = parameters.read(key)
            source = .query(parameters)
            if let problem { report(key, problem) }
            return text.map { .string($0) }
        }
    }

    /// A member that `convert` reads.
    ///
    /// - Parameters:
    ///   - expected: says what the value must be.
    ///   - isSecret: whether the message names only the type of another value: tokens may stand where their list is meant.
    package mutating func value<Value>(
        _ key: String, _ expected: @autoclosure () -> String, isSecret: Bool = false, _ convert: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = value(key) else { return nil }
        guard let converted = convert(value) else {
            report(key, "\(expected()), got \(isSecret ? value.typeName : value.quoted)")
            return nil
        }
        return converted
    }

    /// Reports a member that is absent or null.
    package mutating func require(_ key: String) {
        guard has(key) else {
            return report(key, "is missing\(otherName(of: key))")
        }
        if case .object(let members) = source, case .null = members[key] { report(key, "must not be null") }
    }

    /// Reports a member that is absent where one with another form of its name is there.
    package mutating func refuseOtherName(of key: String) {
        let other = otherName(of: key)
        if !has(key), !other.isEmpty { report(key, "is missing\(other)") }
    }

    /// The end of a message about an absent member if the object has one that is called as in other languages; else empty.
    private func otherName(of key: String) -> String {
        guard case .object(let members) = source, let other = Self.otherForm(of: key, in: members) else { return "" }
        return ": the body has \(other), which is another name"
    }

    /// The name of a member that differs from a known name only in case and in `_` and `-`, such as `customerItemId`; `nil` if there is
    /// none.
    package static func otherForm(of key: String, in members: JSONObject) -> String? {
        func plain(_ name: String) -> [UInt8] { name.utf8.filter(\.isLetterOrDigit).map { $0 | 0x20 } }
        let wanted = plain(key)
        return members.keys.filter { $0.utf8.count <= 2 * key.utf8.count && plain($0) == wanted }.min {
            $0.precedes($1)
        }
    }

    /// The member as text; `nil` if it is absent, null or no text.
    func scalarText(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number) where isWritten: number.text
        case .bool(let flag) where isWritten: "\(flag)"
        default: nil
        }
    }

    /// Whether this reads a query, in which every value is text.
    package var isQuery: Bool {
        if case .query = source { true } else { false }
    }

    /// Whether this reads a query of the control API.
    var isFilter: Bool {
        if case .query(let parameters) = source { parameters.isStrict } else { false }
    }

    // MARK: Parts

    /// The object of a member; empty if it is absent.
    ///
    /// - Parameter known: the names of all its members; `nil` if others are ignored.
    package mutating func object(_ key: String, known: [String]? = nil) -> FieldReader {
        var part = part(key, value(key, "must be an object", \.members) ?? [:])
        if let known { part.refuseMembers(except: known) }
        return part
    }

    /// The object of a member; `nil` if it is absent, or no object.
    ///
    /// - Parameter known: the names of all its members; `nil` if others are ignored.
    package mutating func optionalObject(_ key: String, known: [String]?) -> FieldReader? {
        guard let members = members(key) else { return nil }
        var part = part(key, members)
        if let known { part.expectMembers(known) }
        return part
    }

    /// The object of a member; `nil` if it is absent, or no object. Its other members are refused.
    package mutating func optionalObject(_ key: String, known: KnownNames) -> FieldReader? {
        guard let members = members(key) else { return nil }
        var part = part(key, members)
        part.refuseNulls(where: known.contains)
        for key in members.keys.filter({ !known.contains($0) }).sortedByBytes() {
            let isNear = part.problemCount < Self.maxGuesses
            part.report(
                key, "is not known here; \(isNear ? Self.guess(key, known.names) : "")expected \(known.listed)")
        }
        return part
    }

    /// Whether the member is an array without elements.
    package mutating func isEmptyList(_ key: String) -> Bool { value(key)?.elements?.isEmpty == true }

    /// The objects of an array.
    ///
    /// - Parameters:
    ///   - known: the names of all members of each; `nil` if others are ignored.
    ///   - read: reads an object, and reports its problems.
    package mutating func objects<Value>(
        _ key: String, known: [String]?, _ read: (inout FieldReader) throws -> Value
    ) rethrows -> [Value]? {
        try list(key) { fields, name in
            guard var object = fields.optionalObject(name, known: known) else { return nil }
            return try read(&object)
        }
    }

    /// The elements of an array, which must not be null.
    ///
    /// - Parameters:
    ///   - expected: says what the value must be.
    ///   - counts: the numbers of elements that it may have.
    ///   - read: reads the element of a name; `nil` if it has a problem, which is reported.
    package mutating func list<Value>(
        _ key: String, _ expected: @autoclosure () -> String = "must be a list", counts: ClosedRange<Int> = 0...(.max),
        _ read: (inout FieldReader, _ name: String) throws -> Value?
    ) rethrows -> [Value]? {
        guard var list = elements(key, expected()) else { return nil }
        guard counts.contains(list.names.count) else {
            report(key, "\(expected()), got \(list.names.count)")
            return nil
        }
        return try list.names.compactMap { name in
            list.fields.require(name)
            return try read(&list.fields, name)
        }
    }

    /// The members of an object.
    package mutating func members(_ key: String) -> JSONObject? {
        value(key, "must be an object", isSecret: true, \.members)
    }

    /// The elements of an array, and the names by which they are read: `[0]`, `[1]` and so on.
    package mutating func elements(_ key: String, _ expected: String) -> (fields: FieldReader, names: [String])? {
        guard let elements = value(key, expected, isSecret: true, \.elements) else { return nil }
        let names = elements.indices.map { "[\($0)]" }
        return (part(key, JSONObject(zip(names, elements))), names)
    }

    private mutating func part(_ key: String, _ members: JSONObject) -> FieldReader {
        let found = problems ?? Problems()
        problems = found
        return FieldReader(members, path: field(key), found, isWritten: isWritten)
    }
}

extension JSONValue {
    /// The value in a message: `26`, `"c"`, `null`, `an array`.
    package var quoted: String {
        switch self {
        case .string(let text): "\"\(text.excerpt)\""
        case .number(let number): number.text.excerpt
        case .bool(let flag): "\(flag)"
        case .null, .array, .object: typeName
        }
    }
}
