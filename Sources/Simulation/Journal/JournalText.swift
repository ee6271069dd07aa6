import Foundation
import SimulationAPI

/// Words that a request shows: in its path and query, its headers, its kept bodies or those of its answer. ASCII letters are equal in
/// both cases [D journal-search].
///
/// Secrets are not found: each place where a word stands is masked before it counts.
package struct JournalText: Sendable {
    /// The words as they were given.
    package let text: String
    private let words: [Word]

    /// The maximum length in UTF-8 bytes, and the maximum number of words. The cost of a search grows with both.
    package static let maxBytes = 500
    package static let maxWords = 10

    /// Reads words that are separated by spaces. A part in double quotes is one word.
    ///
    /// - Returns: `nil` if there is no word, or there are more than ``maxWords``.
    package init?(_ text: String) {
        var words: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case 0x09...0x0d where !isQuoted, 0x20 where !isQuoted: words.append([])
            default: words[words.count - 1].append(byte)
            }
        }
        words.removeAll { $0.isEmpty }
        guard (1...Self.maxWords).contains(words.count) else { return nil }
        self.text = text
        self.words = words.map(Word.init)
    }

    /// Whether a request shows every word. Takes time linear in the request's size for each word.
    ///
    /// - Parameter secrets: the secrets to mask in the entry. Asked for only if every word stands somewhere in it.
    package func isFound(in entry: JournalEntry, _ secrets: () throws -> Secrets) rethrows -> Bool {
        let parts = Part.all(of: entry)
        // Masking takes longer than searching, and most entries have none of the words.
        guard words.allSatisfy({ word in parts.contains { $0.has(word) } }) else { return false }
        let secrets = try secrets()
        let shown = parts.filter { part in words.contains { part.has($0) } }.compactMap { $0.masked(secrets) }
        return words.allSatisfy { word in shown.contains { word.isIn($0) } }
    }
}

extension JournalText {
    /// A text to look for, in lower case.
    fileprivate struct Word: Sendable {
        private let bytes: [UInt8]
        /// For each length, the longest shorter beginning of the word that is also the end of its beginning of this length.
        private let borders: [Int]

        init(_ text: [UInt8]) {
            bytes = text.map(Self.folded)
            var borders = [0, 0]
            for index in bytes.indices.dropFirst() {
                var length = borders[index]
                while length > 0, bytes[index] != bytes[length] { length = borders[length] }
                borders.append(bytes[index] == bytes[length] ? length + 1 : 0)
            }
            self.borders = borders
        }

        private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

        func isIn(_ text: String) -> Bool {
            var text = text
            return text.withUTF8 { isIn(UnsafeRawBufferPointer($0)) }
        }

        /// Whether the word is a part of a text. Reads each byte once, whatever the word: the algorithm of Knuth, Morris and Pratt.
        func isIn(_ text: UnsafeRawBufferPointer) -> Bool {
            var length = 0
            for byte in text {
                let byte = Self.folded(byte)
                while length > 0, bytes[length] != byte { length = borders[length] }
                if bytes[length] == byte { length += 1 }
                if length == bytes.count { return true }
            }
            return false
        }
    }

    /// A text of a request that the journal shows.
    fileprivate enum Part {
        case path(String)
        case query(String)
        case header(name: String, value: String)
        case body(JournalEntry.Message)

        static func all(of entry: JournalEntry) -> [Part] {
            var parts: [Part] = [.path(entry.path)]
            if !entry.query.isEmpty { parts.append(.query(String(entry.query.dropFirst()))) }
            for message in [entry.request, entry.response] {
                parts += message.headers.pairs.map { .header(name: $0.name, value: $0.value) }
                if message.kept > 0 { parts.append(.body(message)) }
            }
            return parts
        }

        func has(_ word: Word) -> Bool {
            switch self {
            case .path(let text), .query(let text): Self.readings(text).contains { word.isIn($0) }
            case .header(let name, let value): word.isIn("\(name): \(value)")
            case .body(let message): message.body.data.withUnsafeBytes { word.isIn($0) }
            }
        }

        /// The part as the journal shows it; `nil` if it does not show it, as with a body that is not text.
        func masked(_ secrets: Secrets) -> String? {
            switch self {
            case .path(let text): Self.readings(secrets.masked(text: text)).joined(separator: "\n")
            case .query(let text): Self.readings(secrets.masked(query: text)).joined(separator: "\n")
            case .header(let name, let value):
                "\(secrets.masked(text: name)): \(secrets.masked(header: name, value))"
            case .body(let message):
                secrets.masked(body: message.body.data, isCut: message.kept < message.length)
            }
        }

        /// A part of a URL as it was sent, and decoded if that is another text.
        private static func readings(_ text: String) -> [String] {
            guard text.utf8.contains(UInt8(ascii: "%")), let plain = text.removingPercentEncoding else { return [text] }
            return [text, plain]
        }
    }
}
