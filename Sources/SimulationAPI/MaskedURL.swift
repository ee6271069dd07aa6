extension String {
    /// The URL with `***` for its user, its password and the values of its query, which may be secrets: receivers take tokens there. For texts that are kept and
    /// shown to others: explanations, audits, reports and scenarios.
    package var maskingQuery: String {
        let whole = String(prefix(before: "?"))
        let end = whole.maskingUser
        guard whole.utf8.count < utf8.count else { return end }
        let query = utf8.dropFirst(whole.utf8.count + 1)
        let names = String(decoding: query, as: UTF8.self).prefix(before: "#").split(at: "&").map {
            $0.contains(ascii: "=") ? $0.prefix(before: "=") + "=***" : "***"
        }
        return "\(end)?\(names.joined(separator: "&"))"
    }

    /// The beginning of a URL with `***` for its user and password.
    private var maskingUser: String {
        let scheme = utf8.prefix { $0 != UInt8(ascii: ":") }
        let start = scheme.count + "://".utf8.count
        guard utf8.dropFirst(scheme.count).starts(with: "://".utf8) else { return self }
        let host = utf8.dropFirst(start).prefix { $0 != UInt8(ascii: "/") }
        guard let at = host.lastIndex(of: UInt8(ascii: "@")), at > host.startIndex else { return self }
        return "\(self[..<host.startIndex])***\(self[at...])"
    }
}
