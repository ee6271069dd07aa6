import EntrupyAPI
import Platform

/// Reads the members of a JSON object and collects all their problems.
struct FieldReader {
    private let members: JSONObject
    private let prefix: String
    private(set) var problems: [ErrorDetail] = []

    init(_ members: JSONObject, prefix: String = "") {
        self.members = members
        self.prefix = prefix
    }

    /// Throws if a problem was found.
    func finish() throws {
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }

    /// Refuses unknown members, for control bodies. Platform bodies ignore them [D unknown-members].
    mutating func allowOnly(_ keys: String...) {
        for key in members.keys.sorted() where !keys.contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
            report(key, "is not known here; expected \(keys.joined(separator: ", "))")
        }
    }

    /// A required string.
    mutating func string(_ key: String) -> String {
        switch members[key] {
        case nil: report(key, "is missing")
        case .null: report(key, "must be a string, got null")
        case .some: return optionalString(key) ?? ""
        }
        return ""
    }

    /// A string that may be absent or null. A string that contains U+0000 is a problem [D nul-character].
    ///
    /// - Parameter longest: the maximum length, in UTF-8 bytes.
    mutating func optionalString(_ key: String, longest: Int = .max) -> String? {
        switch members[key] {
        case nil, .null: return nil
        case .string(let text):
            if text.utf8.count > longest {
                report(key, "must be at most \(longest) bytes, got \(text.utf8.count)")
                return nil
            }
            if text.utf8.contains(0) {
                report(key, "must not hold the character U+0000")
                return nil
            }
            return text
        case .some(let other):
            report(key, "must be a string, got \(other.typeName)")
            return nil
        }
    }

    /// A required boolean.
    mutating func bool(_ key: String) -> Bool {
        switch members[key] {
        case .bool(let value): return value
        case nil: report(key, "is missing")
        case .some(let other): report(key, "must be true or false, got \(other.typeName)")
        }
        return false
    }

    /// A required object.
    mutating func object(_ key: String) -> JSONObject {
        switch members[key] {
        case .object(let members): return members
        case nil: report(key, "is missing")
        case .some(let other): report(key, "must be an object, got \(other.typeName)")
        }
        return [:]
    }

    /// An object that may be absent or null.
    mutating func optionalObject(_ key: String) -> JSONObject? {
        switch members[key] {
        case nil, .null: return nil
        case .some: return object(key)
        }
    }

    /// A value that may be absent or null, converted by `read`. `expected` is the problem's text: it says what the
    /// value must be.
    mutating func optional<Value>(_ key: String, _ expected: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard let value = members[key], value != .null else { return nil }
        guard let result = read(value) else {
            report(key, expected)
            return nil
        }
        return result
    }

    /// One of the words of `type`. `nil` if it is absent or null.
    mutating func optionalWord<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        let accepted = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return optional(key, "must be one of \(accepted)") { value in
            value.text.flatMap { text in Word.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) } }
        }
    }

    /// Whether the object has this member, even as null.
    func has(_ key: String) -> Bool {
        members[key] != nil
    }

    mutating func report(_ key: String, _ problem: String) {
        problems.append(ErrorDetail(prefix + key, problem))
    }
}
