extension String {
    /// The URL with `***` for the values of its query, which may be secrets: receivers take tokens there. For texts that are kept and
    /// shown to others: explanations, audits, reports and scenarios.
    package var maskingQuery: String {
        let end = prefix(before: "?")
        guard end.utf8.count < utf8.count else { return self }
        let query = utf8.dropFirst(end.utf8.count + 1)
        let names = String(decoding: query, as: UTF8.self).prefix(before: "#").split(at: "&").map {
            $0.contains(ascii: "=") ? $0.prefix(before: "=") + "=***" : "***"
        }
        return "\(end)?\(names.joined(separator: "&"))"
    }
}
