import Foundation
import SimulationAPI
import TestSupport
import Testing

// App Components and the control API.
extension Transcript {
    func runComponents() async throws {
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
            for file in ["images/front?angled=true", "video"] { try await send("GET", "\(path)/document/\(file)") }
            try await send("POST", "\(path)/biometrics")
            for file in ["selfie", "images/selfie", "liveness"] {
                let bytes = file == "liveness" ? TestWorld.video : TestWorld.picture
                try await send("PUT", "\(path)/biometrics/\(file)", bytes: bytes)
                try await send("GET", "\(path)/biometrics/\(file)")
            }
            try await send("POST", "\(path)/biometrics/finish")
            try await send("GET", path)
        }
        try await cancelComponents()
        try await send(
            "POST", "/_sim/faults",
            ["match": ["route": "/components/**"], "effect": ["component_error": "Unexpected"], "times": 1])
        try await send("GET", "/components/sessions/x?form=plugin")
        try await send("GET", "/_sim/components/sessions")
    }

    private func cancelComponents() async throws {
        let started = try await send(
            "POST", "/components/sessions", ["validationCode": "IDV", "networkEnvironment": "mock"])
        let id = try #require(started["session_id"].text)
        let path = "/components/sessions/\(id)"
        try await send("POST", "\(path)/document", ["documentType": "idCard", "issuingCountry": "DEU"])
        try await send("POST", "\(path)/document/cancel")
        try await send("POST", "\(path)/biometrics")
        try await send("POST", "\(path)/biometrics/cancel")
        for method in ["GET", "DELETE", "GET"] { try await send(method, path) }
    }

    func control() async throws {
        try await send(
            "POST", "/_sim/outcomes", ["match": ["customer_item_id": "late-*"], "result": "unknown", "after": "3h"])
        try await send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 503], "times": 1])
        for _ in 0..<2 { try await sdk("GET", "/sdk/session") }
        // A delivery waits behind an earlier one of its item.
        try await send("POST", "/_sim/settle")
        try await send("POST", "/_sim/webhooks/trigger", ["event": "session.updated", "entrupy_id": .string(items[0])])
        try await send("POST", "/_sim/settle")
        let listed = try await send("GET", "/_sim/webhook-deliveries?limit=100")
        let id = try #require(listed["deliveries.0.id"].text)
        let delivery = "/_sim/webhook-deliveries/\(id)"
        try await send("POST", "\(delivery)/redeliver")
        try await send("POST", "/_sim/settle")
        try await send("GET", delivery)
        // Gaps are real time: those that a rule compares with are not the same in two runs.
        try await send("GET", "/_sim/audit?rule=unread-member")
        for explained in [id, items[0], "event:3", "control:1"] {
            // Webhook attempts end in real time, so the numbers of later events vary.
            try await send("GET", "/_sim/explain/\(explained)", hiding: "event:[0-9]+|(after|before)_sequence=[0-9]+")
        }
        // Counting began at a moment of real time.
        try await send("GET", "/_sim/coverage", hiding: #""(since|sources)":([0-9.]+|\[[^\]]*\])"#)
        try await send("DELETE", "/_sim/coverage")
        try await send("GET", "/_sim/authentications/\(items[0])/rules")
        for path in [
            "authentications", "captures", "choices", "clock", "docs", "due", "export", "faults", "info", "outcomes",
            "requests?limit=100",
            "scenarios", "scenarios/late-result", "sessions", "settings", "stats", "users",
            "users/DemoOrg-example-user-id",
            "webhooks",
        ] {
            try await send("GET", "/_sim/\(path)")
        }
        for count in ["times", "at_least"] {
            try await send("POST", "/_sim/requests/verify", ["match": ["route": "/sdk/search"], count: 1])
        }
        try await send(
            "POST", "/_sim/requests/verify", ["sequence": [["route": "/sdk/login"], ["route": "/sdk/search"]]])
        try await send("POST", "/_sim/scenarios/late-result/start", ["namespace": "c", "run": true])
        try await send("GET", "/openapi.yaml", in: root)
        try await send("GET", "/openapi.json", in: root)
    }

    func saveAndRestore() async throws {
        try await send("PUT", "/_sim/snapshots/s")
        try await send("GET", "/_sim/snapshots")
        try await send("POST", "/_sim/reset")
        try await send("GET", "/_sim/authentications")
        try await send("GET", "/_sim/diff?from=snapshot:s&to=now")
        try await send("POST", "/_sim/snapshots/s/restore")
        try await send("GET", "/_sim/authentications")
        let child = TestWorld(base: "\(root.base)/ns/d")
        try await send("POST", "/_sim/snapshots/s/fork", ["namespace": "d"])
        try await send("GET", "/sdk/session", token: session, in: child)
        try await send("GET", "/_sim/authentications", in: child)
        try await send("DELETE", "/_sim/snapshots/s")
    }

    /// The server's own routes.
    func askServer() async throws {
        let pages = [
            "/", "/_sim/health", "/_sim/ready", "/_sim/ping", "/_sim/llms.txt", "/_sim/fidelity.md",
            "/_sim/console/assets/console.css",
        ]
        for path in pages {
            try await send("GET", path, in: root)
        }
        // The clock of the namespace "default" runs.
        try await send("GET", "/_sim/namespaces", in: root, hiding: #""clock":\{[^}]*\}"#)
        let options: JSONValue = ["prefix": "fresh", "random_seed": 7, "clock": ["freeze": .string(TestWorld.morning)]]
        try await send("POST", "/_sim/namespaces", options, in: root, hiding: "fresh-[a-z0-9]+")
        try await send("DELETE", "/_sim/namespaces?prefix=fresh-", in: root)
    }

    /// Uses the rest of the control API in a namespace that sends no webhooks. Webhook attempts end in real time, so
    /// their places in the event log vary.
    func controlWithoutWebhooks(_ other: TestWorld) async throws {
        @discardableResult func call(
            _ method: String, _ path: String, _ body: JSONValue? = nil
        ) async throws -> JSONValue {
            // The journal has the header "Host", with the port.
            try await send(method, path, body, in: other, hiding: #"127\.0\.0\.1:[0-9]+"#)
        }
        let organization: JSONValue = ["name": "NewOrg", "api_tokens": ["new-api-token"]]
        try await call("POST", "/_sim/seed", ["organizations": [organization]])
        try await changeUsers(in: other)
        let outcome = try await call("POST", "/_sim/outcomes", ["match": ["brand": "nike"], "result": "unknown"])
        let fault = try await call(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/config"], "effect": ["status": 503]])
        try await send(
            "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"], in: other)
        let journal = try await call("GET", "/_sim/requests?limit=1")
        let id = try #require(journal["requests.0.id"].text)
        let request = "/_sim/requests/\(id)"
        for path in [request, "\(request)/rules"] { try await call("GET", path) }
        try await call("POST", "\(request)/resend")
        try await call("DELETE", "/_sim/outcomes/\(outcome["id"].text ?? "")")
        try await call("DELETE", "/_sim/faults/\(fault["id"].text ?? "")")
        for list in ["outcomes", "faults", "requests"] { try await call("DELETE", "/_sim/\(list)") }
        let check: JSONValue = ["secret": "s", "signature": "SHA256:AAAA", "body": "{}"]
        try await call("POST", "/_sim/webhooks/check-signature", check)
        let hook: JSONValue = ["url": "http://127.0.0.1:9/", "secret_key": "s", "events": ["certificate.transfer"]]
        let subscription = "/_sim/webhooks/\(try await call("POST", "/_sim/webhooks", hook)["id"].text ?? "")"
        try await call("PATCH", subscription, ["events": ["session.updated"]])
        try await call("DELETE", subscription)
        try await call("GET", "/_sim/console/news?since=1")
        try await holdRequests(in: other)
        try await runScenario(in: other)
        try await call("GET", "/_sim/event-log?limit=1000")
        try await call("POST", "/_sim/clock/resume")
        try await call("POST", "/_sim/clock/freeze", ["at": "2026-01-05T10:00:00Z"])
    }

    /// Holds requests, which are answered in between. The times of a hold are real.
    private func holdRequests(in other: TestWorld) async throws {
        try await send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/config"], "effect": ["hold": true], "times": 2], in: other
        )
        for (method, path) in [("POST", "/_sim/held/{id}/release"), ("DELETE", "/_sim/held")] {
            let next = try await other.send("GET", "/_sim/event-log?limit=1")["events.0.sequence"].integer ?? 0
            async let held = other.send("GET", "/sdk/config")
            // One request, so that the numbers of control requests stay the same.
            _ = try await other.send("GET", "/_sim/events?until=request:held&since=\(next)")
            let list = try await send("GET", "/_sim/held", in: other, hiding: #""(since|until)":[0-9.eE+]+"#)
            let id = list["held.0.id"].text ?? ""
            try await send(
                method, path.replacingOccurrences(of: "{id}", with: id), in: other,
                hiding: #""(since|until)":[0-9.eE+]+"#)
            try #require(try await held.status == 401)
        }
    }

    private func changeUsers(in other: TestWorld) async throws {
        for user in ["first-user", "second-user", "third-user"] {
            let signed = try await send(
                "POST", "/v2/integrations/authorize-user",
                ["sdk_authorization_request": "r", "unique_user_id": .string(user), "email": "a@b"],
                token: TestWorld.apiToken, in: other)
            try await send(
                "POST", "/sdk/login", ["signed_authorization_request": signed["signed_authorization_request"]],
                in: other)
        }
        try await send(
            "PATCH", "/_sim/users/DemoOrg-first-user", ["first_name": "Ada", "rate_limits": ["sdk_per_second": 3]],
            in: other)
        let sessions = try await send("GET", "/_sim/sessions", in: other)
        let id = try #require(sessions["sessions.0.id"].text)
        try await send("DELETE", "/_sim/sessions/\(id)", in: other)
        try await send("DELETE", "/_sim/sessions", in: other)
    }

    private func runScenario(in other: TestWorld) async throws {
        let scenario: JSONValue = [
            "name": "mine", "description": "One item.", "clock": ["freeze": .string(TestWorld.morning)],
            "items": [["customer_item_id": "one"]], "expect": [["item": ["customer_item_id": "one"], "times": 1]],
        ]
        try await send("PUT", "/_sim/scenarios/mine", scenario, in: other)
        try await send("POST", "/_sim/scenarios/mine/start", ["namespace": "e"], in: other)
        let text = "name: text\ndescription: x\nclock: {freeze: \(TestWorld.morning)}\n"
        try await send(
            "POST", "/_sim/scenarios/start", ["scenario": .string(text), "namespace": "f"], in: other)
        try await send("POST", "/_sim/scenarios/mine/verify", in: TestWorld(base: "\(root.base)/ns/e"))
        try await send("DELETE", "/_sim/scenarios/mine", in: other)
    }
}
