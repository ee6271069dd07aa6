extension FieldReader {
    /// A string that must be given. It may be empty.
    package mutating func string(_ key: String) -> String {
        require(key)
        return optionalString(key) ?? ""
    }

    /// A string, which may be empty. One that contains U+0000 is a problem [D nul-character].
    ///
    /// The message names only the type of another value, which may be a password.
    ///
    /// - Parameter maxBytes: the maximum length, in UTF-8 bytes.
    package mutating func optionalString(_ key: String, maxBytes: Int = .max) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = scalarText(value) else {
            report(key, "must be a string, got \(value.typeName)")
            return nil
        }
        let problem =
            text.utf8.contains(0)
            ? "must not contain the character U+0000" : TextRules.tooLong(text, bytes: maxBytes)
        guard let problem else { return text }
        report(key, problem)
        return nil
    }

    /// A string that is not empty, of at most `maxBytes` UTF-8 bytes.
    package mutating func text(_ key: String, maxBytes: Int = 1000) -> String? {
        guard let text = optionalString(key, maxBytes: maxBytes) else { return nil }
        if text.isEmpty { report(key, "must not be empty") }
        return text
    }

    /// A string that must be given and is not empty.
    package mutating func requiredText(_ key: String, maxBytes: Int = 1000) -> String {
        require(key)
        return text(key, maxBytes: maxBytes) ?? ""
    }

    /// A string; `nil` if it is absent or empty.
    package mutating func given(_ key: String) -> String? {
        optionalString(key).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// An array of strings.
    package mutating func texts(_ key: String) -> [String]? {
        value(key, "must be an array of strings without the character U+0000") { value in
            value.elements.flatMap { elements in
                let texts = elements.compactMap(\.text)
                return texts.count == elements.count && !texts.contains { $0.utf8.contains(0) } ? texts : nil
            }
        }
    }

    /// One of some words; in a filter of the control API in any letter case [D control-filters].
    package mutating func word(_ key: String, _ accepted: [String]) -> String? {
        guard let value = value(key) else { return nil }
        let lower = value.text?.lowercased() ?? ""
        if let found = accepted.first(where: { $0.isIdentical(to: value.text ?? "") }) { return found }
        if isFilter, let found = accepted.first(where: { $0.isIdentical(to: lower) }) { return found }
        // Looking for the nearest takes longer than reading.
        let question = problemCount < Self.maxGuesses ? Self.question(lower, accepted) : ""
        report(key, "must be one of \(accepted.joined(separator: ", ")), got \(value.quoted)\(question)")
        return nil
    }

    /// One of some words, which must be given.
    package mutating func requiredWord(_ key: String, _ accepted: [String]) -> String {
        if value(key) == nil { report(key, "is missing; expected one of \(accepted.joined(separator: ", "))") }
        return word(key, accepted) ?? ""
    }

    /// One of the words of `type`.
    package mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        // A key path of a generic type is made anew each time, which takes longer than the rest.
        word(key, Word.allCases.map { $0.rawValue }).flatMap { Word(rawValue: $0) }
    }

    /// A list of some words.
    package mutating func words(_ key: String, _ accepted: [String]) -> [String]? {
        list(key, "must be a list of \(accepted.joined(separator: ", "))") { $0.word($1, accepted) }
    }

    /// `true` or `false`.
    package mutating func optionalBool(_ key: String) -> Bool? {
        let (isWritten, isQuery) = (isWritten, isQuery)
        return value(key, "must be true or false") { value in
            switch value {
            case .bool(let flag): flag
            case .string(let text) where isWritten: YAMLText.bool(text)
            // Not as patterns, which would compare texts as characters instead of bytes.
            case .string(let text) where isQuery && text.isOne(of: ["true", "false"]): text.isIdentical(to: "true")
            default: nil
            }
        }
    }

    /// `true` or `false`, which must be given.
    package mutating func bool(_ key: String) -> Bool {
        require(key)
        return optionalBool(key) ?? false
    }

    /// A whole number in a range.
    package mutating func number(_ key: String, in range: ClosedRange<Int> = 0...1_000_000_000) -> Int? {
        let isQuery = isQuery
        return value(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            let number: Int? =
                switch value {
                // 25.0 is a whole number too.
                case .number(let number): number.integer ?? Int(exactly: number.double)
                case .string(let text) where isQuery && !text.isEmpty && text.utf8.allSatisfy(Self.isDigit): Int(text)
                default: nil
                }
            return number.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// A number in a range, which may have a fraction.
    package mutating func decimal(_ key: String, in range: ClosedRange<Double>) -> Double? {
        value(key, "must be a number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .number(let number) = value, range.contains(number.double) else { return nil }
            return number.double
        }
    }
}
