import Foundation
import SimulationAPI
import TestSupport
import Testing

// Each function tries the refusals of some routes of Entrupy's platform, and returns them.

extension RefusalTests {
    func sessions() async throws -> Set<String> {
        var tried = Refusals(world: try await world(["session_lifetime": "1h", "sdk": ["ended_session_status": 403]]))
        let world = tried.world
        for path in ["/sdk/login", "/login"] {
            let signed = try await world.signedRequest()
            let body: JSONValue = ["signed_authorization_request": signed]
            try #require(try await world.send("POST", path, body).status == 200)
            try await tried.refuse(403, "POST", path, body, saying: "used for a login at 2026-01-05T09:00:00")
            let fresh = try await world.signedRequest()
            try await tried.refuse(
                403, "POST", path, ["signed_authorization_request": fresh, "bundle_id": "com.example.none"],
                saying: "the bundles of DemoOrg in the seed data do not have com.example.none")
        }
        let session = try await world.login("user-of-a")
        try await world.advance("2h")
        for operation in Contract.shared.operations where operation.path.hasPrefix("/sdk/") {
            guard operation.path != "/sdk/login" else { continue }
            let path = operation.path.replacing(/\{\w+\}/, with: "x")
            let isUpload = path.contains("/images/")
            try await tried.refuse(
                403, operation.method, path, ["GET"].contains(operation.method) || isUpload ? nil : [:], token: session,
                bytes: isUpload ? TestWorld.picture : nil, headers: isUpload ? ["Content-Type": "image/jpeg"] : [:],
                saying: "the session of DemoOrg-user-of-a ended at 2026-01-05T10:00:00.000000Z (expired)")
        }
        return tried.met
    }

