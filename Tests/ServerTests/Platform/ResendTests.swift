import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `POST /_sim/requests/{id}/resend`, and the numbers of requests [D resend] [D request-names].
@Suite struct ResendTests {
    @Test func aRequestIsSentAgainWithItsToken() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let first = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "resend"])
        let id = try #require(first.headers.first(name: "X-Request-Id"))
        let again = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(again.status == 200 && again["status"] == 200 && again["test"] == "resend")
        #expect(again["username"] == "DemoOrg-example-user-id")
        #expect(again["id"].text != id, "the new request has an id of its own")
        #expect(again["response.body"].text?.contains("DemoOrg-example-user-id") == true)
        #expect(!again.text.contains(session), "secrets are masked")
        let list = try await world.send("GET", "/_sim/requests?route=/sdk/session")
        #expect(list["requests"].items.count == 2)
    }

    /// A person at the console must neither make a test's verification pass nor fail.
    @Test func whatAPersonSentAgainIsNotTheClients() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: session)
        let first = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let again = try await world.send("POST", "/_sim/requests/\(first)/resend")
        let match: JSONValue = ["route": "/sdk/session", "status": 200]
        let verified = try await world.send("POST", "/_sim/requests/verify", ["match": match, "times": 1])
        #expect(verified.status == 200 && verified["count"] == 1, "\(verified.json)")
        let twice = try await world.send("POST", "/_sim/requests/verify", ["match": match, "at_least": 2])
        #expect(twice.status == 409)
        let nearest = twice["nearest"].items.first { $0["request.id"] == again["id"] }
        #expect(nearest?["differences"] == ["was sent again from the journal, not by the client"], "\(twice.json)")
        let order = try await world.send("POST", "/_sim/requests/verify", ["sequence": [match, match]])
        #expect(order.status == 409)
    }

    @Test func aResentRequestChangesTheNamespaceAgain() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        let id = try #require(
            try await world.send("GET", "/_sim/requests?route=/sdk/captures")["requests.0.id"].text)
        let again = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(again["status"] == 201)
        let captures = try await world.send("GET", "/_sim/captures")
        #expect(captures["captures"].items.count == 2)
        #expect(captures["captures.0.id"].text != capture.id)
    }

    @Test func anEditedRequestIsSentAsEdited() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "before"])
        let list = try await world.send("GET", "/_sim/requests?limit=1")
        let sequence = try #require(list["requests.0.sequence"].integer)
        let again = try await world.send(
            "POST", "/_sim/requests/\(sequence)/resend",
            [
                "method": "post", "path": "/sdk/search?x=1", "body": ["limit": 3],
                "headers": ["X-Sim-Test": .null, "Content-Type": "application/json", "Accept-Language": "ja"],
            ])
        #expect(again["status"] == 200 && again["method"] == "POST" && again["path"] == "/sdk/search")
        #expect(again["query"] == "x=1" && again["request.body"] == #"{"limit":3}"# && again["test"] == .null)
        let names = again["request.headers"].items.compactMap { $0.items.first?.text }
        #expect(names.contains("Accept-Language") && !names.contains("X-Sim-Test"))
    }

    @Test(
        arguments: [
            (["path": "/_sim/reset"], "path"), (["path": "sdk/session"], "path"),
            (["path": "/ns/default/sdk/session"], "path"),
            (["path": "/a b"], "path"), (["method": "FETCH"], "method"), (["headers": ["a b": "c"]], "headers.a b"),
            (["headers": ["X-A": "a\nb"]], "headers.X-A"), (["headers": ["X-A": 7]], "headers.X-A"),
            (["headers": ["content-length": "3"]], "headers.content-length"),
            (["headers": ["Transfer-Encoding": nil]], "headers.Transfer-Encoding"),
            (["bodies": ""], "bodies"),
        ] as [(JSONValue, String)])
    func anInvalidEditIsNamed(edit: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let first = try await world.authorize()
        let id = try #require(first.headers.first(name: "X-Request-Id"))
        let answer = try await world.send("POST", "/_sim/requests/\(id)/resend", edit)
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.count == 1, "nothing was sent")
    }

    @Test func anIDOfSeveralRequestsListsThem() async throws {
        let world = try await TestWorld.make()
        for user in ["example-user-id", "sim-test-user"] {
            _ = try await world.send(
                "POST", "/v2/integrations/authorize-user",
                [
                    "sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": .string(user),
                    "email": "user@entrupy-customer.com",
                ], token: TestWorld.apiToken, headers: ["X-Request-Id": "mine"])
        }
        let both = try await world.send("POST", "/_sim/requests/mine/resend")
        #expect(both.status == 409 && both["code"] == "conflict")
        let lines = both["details"].items.compactMap { $0["problem"].text }
        #expect(lines.count == 2 && lines[0].hasPrefix("2: POST") && lines[1].hasPrefix("1: POST"))
        #expect(both["details.0.field"] == "sequence")
        let one = try await world.send("POST", "/_sim/requests/mine/resend?sequence=1")
        #expect(one.status == 200 && one["request.body"].text?.contains("example-user-id") == true)
        #expect(try await world.send("POST", "/_sim/requests/mine/resend?sequence=9").status == 404)
        #expect(try await world.send("GET", "/_sim/requests/mine?sequence=1")["sequence"] == 1)
        #expect(try await world.send("GET", "/_sim/requests/mine")["sequence"] == 2, "the last one")
    }

    /// A client may number its requests. Its id comes before the journal's number.
    @Test func aNumericIDPrecedesTheJournalsNumber() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize()
        _ = try await world.send("GET", "/sdk/session", headers: ["X-Request-Id": "1"])
        #expect(try await world.send("GET", "/_sim/requests/1")["path"] == "/sdk/session")
        #expect(try await world.send("GET", "/_sim/requests/2")["path"] == "/sdk/session")
        #expect(try await world.send("GET", "/_sim/requests/3").status == 404)
    }

    @Test func aRequestThatWasNotRecordedWholeIsRefused() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        _ = try await world.upload(capture.id, capture.regions[0], session)
        let picture = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer ?? 0
        let refused = try await world.send("POST", "/_sim/requests/\(picture)/resend")
        #expect(refused.status == 409 && refused["error"].text?.contains("kept 0 of the") == true, "\(refused.json)")
        let edited = try await world.send("POST", "/_sim/requests/\(picture)/resend", ["body": "no picture"])
        #expect(edited.status == 200 && edited["status"] == 422)

        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["body_bytes": 10]])
        _ = try await world.authorize()
        let cut = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer ?? 0
        #expect(try await world.send("POST", "/_sim/requests/\(cut)/resend").status == 409)
    }

    /// Compressed bodies are kept decoded, so they are sent as they are.
    @Test func aCompressedRequestIsSentDecoded() async throws {
        let world = try await TestWorld.make()
        let body = Data(
            #"{"sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": "example-user-id", "email": "user@entrupy-customer.com"}"#
                .utf8)
        let first = try await world.send(
            "POST", "/v2/integrations/authorize-user", bytes: try body.compressed(), token: TestWorld.apiToken,
            headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"])
        try #require(first.status == 200)
        let again = try await world.send("POST", "/_sim/requests/1/resend")
        #expect(again["status"] == 200 && again["request.body"].text == String(decoding: body, as: UTF8.self))
    }

    @Test func faultsAndLimitsApplyToAResentRequest() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: session)
        let fault = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/sdk/session"], "effect": ["drop_connection": true], "times": 1])
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let dropped = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(dropped.status == 200 && dropped["decided_by.fault"] == fault["id"], "this connection stays")
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": ["sdk_per_second": 1]])
        _ = try await world.send("POST", "/_sim/requests/\(id)/resend")
        let limited = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(limited["status"] == 429 && limited["decided_by.limits.0"] == "sdk_per_second")
    }

    /// The journal of an opened bundle has tokens masked.
    @Test func aMaskedTokenIsNotSent() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/session", token: try await world.login())
        let bundle = try await world.send("GET", "/_sim/bundle")
        let path = NSTemporaryDirectory() + "resend-\(UUID().uuidString).tar"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try bundle.body.write(to: URL(fileURLWithPath: path))
        let opened = try await TestWorld.opened { $0.namespaces.bundle = path }
        let id = try #require(try await opened.send("GET", "/_sim/requests?route=/sdk/session")["requests.0.id"].text)
        let refused = try await opened.send("POST", "/_sim/requests/\(id)/resend")
        #expect(refused.status == 409 && refused["error"].text?.contains("masked") == true, "\(refused.json)")
        let given = try await opened.send(
            "POST", "/_sim/requests/\(id)/resend", ["headers": ["Authorization": "Token other"]])
        #expect(given.status == 200 && given["status"] == 401)
    }

    /// The journal still has the request, and does not keep the new one.
    @Test func withoutAJournalAResentRequestCannotBeShown() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize()
        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["entries": 0]])
        let answer = try await world.send("POST", "/_sim/requests/1/resend")
        #expect(
            answer.status == 409 && answer["error"].text?.contains("made and answered 200") == true, "\(answer.json)")
        _ = try await world.send("DELETE", "/_sim/requests")
        #expect(try await world.send("POST", "/_sim/requests/1/resend").status == 404)
    }
}
