import Foundation
import SimulationAPI
import TestSupport
import Testing

/// One test for each bug that was found in a rule, so that it cannot return unnoticed.
@Suite struct RegressionRuleTests {
    @Test func aTinyHEICWithALongHeaderIsRefusedNotReadBeyondItsEnd() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        for size in 16...20 {
            let header: [UInt8] = [0, 0, 0, 1] + Array("ftyp".utf8) + [0, 0, 0, 0, 0, 0, 0, UInt8(size)]
            let image = Data(header + Array(repeating: 0, count: size - 16))
            #expect(try await world.upload(capture.id, "heel", token, image).status == 422)
        }
    }

    @Test(arguments: ["com.example.demo\u{0}evil", String(repeating: "a", count: 7000)])
    func aMalformedBundleIDIsNotRegistered(bundle: String) async throws {
        let world = try await TestWorld.make()
        let content = try WireJSON.encode(["bundle_id": bundle])
        let request = content.base64EncodedString().replacingOccurrences(of: "=", with: "")
        let signed = try await world.authorize(
            "example-user-id", token: TestWorld.apiToken, ["sdk_authorization_request": .string(request)])
        #expect(signed.status == 200)
        let login = try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": signed["signed_authorization_request"]])
        #expect(login.status == 403)
    }

    @Test func aLoginWithAnExpiredRequestCountsTowardTheUsersLimit() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 2]])
        let late = try await world.signedRequest()
        try await world.advance("1h")
        let fresh = try await world.signedRequest()
        func login(_ signed: JSONValue) async throws -> Int {
            try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed]).status
        }
        #expect(try await login(late) == 401)
        #expect(try await login(late) == 401)
        #expect(try await login(fresh) == 429)
    }

    @Test func encodedLettersOfAPathAreLetters() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        #expect(try await world.send("GET", "/sdk/%63onfig", token: token).status == 200)
        #expect(try await world.send("GET", "/sdk%2Fconfig", token: token).status == 404)
        #expect(try await world.send("GET", "/sdk/%", token: token).status == 404)
        // A namespace can be deleted through itself.
        #expect(try await world.send("DELETE", "/_sim/namespaces/\(world.name)").status == 204)
    }

    @Test func aNameWithANULIsNotFound() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let item = try await world.submit(token)
        let capture = try await world.startCapture(token)
        for (path, token) in [
            ("/_sim/users/DemoOrg-example-user-id%00", nil), ("/_sim/authentications/\(item)%00x", nil),
            ("/sdk/results/\(item)%00", token), ("/sdk/captures/\(capture.id)%00x", token),
        ] as [(String, String?)] {
            #expect(try await world.send("GET", path, token: token).status == 404, "\(path)")
        }
        #expect(try await world.upload(capture.id, "heel%00", token).status == 404)
        #expect(
            try await world.send("PATCH", "/_sim/users/DemoOrg-example-user-id%00x", ["first_name": "Z"]).status == 404)
    }

    @Test func numberedTextsAreMeasuredAtTheirLongest() async throws {
        let world = try await TestWorld.make()
        let id = String(repeating: "{n}", count: 85) + "z"
        let answer = try await world.send(
            "POST", "/_sim/authentications", ["count": 1001, "template": ["customer_item_id": .string(id)]])
        #expect(answer.status == 400)
        #expect(answer["details.0.field"] == "customer_item_id")
    }

    @Test func anEmptyBrandIsTheDefaultAndGeneratedValuesCannotBeSet() async throws {
        let world = try await TestWorld.make()
        for brand: JSONValue in [nil, ""] {
            let answer = try await world.send("POST", "/_sim/authentications", ["brand": brand])
            let info = try await world.send("GET", "/_sim/authentications/\(answer["entrupy_ids.0"].text ?? "")")
            #expect(info["sdk.properties.brand.id"] == "nike")
        }
        for key in ["config_type", "entrupy_id", "submitted_at"] {
            #expect(try await world.send("POST", "/_sim/authentications", .object([key: "x"])).status == 400)
        }
    }

    @Test func theListOfProblemsInAnAnswerIsBounded() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let filters = JSONValue.array(Array(repeating: ["key": "nonsense", "value": "x"], count: 5000))
        let answer = try await world.send("POST", "/sdk/search", ["filters": filters], token: token)
        #expect(answer.status == 400)
        #expect(answer["details.0.problem"].text?.contains("at most 20") == true)
        #expect(answer["details"].items.count <= 100)
    }

    @Test func theLargestLegalSearchIsAnswered() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let values = JSONValue.array((0..<100).map { .string("sku-\($0)") })
        var filters: [JSONValue] = [["key": "customer_item_id", "values": values]]
        filters += Array(repeating: ["key": "text_fields.sku", "values": values, "exclude": true], count: 19)
        #expect(try await world.send("POST", "/sdk/search", ["filters": .array(filters)], token: token).status == 200)
    }

    @Test func theYearTenThousandIsRefused() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        #expect(try await world.send("POST", "/sdk/search", ["end_date": 253_402_300_800], token: token).status == 400)
        #expect(try await world.send("POST", "/sdk/search", ["end_date": 253_402_300_799], token: token).status == 200)
        #expect(try await world.send("POST", "/_sim/clock/freeze", ["at": 253_402_300_800]).status == 400)
    }
}
