import EntrupyAPI
import Platform

/// Reads the members of a JSON object and collects everything that is wrong with them.
struct FieldReader {
    private let members: JSONObject
    private let prefix: String
    private(set) var problems: [ErrorDetail] = []

    init(_ members: JSONObject, prefix: String = "") {
        self.members = members
        self.prefix = prefix
    }

    /// Throws where something was wrong.
    func finish() throws {
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }

    /// Control bodies have no unknown members; platform bodies ignore them [D].
    mutating func allowOnly(_ keys: String...) {
        for key in members.keys.sorted() where !keys.contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
            report(key, "is not known here; expected \(keys.joined(separator: ", "))")
        }
    }

    /// A string that must be there.
    mutating func string(_ key: String) -> String {
        switch members[key] {
        case nil: report(key, "is missing")
        case .null: report(key, "must be a string, this is null")
        case .some: return optionalString(key) ?? ""
        }
        return ""
    }

    /// A string that may be absent or null.
    ///
    /// - Parameter longest: the most UTF-8 bytes it may have.
    mutating func optionalString(_ key: String, longest: Int = .max) -> String? {
        switch members[key] {
        case nil, .null: return nil
        case .string(let text):
            if text.utf8.count > longest {
                report(key, "must be at most \(longest) bytes, this has \(text.utf8.count)")
                return nil
            }
            if text.utf8.contains(0) {
                report(key, "must not hold the character U+0000")
                return nil
            }
            return text
        case .some(let other):
            report(key, "must be a string, this is \(other.typeName)")
            return nil
        }
    }

    /// A boolean that must be there.
    mutating func bool(_ key: String) -> Bool {
        switch members[key] {
        case .bool(let value): return value
        case nil: report(key, "is missing")
        case .some(let other): report(key, "must be true or false, this is \(other.typeName)")
        }
        return false
    }

    /// An object that must be there.
    mutating func object(_ key: String) -> JSONObject {
        switch members[key] {
        case .object(let members): return members
        case nil: report(key, "is missing")
        case .some(let other): report(key, "must be an object, this is \(other.typeName)")
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

    /// Any value that may be absent or null, read by `read`; `expected` says what it must be.
    mutating func optional<Value>(_ key: String, _ expected: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard let value = members[key], value != .null else { return nil }
        guard let result = read(value) else {
            report(key, expected)
            return nil
        }
        return result
    }

    /// One of a few words, absent or null.
    mutating func optionalWord<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        let accepted = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return optional(key, "must be one of \(accepted)") { value in
            value.text.flatMap { text in Word.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) } }
        }
    }

    /// Whether a member is there at all.
    func has(_ key: String) -> Bool {
        members[key] != nil
    }

    mutating func report(_ key: String, _ problem: String) {
        problems.append(ErrorDetail(prefix + key, problem))
    }
}
