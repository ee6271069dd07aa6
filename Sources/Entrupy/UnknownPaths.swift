/// Advice on requests that the platform does not have, and that integrators send all the same [P].
enum UnknownPaths {
    /// The words with which items are asked for.
    private static let items = [
        "authentication", "authentications", "authenticate", "item", "items", "submissions", "submit", "verify",
    ]

    /// - Parameter path: its words, without the version.
    static func advice(_ path: [String], _ method: String) -> String? {
        let words = path.map { $0.lowercased() }
        guard let first = words.first, words.count <= 2 else { return nil }
        if first.isIdentical(to: "config") {
            return
                "the configuration for a backend is at POST /v2/config/authentications, that of the SDK at GET /sdk/config"
        }
        guard words.count == 1, first.isOne(of: items) else { return nil }
        if method.isOne(of: ["POST", "PUT"]) {
            return
                "items come from the SDK alone (POST /sdk/captures, its pictures and its submit); GET /v2/authentications/{entrupy_id} reads one, POST /v2/search/authentications finds many"
        }
        return "GET /v2/authentications/{entrupy_id} reads one item, POST /v2/search/authentications finds many"
    }
}
