import Simulation
import SimulationAPI
import Storage

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

    /// The problem of a value that no request can have as a route's parameter; `nil` if one can.
    @Sendable static func unknown(
        _ value: String, _ parameter: String, _ route: String, _ job: JobContext
    ) throws -> (name: QueryName, problem: String)? {
        // A pattern names several values, of which one is enough.
        let pattern = value.utf8.contains { "*?".utf8.contains($0) } ? Glob(value) : nil
        func isMissing(_ kind: IDKind, _ found: () throws -> Bool) rethrows -> Bool {
            try pattern.map { !kind.fits($0) } ?? !found()
        }
        switch parameter {
        case "entrupy_id", "certificate_id":
            let isMissing = try isMissing(.item) { try job.transaction.item(entrupyID: value) != nil }
            return isMissing ? (.item, "names no item of the namespace") : nil
        case "id" where route.begins(with: "/sdk/captures/"):
            let isMissing = try isMissing(.capture) { try job.transaction.capture(id: value) != nil }
            return isMissing ? (.item, "names no capture of the namespace") : nil
        case "id" where route.begins(with: "/v1/webhooks/") || route.begins(with: "/v2/webhooks/"):
            let isMissing = try isMissing(.subscription) { try job.transaction.subscription(id: value) != nil }
            return isMissing ? (.item, "names no webhook subscription of the namespace") : nil
        case "sha256":
            let isDigest = pattern != nil || value.utf8.count == 64
            return isDigest ? nil : (.item, "is no SHA-256 of a picture")
        case "region_id":
            let regions = job.entrupy.seed.catalogue.regionIDs
            let isKnown = pattern.map { regions.contains(where: $0.matches) } ?? value.isOne(of: regions)
            return isKnown ? nil : (.region, "names no region of any workflow")
        default: return nil
        }
    }
}
