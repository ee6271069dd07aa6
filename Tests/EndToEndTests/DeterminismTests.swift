import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct DeterminismTests {
    /// Two processes with one seed and a frozen clock answer the same requests with the same bytes, on every surface,
    /// and send the same webhooks.
    @Test(.long) func equalRequestsGiveEqualBytesInTwoProcesses() async throws {
        let receiver = try await WebhookReceiver.open()
        var transcripts: [Transcript] = []
        for _ in 0..<2 {
            let server = try SimProcess(["--in-memory", "--random-seed", "42", "--public-url", "http://sim.test"])
            defer { server.stop() }
            transcripts.append(try await Transcript(server, receiver))
        }
        let (left, right) = (transcripts[0], transcripts[1])
        #expect(left.lines.count > 150)
        #expect(left.lines.count == right.lines.count)
        for (one, other) in zip(left.lines, right.lines) { #expect(one == other) }
        #expect(left.deliveries.count > 10)
        #expect(left.deliveries == right.deliveries)
    }

    @Test func anotherSeedGivesOtherTokens() async throws {
        let server = try SimProcess(["--in-memory", "--random-seed", "43"])
        defer { server.stop() }
        let root = TestWorld(base: server.baseURL)
        let ours = try await root.authorize()
        let shared = try await TestWorld(base: SimProcess.shared.baseURL).authorize()
        #expect(ours["signed_authorization_request"] != shared["signed_authorization_request"])
    }
}

/// A fixed sequence of requests to all surfaces, each with all bytes of its answer.
private final class Transcript {
    private(set) var lines: [String] = []
    /// The received webhooks, each with its headers, in the order of their bytes: several are sent at a time.
    private(set) var deliveries: [String] = []
    private let root: TestWorld
    private let world: TestWorld
    private var session: String?
    private var items: [String] = []
    private let nike = TestWorld.nike

    init(_ server: SimProcess, _ receiver: WebhookReceiver) async throws {
        root = TestWorld(base: server.baseURL)
        world = TestWorld(base: "\(server.baseURL)/ns/a")
        let known = receiver.deliveries.count
        let options: JSONValue = ["clock": ["freeze": .string(TestWorld.morning)]]
        try await send("PUT", "/_sim/namespaces/a", options, in: root)
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
        deliveries = receiver.deliveries.dropFirst(known).map { delivery in
            "\(Self.text(delivery.headers.map { ($0.name, $0.value) }))\n\(String(decoding: delivery.body, as: UTF8.self))"
        }.sorted()
    }

    // MARK: Requests

    /// Members that are outside the promise: real times and durations. The length of the answer depends on them.
    private let real = #/"(duration_ms|uptime|created_at)":[0-9.eE+-]+|"changes":\{[^}]*\}/#

    @discardableResult private func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil, bytes: Data? = nil,
        headers: [String: String] = [:], in other: TestWorld? = nil
    ) async throws -> JSONValue {
        let target = other ?? world
        let answer =
            try await bytes == nil
            ? target.send(method, path, body, token: token, headers: headers)
            : target.send(method, path, bytes: bytes, token: token, headers: headers)
        let whole = String(data: answer.body, encoding: .utf8)
        let text = whole?.replacing(real) { "\"\($0.1 ?? "changes")\":0" }
        let fields = Self.text(
            answer.headers.map { ($0.name, text == whole || $0.name.lowercased() != "content-length" ? $0.value : "") })
        lines.append("\(method) \(path)\n\(answer.status)\n\(fields)\n\(text ?? answer.body.base64EncodedString())")
        return answer.json
    }

    private static func text(_ headers: [(String, String)]) -> String {
        headers.filter { $0.0.lowercased() != "date" }
            .map { "\($0.0): \($0.1)" }.sorted().joined(separator: "\n")
    }

    @discardableResult private func sdk(
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

    private func runComponents() async throws {
        let code = try await send(
            "POST", "/components/v1/workflows/onboarding/validationcode", [:], token: TestWorld.apiToken)
        for body: JSONValue in [
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"],
            ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"],
        ] {
            let session = try await send("POST", "/components/sessions", body)["session_id"].text ?? "none"
            let path = "/components/sessions/\(session)"
            try await send(
                "POST", "\(path)/document", ["documentType": "passport", "issuingCountry": "NLD"])
            for angled in [false, true] {
                try await send("PUT", "\(path)/document/images/front?angled=\(angled)", bytes: TestWorld.picture)
            }
            try await send("PUT", "\(path)/document/video", bytes: TestWorld.video)
            try await send("POST", "\(path)/document/finish")
            try await send("GET", path)
        }
        try await send(
            "POST", "/_sim/faults",
            ["match": ["route": "/components/*"], "effect": ["component_error": "Unexpected"], "times": 1])
        try await send("GET", "/components/sessions/x?form=plugin")
        try await send("GET", "/_sim/components/sessions")
    }

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
        try await send("POST", "/_sim/authentications/\(id)/support-message", ["message": "m", "options": ["a", "b"]])
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
    }

    private func askAsPartner() async throws {
        for id in items + ["nope"] { try await partner("GET", "/authentications/\(id)") }
        for id in ["s-2", "sku-xyz", "nope"] { try await partner("GET", "/lookup/authentications/\(id)") }
        try await partner("GET", "/health")
        let v2 = ["/authentications/\(items[0])/flag", "/catalog/brands", "/config/authentications"]
        for (path, body) in zip(v2, [["reason": "r"], [:], [:]] as [JSONValue]) {
            try await send("POST", "/v2\(path)", body, token: TestWorld.apiToken)
        }
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
        }
    }

    private func control() async throws {
        try await send(
            "POST", "/_sim/outcomes", ["match": ["customer_item_id": "late-*"], "result": "unknown", "after": "3h"])
        try await send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 503], "times": 1])
        for _ in 0..<2 { try await sdk("GET", "/sdk/session") }
        try await send("POST", "/_sim/webhooks/trigger", ["event": "session.updated", "entrupy_id": .string(items[0])])
        try await send("POST", "/_sim/settle")
        for path in [
            "authentications", "captures", "clock", "docs", "due", "export", "faults", "info", "outcomes",
            "requests?limit=100",
            "scenarios", "scenarios/late-result", "sessions", "settings", "stats", "users",
            "users/DemoOrg-example-user-id",
            "webhooks",
        ] {
            try await send("GET", "/_sim/\(path)")
        }
        try await send("POST", "/_sim/requests/verify", ["match": ["route": "/sdk/search"], "times": 1])
        try await send("POST", "/_sim/scenarios/late-result/start", ["namespace": "c", "run": true])
        try await send("GET", "/openapi.yaml", in: root)
    }

    private func saveAndRestore() async throws {
        try await send("PUT", "/_sim/snapshots/s")
        try await send("GET", "/_sim/snapshots")
        try await send("POST", "/_sim/reset")
        try await send("GET", "/_sim/authentications")
        try await send("POST", "/_sim/snapshots/s/restore")
        try await send("GET", "/_sim/authentications")
        let child = TestWorld(base: "\(root.base)/ns/d")
        try await send("POST", "/_sim/snapshots/s/fork", ["namespace": "d"])
        try await send("GET", "/sdk/session", token: session, in: child)
        try await send("GET", "/_sim/authentications", in: child)
    }
}
