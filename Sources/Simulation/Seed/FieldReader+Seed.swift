import SimulationAPI

extension FieldReader {
    /// An id: lower-case letters, digits and underscores.
    package mutating func identifier(_ key: String) -> String? {
        guard let text = text(key, maxBytes: 64), !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy({ (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }) else {
            report(key, "must be an id of a-z, 0-9 and _, got \"\(text.excerpt)\"")
            return nil
        }
        return text
    }

    /// An id that must be given.
    package mutating func requiredIdentifier(_ key: String) -> String {
        require(key)
        return identifier(key) ?? ""
    }

    /// A text in every language; `nil` if it is absent.
    package mutating func localized(_ key: String) -> LocalizedText? {
        guard var texts = optionalObject(key, known: Language.names) else { return nil }
        return LocalizedText(english: texts.requiredText("en"), japanese: texts.requiredText("ja"))
    }

    /// A text in every language, which must be given.
    package mutating func requiredLocalized(_ key: String) -> LocalizedText {
        require(key)
        return localized(key) ?? LocalizedText(english: "", japanese: "")
    }

    /// An id by which an organization knows a user.
    package mutating func uniqueUserID(_ key: String) -> String {
        require(key)
        guard let text = optionalString(key) else { return "" }
        if let problem = TextRules.uniqueUserIDProblem(text) { report(key, problem) }
        return text
    }

    /// Reports the first value that appears twice. Empty ones stand for values with a problem of their own.
    ///
    /// - Parameters:
    ///   - what: the kind of the values, for the message.
    ///   - key: the member that has them.
    ///   - areSecret: whether the message leaves the value out.
    package mutating func checkUnique(_ values: [String], _ what: String, in key: String, areSecret: Bool = false) {
        var seen: Set<TextKey> = []
        let twice = values.first { !$0.isEmpty && !seen.insert(TextKey($0)).inserted }
        if let twice { report(key, areSecret ? "\(what) appears twice" : "\(what) \"\(twice)\" appears twice") }
    }
}
