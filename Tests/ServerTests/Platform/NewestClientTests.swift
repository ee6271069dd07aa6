import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The requests of the vendor's newest clients, over HTTP.
@Suite struct NewestClientTests {
    @Test func everyErrorAboutASessionSaysThatItIsNotAuthorized() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for token in [nil, "nonsense", TestWorld.apiToken] as [String?] {
            let refused = try await world.send("GET", "/sdk/config", token: token)
            #expect(refused.status == 401)
            #expect(refused["authorized"] == false)
            #expect(refused["ecode"] == "invalid_session_token")
        }
        let malformed = try await world.send("GET", "/sdk/config", headers: ["Authorization": "Digest \(token)"])
        #expect(malformed.status == 401)
        #expect(malformed["ecode"] == "invalid_session_token")
        // The login is about a signed request, and other platforms' answers stay as they are.
        for (method, path, body) in [
            ("POST", "/sdk/login", ["signed_authorization_request": "nonsense"]), ("GET", "/v2/webhooks", nil),
        ] as [(String, String, JSONValue?)] {
            let refused = try await world.send(method, path, body)
            #expect(refused.status == 401 && refused["ecode"] == .null, "\(path)")
            #expect(refused.json.members?["authorized"] == nil, "\(path)")
        }
    }

    @Test(arguments: [401, 403]) func theStatusOfAnEndedSessionIsASetting(status: Int) async throws {
        let world = try await TestWorld.make(settings: [
            "sdk": ["ended_session_status": .number(JSONNumber(status))], "session_lifetime": "1h",
        ])
        _ = try await world.send("POST", "/_sim/clock/freeze", [:])
        let (out, expired) = (try await world.login(), try await world.login())
        let revoked = try await world.login("revoked-user")
        #expect(try await world.send("POST", "/sdk/logout", token: out).status < 300)
        #expect(try await world.send("DELETE", "/_sim/sessions?username=DemoOrg-revoked-user").status < 300)
        _ = try await world.send("POST", "/_sim/clock/advance", ["by": "2h"])
        for token in [expired, revoked] {
            let ended = try await world.send("GET", "/sdk/session", token: token)
            #expect(ended.status == status)
            #expect(ended["code"].text == (status == 403 ? "forbidden" : "unauthorized"))
            #expect(
                ended["sdk_error"].text == (status == 403 ? "ErrorCodeForbiddenError" : "ErrorCodeUnauthorizedAccess"))
            #expect(ended["authorized"] == false)
            #expect(ended["ecode"] == "invalid_session_token")
        }
        // A logout is the app's own doing, and an unknown token no session.
        for token in [out, "nonsense"] {
            #expect(try await world.send("GET", "/sdk/session", token: token).status == 401)
        }
    }

    @Test(arguments: [402, "403", true] as [JSONValue])
    func otherStatusesOfEndedSessionsAreRefused(status: JSONValue) async throws {
        let world = try await TestWorld.make()
        let refused = try await world.send("PATCH", "/_sim/settings", ["sdk": ["ended_session_status": status]])
        #expect(refused.status == 400)
        #expect(refused["details.0.field"] == "sdk.ended_session_status")
        #expect(refused["details.0.problem"].text?.hasPrefix("must be 401 or 403") == true)
    }

    @Test func itemsAreFoundByTheirID() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications", ["count": 3, "template": ["brand": "Nike"]])["entrupy_ids"].items
        let ids = made.compactMap(\.text)
        let other = try await TestWorld.make()
        let token = try await world.login()
        let own = try await world.submit(token)
        for key in ["entrupy_id", "authentication_id"] {
            let filter: JSONValue = [
                "filters": [["key": .string(key), "values": [.string(ids[1]), .string(own), "NOBODY22"]]]
            ]
            for path in ["/v1/search/authentications", "/v2/search/authentications"] {
                let found = try await world.send(
                    "POST", path, filter, token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])
                #expect(Set(found["items"].items.compactMap { $0["entrupy_id"].text }) == [ids[1], own], "\(path)")
            }
            // A user finds only what is their own.
            let found = try await world.send("POST", "/sdk/search", filter, token: token)
            #expect(found["items"].items.compactMap { $0["entrupy_id"].text } == [own])
            let excluded = try await world.send(
                "POST", "/v2/search/authentications",
                ["filters": [["key": .string(key), "value": .string(ids[1]), "exclude": true]]],
                token: TestWorld.apiToken)
            #expect(excluded["items"].items.count == 3)
            #expect(
                try await other.send("POST", "/v2/search/authentications", filter, token: TestWorld.apiToken)["items"]
                    .items == [])
        }
        let search = try await world.send(
            "POST", "/sdk/items/search", ["entrupy_id": .string(own)], token: token)
        #expect(search.status == 400, "the item search has no such key")
    }

    @Test(arguments: [("1.0", true), ("1.2", true), ("1.3", false), ("1.4", false)])
    func aCertificatesSiteIsAnImageUpToVersion12(version: String, isImage: Bool) async throws {
        let world = try await TestWorld.make()
        let id = try #require(
            try await world.send("POST", "/_sim/authentications", ["brand": "Nike", "form_factor": "microscopic"])[
                "entrupy_ids.0"
            ].text)
        let item = try await world.send(
            "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": version])
        let site = try #require(item["item.certificate.site"].text)
        let type =
            try await world.send("GET", String(site.dropFirst(world.base.count))).headers.first(name: "Content-Type")
            ?? ""
        #expect(type.hasPrefix(isImage ? "image/" : "text/html"), "\(site): \(type)")
    }

    @Test(arguments: [
        "/v2/fingerprints", "/v2/search/fingerprints", "/v2/search/domains", "/v2/integrations/app-login-voucher",
        "/v2/fingerprints/ABC",
    ])
    func aRouteThatIsNotSimulatedSaysSo(path: String) async throws {
        let world = try await TestWorld.make()
        for method in ["GET", "POST"] {
            let refused = try await world.send(method, path, token: TestWorld.apiToken)
            #expect(refused.status == 404)
            #expect(refused["code"] == "unknown_route")
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.hasPrefix("not simulated: ") && problem.contains("docs/fidelity.md"), "\(problem)")
        }
        let near = try await world.send("GET", "/v2/fingerprintsx", token: TestWorld.apiToken)
        #expect(near["details.0.problem"].text?.hasPrefix("does not match any route") == true)
    }

    @Test func aWorkflowIsReadAndNotEchoed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let item: JSONValue = ["capture_workflow": "fingerprint_compare", "entrupy_id": .null, "note": "kept"]
        let started = try await world.send("POST", "/sdk/captures", ["item": item], token: token)
        #expect(started.status == 201, "\(started.json)")
        #expect(started["item"] == ["note": "kept"])
        let id = try #require(started["capture_id"].text)
        #expect(try await world.send("GET", "/sdk/captures/\(id)", token: token)["item"] == ["note": "kept"])
        let refused = try await world.send(
            "POST", "/sdk/captures", ["item": ["capture_workflow": "fingerprint"]], token: token)
        #expect(refused.status == 400)
        #expect(refused["details.0.field"] == "item.capture_workflow")
        #expect(
            refused["details.0.problem"].text
                == "must be fingerprint_register or fingerprint_compare, got \"fingerprint\"")
    }
}
