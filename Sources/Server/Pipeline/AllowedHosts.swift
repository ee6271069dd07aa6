import Simulation

/// Host names of a server besides IP addresses and local names [D hosts].
package struct AllowedHosts: Sendable {
    /// As they were given, in lower case. `.example.com` is that name and all below it, `*.example.com` the names one label
    /// below it, as in a certificate.
    let patterns: [String]
    private let names: Set<String>
    private let domains: [String]
    private let parents: Set<String>

    package init(_ patterns: [String]) {
        self.patterns = patterns.map { $0.trimmed.lowercased() }.filter { !$0.isEmpty }
        names = Set(self.patterns.filter { !$0.begins(with: ".") && !$0.begins(with: "*.") })
        domains = self.patterns.filter { $0.begins(with: ".") }.map { String($0.dropFirst()) }
        parents = Set(self.patterns.filter { $0.begins(with: "*.") }.map { String($0.dropFirst(2)) })
    }

    /// Whether a name is one of them.
    ///
    /// - Parameter host: a valid name in lower case.
    func contains(_ host: String) -> Bool {
        if names.contains(host) || LocalNames.isBelow(host, domains) { return true }
        let parent = Substring(host.utf8.dropFirst(host.prefix(before: ".").utf8.count + 1))
        return parents.contains(String(parent))
    }

    /// Whether the text is a name or a domain, such as `sim.example.com` or `.example.com`.
    package static func isPattern(_ text: String) -> Bool {
        let name = text.begins(with: ".") ? text.dropFirst() : text[...]
        // A port at its end would be read, and never match.
        return HostAndPort(name) != nil && (name.begins(with: "[") ? name.ends(with: "]") : !name.contains(ascii: ":"))
    }
}
