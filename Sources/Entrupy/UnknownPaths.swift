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
        if first.isOne(of: ["user", "users", "authorize", "authorize-user"]) {
            return
                "POST /v2/integrations/authorize-user authorizes a user, and POST /sdk/login logs the app in; GET /_sim/users lists the users"
        }
        if first.isOne(of: ["capture", "captures"]) {
            return
                "captures are the app's: POST /sdk/captures begins one with a session's token; GET /_sim/captures lists them"
        }
        if first.isOne(of: ["subscription", "subscriptions"]) {
            return "POST /v2/webhooks subscribes to events, GET /v2/webhooks lists the subscriptions"
        }
        guard first.isOne(of: items) else { return nil }
        if method.isOne(of: ["POST", "PUT"]) {
            return
                "items come from the SDK alone (POST /sdk/captures, its pictures and its submit); GET /v2/authentications/{entrupy_id} reads one, POST /v2/search/authentications finds many"
        }
        return "GET /v2/authentications/{entrupy_id} reads one item, POST /v2/search/authentications finds many"
    }
}