    func captures() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let own = try await world.startCapture(a)
        let foreign = "the capture belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's"
        let image = ["Content-Type": "image/jpeg"]
        let path = "/sdk/captures/\(own.id)"
        let region = "\(path)/images/\(own.regions[0])"
        try await tried.refuse(404, "GET", path, token: b, saying: foreign)
        try await tried.refuse(404, "GET", "/sdk/captures/x", token: b, saying: "the namespace has no capture")
        try await tried.refuse(404, "PUT", region, token: b, bytes: TestWorld.picture, headers: image, saying: foreign)
        try await tried.refuse(
            404, "PUT", "\(path)/images/none", token: a, bytes: TestWorld.picture, headers: image,
            saying: "the workflow of \(own.id)")
        for end in ["submit", "cancel"] {
            try await tried.refuse(404, "POST", "\(path)/\(end)", token: b, saying: foreign)
        }
        try #require(try await world.send("POST", "\(path)/cancel", token: a).status == 200)
        let cancelled = "the capture \(own.id) was cancelled at 2026-01-05T09:00:00"
        for end in ["submit", "cancel"] {
            try await tried.refuse(409, "POST", "\(path)/\(end)", token: a, saying: cancelled)
        }
        try await tried.refuse(
            409, "PUT", region, token: a, bytes: TestWorld.picture, headers: image, saying: cancelled)
        let bag: JSONValue = ["brand": "Gucci", "item_type": "Handbag"]
        let registration = try await world.send(
            "POST", "/sdk/captures", ["item": bag, "activity": "fingerprint_register"], token: a)
        let captureID = registration["capture_id"].text ?? ""
        for step in registration["steps"].items {
            _ = try await world.upload(captureID, step["region_id"].text ?? "", a)
        }
        let item = try await world.send("POST", "/sdk/captures/\(captureID)/submit", token: a)["entrupy_id"]
        let compared: JSONValue = ["item": bag, "activity": "fingerprint_compare", "fingerprint_parent": item]
        try await tried.refuse(
            409, "POST", "/sdk/captures", compared, token: a, saying: "the result of \(item.text ?? "") is")
        try #require(try await world.send("PATCH", "/_sim/settings", ["quota": 1]).status == 200)
        try await tried.refuse(
            403, "POST", "/sdk/captures", ["item": TestWorld.nike], token: a,
            saying: "DemoOrg-user-of-a has submitted 1 item; the setting quota is 1")
        return tried.met
    }

    func results() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let item = try await world.submit(a)
        let path = "/sdk/results/\(item)"
        try await tried.refuse(
            409, "GET", "\(path)/market-edge", token: a, saying: "the result of \(item) is needs_review, not final")
        let foreign = "the item belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's"
        for part in ["", "/market-edge", "/flag", "/support-messages"] {
            try await tried.refuse(404, "GET", path + part, token: b, saying: foreign)
        }
        try await tried.refuse(404, "GET", "/sdk/results/NONE", token: b, saying: "the namespace has no item")
        try await tried.refuse(404, "PUT", "\(path)/flag", ["flag": true], token: b, saying: foreign)
        try await tried.refuse(404, "POST", "\(path)/retake", token: b, saying: foreign)
        let message: JSONValue = ["message": "yes"]
        try await tried.refuse(404, "POST", "\(path)/support-messages", message, token: b, saying: foreign)
        try await tried.refuse(
            409, "POST", "\(path)/support-messages", message, token: a, saying: "\(item) has no message from support")
        try await tried.refuse(409, "POST", "\(path)/retake", token: a, saying: "support has not asked for new images")
        try await world.advance("1h")
        let flag: JSONValue = ["flag": true]
        try #require(try await world.send("PUT", "\(path)/flag", flag, token: a).status == 200)
        try await tried.refuse(
            409, "PUT", "\(path)/flag", flag, token: a, saying: "the flag of \(item) is flagged since 2026-01-05T10:00")
        let off: JSONValue = ["flagging": ["sdk": false]]
        try #require(try await world.send("PATCH", "/_sim/settings", off).status == 200)
        try await tried.refuse(
            403, "PUT", "\(path)/flag", flag, token: a, saying: "the setting flagging.sdk is false")
        return tried.met
    }

    func partner() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let item = try await world.submit(try await world.login("user-of-a"))
        let foreign = "the item belongs to DemoOrg; the API token is OtherOrg's"
        let minor = ["Api-Version": "1.4"]
        for version in ["v1", "v2"] {
            try await tried.refuse(
                404, "GET", "/\(version)/authentications/\(item)", token: Self.other, headers: minor, saying: foreign)
            for (value, text) in [
                ("sku-xyz", "the item with this customer_item_id belongs to DemoOrg; the API token is OtherOrg's"),
                (item, "this is the entrupy_id of an item of DemoOrg"), ("none", "no item of the namespace"),
            ] {
                try await tried.refuse(
                    404, "GET", "/\(version)/lookup/authentications/\(value)", token: Self.other, headers: minor,
                    saying: text)
            }
            try await tried.refuse(
                409, "POST", "/\(version)/integrations/authorize-user",
                [
                    "sdk_authorization_request": "x", "unique_user_id": "user-of-a", "email": "second@example.com",
                    "first_name": "Ann",
                ], token: TestWorld.apiToken, headers: minor,
                saying: "DemoOrg-user-of-a was first authorized with email \"user@entrupy-customer.com\"")
        }
        let path = "/v2/authentications/\(item)"
        let reason: JSONValue = ["reason": "r"]
        try await tried.refuse(404, "POST", "\(path)/flag", reason, token: Self.other, saying: foreign)
        try await tried.refuse(404, "DELETE", "\(path)/flag", token: Self.other, saying: foreign)
        let message: JSONValue = ["message": "yes"]
        try await tried.refuse(404, "GET", "\(path)/support-messages", token: Self.other, saying: foreign)
        try await tried.refuse(404, "POST", "\(path)/support-messages", message, token: Self.other, saying: foreign)
        try await tried.refuse(
            409, "POST", "\(path)/support-messages", message, token: TestWorld.apiToken,
            saying: "no message from support")
        try await flags(&tried, item)
        return tried.met
    }

    private func flags(_ tried: inout Refusals, _ item: String) async throws {
        let (world, path) = (tried.world, "/v2/authentications/\(item)/flag")
        try await world.advance("1h")
        let body: JSONValue = ["reason": "r"]
        try #require(try await world.send("POST", path, body, token: TestWorld.apiToken).status == 200)
        try await tried.refuse(
            409, "POST", path, body, token: TestWorld.apiToken, saying: "the flag of \(item) is flagged since")
        _ = try await world.send("DELETE", path, token: TestWorld.apiToken)
        try await tried.refuse(
            409, "DELETE", path, token: TestWorld.apiToken, saying: "the flag of \(item) is none")
        let login = try await world.send("POST", "/partner/login", ["username": "demo", "password": "demo"])
        let token = login["token"].text
        let signed: JSONObject = ["sdk_authorization_request": "x"]
        let authorize = "/partner/authorize-entrupy-sdk-user"
        _ = try await world.send("POST", authorize, .object(signed), token: token)
        try await tried.refuse(
            409, "POST", authorize, .object(signed.merging(["email": "x@example.com"]) { $1 }), token: token,
            saying: "DemoOrg-demo-user was first authorized with email \"demo@example.com\"")
    }

    func webhooks() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let body: JSONValue = ["url": "http://127.0.0.1:9/hooks", "secret_key": "secret"]
        let made = try await tried.world.send("POST", "/v2/webhooks", body, token: TestWorld.apiToken)
        let id = try #require(made["id"].text)
        for version in ["v1", "v2"] {
            for (method, end, body) in [
                ("GET", "", nil), ("PATCH", "", ["events": ["session.completed"]]), ("POST", "/verify", nil),
                ("DELETE", "", nil),
            ] as [(String, String, JSONValue?)] {
                try await tried.refuse(
                    404, method, "/\(version)/webhooks/\(id)\(end)", body, token: Self.other,
                    headers: ["Api-Version": "1.4"],
                    saying: "the webhook belongs to DemoOrg; the API token is OtherOrg's")
            }
        }
        return tried.met
    }

    func certificates() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let item = try await world.submit(try await world.login("user-of-a"))
        let path = "/v2/authentications/\(item)/certificate/transfers"
        let to: JSONValue = ["to": ["email": "x@example.com"]]
        let foreign = "the item belongs to DemoOrg; the API token is OtherOrg's"
        try await tried.refuse(404, "GET", path, token: Self.other, saying: foreign)
        try await tried.refuse(404, "POST", path, to, token: Self.other, saying: foreign)
        try await tried.refuse(409, "POST", path, to, token: TestWorld.apiToken, saying: "the result of \(item) is")
        try await world.advance("1h")
        let shown = try await world.send("GET", "/_sim/authentications/\(item)")
        let certificate = try #require(shown["certificate_id"].text)
        _ = try await world.send("PATCH", "/_sim/authentications/\(item)", ["result": "unknown"])
        try await tried.refuse(
            404, "GET", "/certificates/\(certificate)", saying: "withdrawn: the result of \(item) is unknown")
        try await tried.refuse(404, "GET", "/certificates/none", saying: "the namespace has no certificate")
        for size in ["original", "scale_micro"] {
            try await tried.refuse(
                404, "GET", "/images/\(String(repeating: "0", count: 64))/\(size)",
                saying: "has an image with this hash")
        }
        try await withoutToken(&tried)
        return tried.met
    }

    /// An organization without an API token.
    func withoutToken(_ tried: inout Refusals) async throws {
        let seed = """
            organizations:
              - {name: Mute, api_tokens: [], bundles: [com.example.mute], partner_users: [{username: m, password: m, unique_user_id: member-m, email: m@example.com}]}
            """
        let added = try await tried.world.send(
            "POST", "/_sim/seed", bytes: Data(seed.utf8), token: nil, headers: ["Content-Type": "application/yaml"])
        try #require(added.status < 300, "\(added.json)")
        let login = try await tried.world.send("POST", "/partner/login", ["username": "m", "password": "m"])
        try await tried.refuse(
            403, "POST", "/partner/authorize-entrupy-sdk-user", ["sdk_authorization_request": "x"],
            token: login["token"].text, saying: "belongs to Mute, which has no API token")
    }
}
