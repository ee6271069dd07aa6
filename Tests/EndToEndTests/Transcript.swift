import Foundation
import SimulationAPI
import TestSupport
import Testing

/// A fixed sequence of requests to all surfaces, each with all bytes of its answer.
final class Transcript {
    private(set) var lines: [String] = []
    /// The received webhooks, each with its headers, in the order of their bytes: several are sent at a time.
    private(set) var deliveries: [String] = []
    /// The described operations that were answered with success.
    private(set) var called: Set<String> = []
    let root: TestWorld
    let world: TestWorld
    private(set) var session: String?
    private(set) var items: [String] = []
    private let nike = TestWorld.nike

    init(_ server: SimProcess, _ receiver: WebhookReceiver) async throws {
        root = TestWorld(base: server.baseURL)
        world = TestWorld(base: "\(server.baseURL)/ns/a")
        let known = receiver.deliveries.count
        let options: JSONValue = ["clock": ["freeze": .string(TestWorld.morning)]]
        try await send("PUT", "/_sim/namespaces/a", options, in: root)
        try await askServer()
        try await subscribe(receiver.url)
        try await authorizeAndLogIn()
        try await configure()
        for type in ["production", "debug"] { try await capture(type) }
        try await retake()
        try await search()
        try await askAsPartner()
        try await askPartnerBackend()
        try await showCertificates()
        try await runComponents()
        try await control()
        try await saveAndRestore()
        // A namespace made without a random seed gets one that follows from the server's.
        let made = try await send("PUT", "/_sim/namespaces/b", options, in: root)
        #expect(made["random_seed"].double != nil)
        try await controlWithoutWebhooks(TestWorld(base: "\(server.baseURL)/ns/b"))
        try await send("DELETE", "/_sim/namespaces/b", in: root)
        deliveries = receiver.deliveries.dropFirst(known).map { delivery in
            "\(Self.text(delivery.headers.map { ($0.name, $0.value) }))\n\(String(decoding: delivery.body, as: UTF8.self))"
        }.sorted()
    }

    // MARK: Requests

    /// Members that are outside the promise: real times and durations. The length of the answer depends on them.
    private let real = #/"(duration_ms|started_real|ended_real|uptime|created_at)":[0-9.eE+-]+|"changes":\{[^}]*\}/#

