import Foundation

/// Rules for measuring and comparing texts. They use UTF-8 bytes or Unicode scalars, never Swift's `==`: it treats a
/// composed and a decomposed letter as equal [D linear-time].
package enum TextRules {
    /// The problem with a `unique_user_id`; `nil` if it is valid: 8 to 40 of `A-Za-z0-9@.+_-` [S].
    package static func uniqueUserIDProblem(_ text: String) -> String? {
        let accepted = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@.+_-".unicodeScalars)
        if let strange = text.unicodeScalars.first(where: { !accepted.contains($0) }) {
            return "has the character U+\(String(format: "%04X", strange.value)); accepted are A-Z a-z 0-9 @ . + _ -"
        }
        let count = text.unicodeScalars.count
        guard (8...40).contains(count) else { return "must be 8 to 40 characters, got \(count)" }
        return nil
    }

    /// The problem with an email; `nil` if it is valid: an `@` with text on both sides [D email], at most 254 UTF-8
    /// bytes [S].
    package static func emailProblem(_ text: String) -> String? {
        if let problem = tooLong(text, bytes: 254) { return problem }
        let bytes = Array(text.utf8)
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")), at > 0, at < bytes.count - 1 else {
            return "must have an @ with something on both sides"
        }
        return nil
    }

    /// The problem with a text that has more than `limit` UTF-8 bytes; otherwise `nil`.
    package static func tooLong(_ text: String, bytes limit: Int) -> String? {
        let count = text.utf8.count
        return count <= limit ? nil : "must be at most \(limit) bytes in UTF-8, got \(count)"
    }

    /// The problem with a text that has more than `limit` Unicode scalars; otherwise `nil`.
    package static func tooLong(_ text: String, scalars limit: Int) -> String? {
        let count = text.unicodeScalars.count
        return count <= limit ? nil : "must be at most \(limit) characters, got \(count)"
    }
}

/// Lower-case hexadecimal.
package enum Hex {
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