    /// - Parameter pattern: a part of the answer that is outside the promise too, as a regular expression.
    @discardableResult func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil, bytes: Data? = nil,
        headers: [String: String] = [:], in other: TestWorld? = nil, hiding pattern: String? = nil
    ) async throws -> JSONValue {
        let target = other ?? world
        let answer =
            try await bytes == nil
            ? target.send(method, path, body, token: token, headers: headers)
            : target.send(method, path, bytes: bytes, token: token, headers: headers)
        let whole = String(data: answer.body, encoding: .utf8)
        var text = whole?.replacing(real) { "\"\($0.1 ?? "changes")\":0" }
        if let pattern { text = text?.replacingOccurrences(of: pattern, with: "*", options: .regularExpression) }
        let fields = Self.text(
            answer.headers.map { ($0.name, text == whole || $0.name.lowercased() != "content-length" ? $0.value : "") })
        lines.append("\(method) \(path)\n\(answer.status)\n\(fields)\n\(text ?? answer.body.base64EncodedString())")
        if let operation = Contract.shared.operation(method, path),
            200...399 ~= answer.status || !operation.describesSuccess
        {
            called.insert(operation.name)
        }
        return answer.json
    }

    private static func text(_ headers: [(String, String)]) -> String {
        headers.filter { $0.0.lowercased() != "date" }
            .map { "\($0.0): \($0.1)" }.sorted().joined(separator: "\n")
    }

    @discardableResult func sdk(
        _ method: String, _ path: String, _ body: JSONValue? = nil, headers: [String: String] = [:]
    ) async throws -> JSONValue {
        try await send(method, path, body, token: session, headers: headers)
    }

    /// Sends a request of the partner API in both versions.
    private func partner(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws {
        for version in ["v1", "v2"] {
            try await send(
                method, "/\(version)\(path)", body, token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        }
    }

    // MARK: Surfaces

    private func subscribe(_ url: String) async throws {
        try await send("PATCH", "/_sim/settings", ["rate_limits": "off"])
        for (version, secret) in [("v1", "one"), ("v2", "two")] {
            let made = try await send(
                "POST", "/\(version)/webhooks", ["url": .string(url), "secret_key": .string(secret)],
                token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
            for id in [made["id"].text ?? "", "nope"] {
                try await send(
                    "GET", "/\(version)/webhooks/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
            }
        }
        let more: JSONValue = ["url": .string(url + "/more"), "secret_key": "three"]
        for version in ["v1", "v2"] {
            @discardableResult func call(
                _ method: String, _ path: String, _ body: JSONValue? = nil
            ) async throws -> JSONValue {
                try await send(
                    method, "/\(version)/webhooks\(path)", body, token: TestWorld.apiToken,
                    headers: ["Api-Version": "1.3"])
            }
            let id = try #require(try await call("POST", "", more)["id"].text)
            try await call("PATCH", "/\(id)", ["events": ["session.completed"]])
            try await call("POST", "/\(id)/verify")
            try await call("GET", "")
            try await call("DELETE", "/\(id)")
        }
    }

    private func authorizeAndLogIn() async throws {
        let user: JSONValue = [
            "sdk_authorization_request": "r", "unique_user_id": "example-user-id", "email": "a@b", "first_name": "Zoë",
        ]
        let path = "/v2/integrations/authorize-user"
        let signed = try await send("POST", path, user, token: TestWorld.apiToken)
        try await send("POST", path, ["unique_user_id": 1], token: TestWorld.apiToken)
        try await send("POST", path, ["email": "x@y"], token: "nope")
        let login: JSONValue = ["signed_authorization_request": signed["signed_authorization_request"]]
        session = try await send("POST", "/sdk/login", login)["token"].text
        try await send("POST", "/sdk/login", login)
        let again = try await send("POST", path, user, token: TestWorld.apiToken)
        try await send(
            "POST", "/login", ["signed_authorization_request": again["signed_authorization_request"]])
        try await send(
            "POST", "/v1/integrations/authorize-user", user, token: TestWorld.apiToken,
            headers: ["Api-Version": "1.3"])
    }

    private func configure() async throws {
        for path in ["/sdk/session", "/sdk/config", "/sdk/config?config_type=debug", "/nope", "/sdk/results/x"] {
            for language in ["en", "ja"] { try await sdk("GET", path, headers: ["Accept-Language": language]) }
        }
    }

    private func capture(_ type: String) async throws {
        let started = try await sdk("POST", "/sdk/captures", ["config_type": .string(type), "item": nike])
        let cancelled = try await sdk("POST", "/sdk/captures", ["item": nike])
        try await sdk("POST", "/sdk/captures/\(cancelled["capture_id"].text ?? "")/cancel")
        let capture = "/sdk/captures/\(started["capture_id"].text ?? "")"
        try await upload(started)
        try await sdk("GET", capture)
        let item = try await sdk("POST", "\(capture)/submit")
        try await sdk("POST", "\(capture)/submit")
        try await send("POST", "/_sim/clock/advance", ["by": "5s"])
        let id = try #require(item["entrupy_id"].text)
        items.append(id)
        let result = "/sdk/results/\(id)"
        try await sdk("GET", result)
        try await sdk("PUT", "\(result)/flag", ["flag": true, "message": "é"])
        try await sdk("GET", "\(result)/flag")
        try await send("POST", "/_sim/authentications/\(id)/flag/resolve", ["note": "n", "result": "unknown"])
        try await sdk("GET", result, headers: ["Accept-Language": "ja"])
        try await sdk("GET", "\(result)/market-edge")
        try await send("PATCH", "/_sim/authentications/\(id)", ["market_edge": ["market_value": ["price": "1 USD"]]])
        try await sdk("GET", "\(result)/market-edge", headers: ["Accept-Language": "ja"])
    }

    private func upload(_ capture: JSONValue) async throws {
        for step in capture["steps"].items {
            let path = "/sdk/captures/\(capture["capture_id"].text ?? "")/images/\(step["region_id"].text ?? "")"
            try await send("PUT", path, token: session, bytes: TestWorld.picture)
        }
    }

    private func retake() async throws {
        let id = items[0]
        try await send("POST", "/_sim/authentications/\(id)/retake", ["regions": ["heel"], "message": "Sharper"])
        try await sdk("GET", "/sdk/retakes")
        let capture = try await sdk("POST", "/sdk/results/\(id)/retake")
        try await upload(capture)
        try await sdk("POST", "/sdk/captures/\(capture["capture_id"].text ?? "")/submit")
        try await send("POST", "/_sim/clock/advance", ["by": "5s"])
        let ask = "/_sim/authentications/\(id)/support-message"
        try await send("POST", ask, ["message": "m", "options": ["a", "b"]])
        let messages = "/sdk/results/\(id)/support-messages"
        try await sdk("POST", messages, ["message": "a"])
        try await sdk("GET", messages)
        try await send("POST", ask, ["message": "n"])
        let partnerMessages = "/v2/authentications/\(id)/support-messages"
        try await send("POST", partnerMessages, ["message": "x"], token: TestWorld.apiToken)
        try await send("GET", partnerMessages, token: TestWorld.apiToken)
        try await sdk("GET", "/sdk/captures?limit=2")
        try await send("GET", "/_sim/authentications/\(id)")
    }

    private func search() async throws {
        try await send(
            "POST", "/_sim/authentications",
            [
                "count": 30,
                "template": [
                    "brand": "Gucci", "username": "DemoOrg-example-user-id", "customer_item_id": "s-{n}",
                    "flag": "flagged",
                ],
            ])
        let queries: [JSONValue] = [
            [:], ["limit": 3], ["start_date": 1, "end_date": .number(JSONNumber(Int(TestWorld.epoch)))],
            ["filters": [["key": "properties.brand.id", "values": ["nike", "gucci"]]]],
            ["filters": [["key": "status.flag", "value": "flagged", "exclude": true]]],
            [
                "filters": [
                    ["key": "customer_item_id", "value": "s-1"], ["key": "status.result.id", "value": "authentic"],
                ]
            ],
            ["filters": [["key": "nope", "value": "x"]]],
        ]
        for query in queries {
            let page = try await sdk("POST", "/sdk/search", query)
            try await sdk("POST", "/sdk/search", query.merging(["cursor": page["next_cursor"]]))
            try await partner("POST", "/search/authentications", query)
        }
        for query: JSONValue in [[:], ["limit": 2], ["filters": ["brand": ["Gucci"]]]] {
            try await sdk("POST", "/sdk/items/search", query)
        }
    }

    private func askAsPartner() async throws {
        for id in items + ["nope"] { try await partner("GET", "/authentications/\(id)") }
        for id in ["s-2", "sku-xyz", "nope"] { try await partner("GET", "/lookup/authentications/\(id)") }
        try await partner("GET", "/health")
        let v2 = ["/authentications/\(items[0])/flag", "/catalog/brands", "/config/authentications"]
        for (path, body) in zip(v2, [["reason": "r"], [:], [:]] as [JSONValue]) {
            try await send("POST", "/v2\(path)", body, token: TestWorld.apiToken)
        }
        try await send("DELETE", "/v2/authentications/\(items[0])/flag", token: TestWorld.apiToken)
    }

    private func askPartnerBackend() async throws {
        let login = try await send("POST", "/partner/login", ["username": "demo", "password": "demo"])
        try await send("POST", "/partner/login", ["username": "demo", "password": "wrong"])
        let signed = try await send(
            "POST", "/partner/authorize-entrupy-sdk-user", ["sdk_authorization_request": "r"],
            token: login["token"].text)
        let request: JSONValue = ["signed_authorization_request": signed["signed_authorization_request"]]
        let other = try await send("POST", "/sdk/login", request)
        try await send("POST", "/sdk/logout", token: other["token"].text)
    }

    private func showCertificates() async throws {
        try await send("PATCH", "/_sim/authentications/\(items[0])", ["result": "authentic"])
        let result = try await sdk("GET", "/sdk/results/\(items[0])")
        let site = try #require(result["more_details.certificate.site"].text)
        let path = try #require(site.split(separator: "/certificates/").last).description
        for form in ["", "?format=sharable"] { try await send("GET", "/certificates/\(path)\(form)") }
        try await send("POST", "/_sim/authentications/\(items[0])/certificate/transfer", ["to": "buyer@example.com"])
        try await send("GET", "/certificates/\(path)", headers: ["Accept-Language": "ja"])
        for image in result["images.uploaded_images"].items.prefix(1) {
            let original = try #require(image["urls.original"].text?.split(separator: "/images/").last)
            try await send("GET", "/images/\(original)")
            let hash = try #require(original.split(separator: "/").first)
            for path in ["/images/\(hash)/scale_micro", "/_sim/images/\(hash)"] { try await send("GET", path) }
        }
        let transfers = "/v2/authentications/\(items[0])/certificate/transfers"
        let buyer: JSONValue = ["to": ["email": "other@example.com", "name": "Grace"]]
        try await send("POST", transfers, buyer, token: TestWorld.apiToken)
        try await send("GET", transfers, token: TestWorld.apiToken)
    }
}
