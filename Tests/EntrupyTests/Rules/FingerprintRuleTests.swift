import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Captures that register a fingerprint or compare with one, by their `activity` [D fingerprints].
@Suite struct FingerprintRuleTests {
    private func start(
        _ bench: RuleBench, _ user: Credential, _ activity: String, parent: String? = nil, id: String? = nil,
        type: String = "production"
    ) async throws -> String {
        var item: JSONObject = ["brand": "Gucci", "item_type": "Handbag"]
        item["customer_item_id"] = id.map { .string($0) }
        var body: JSONObject = ["item": .object(item), "activity": .string(activity), "config_type": .string(type)]
        body["fingerprint_parent"] = parent.map { .string($0) }
        return try await bench.user(StartCapture(bench.sent(.object(body))), user).captureID
    }

    /// Starts and submits a capture, and waits for the result. Returns the item's id.
    private func run(
        _ bench: RuleBench, _ user: Credential, _ activity: String, parent: String? = nil, id: String? = nil,
        type: String = "production"
    ) async throws -> String {
        let capture = try await start(bench, user, activity, parent: parent, id: id, type: type)
        try await bench.upload(capture, user)
        let item = try await bench.user(ByID<SubmitCapture>(capture), user).entrupy_id
        await bench.wait("10s")
        return item
    }

    @Test func rulesAndMagicIDsDecideComparisons() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let parent = try await run(bench, user, "fingerprint_register")
        // A rule with a result of authentications does not decide a comparison, nor the other way round.
        for result: JSONValue in ["not_supported", "no_match"] {
            _ = try await bench.control(AddOutcome(["match": ["customer_item_id": "ruled"], "result": result]))
        }
        for (id, result) in [
            ("sim-no_match", ResultID.noMatch), ("sim-unknown-after-1s", .unknown), ("ruled", .noMatch),
            ("plain", .match),
        ] {
            let item = try await run(bench, user, "fingerprint_compare", parent: parent, id: id)
            #expect(try await bench.item(item).result == result, "\(id)")
        }
        let authenticated = try await run(bench, user, "authentication", id: "ruled")
        #expect(try await bench.item(authenticated).result == .notSupported)
        let debug = try await run(bench, user, "fingerprint_compare", parent: parent, type: "debug")
        #expect(try await bench.item(debug).result == .invalid)
    }

    @Test func theControlAPISetsOnlyResultsOfTheActivity() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let parent = try await run(bench, user, "fingerprint_register")
        let compared = try await run(bench, user, "fingerprint_compare", parent: parent)
        let authenticated = try await run(bench, user, "authentication")
        func set(_ id: String, _ result: ResultID) async -> PlatformError.Kind? {
            await refusal { try await bench.control(PatchAuthentication(entrupyID: id, result: result)) }
        }
        #expect(await set(authenticated, .match) == .invalid)
        #expect(await set(compared, .authentic) == .invalid)
        #expect(await set(compared, .noMatch) == nil)
        #expect(try await bench.item(compared).result == .noMatch)
    }

    @Test func onlyComparisonsMayHaveTheirResults() async throws {
        let bench = try await RuleBench()
        let rule = try await bench.control(AddOutcome(["match": [:], "result": "no_match"]))
        #expect(rule.notes.first?.contains("only compared fingerprints can have") == true)
        for settings: JSONValue in [["result": ["default": "match"]], ["flagging": ["eligible": ["no_match"]]]] {
            #expect(await refusal { try await bench.control(PatchSettings(settings)) } == .invalid)
        }
    }

    @Test func invalidComparisonsAreRefused() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let parent = try await run(bench, user, "fingerprint_register")
        let ordinary = try await run(bench, user, "authentication")
        let compared = try await run(bench, user, "fingerprint_compare", parent: parent)
        let invalid = try await run(bench, user, "fingerprint_register", type: "debug")
        func captures() async throws -> Int {
            try await bench.user(ListCaptures(bench.sent([:], query: "limit=25")), user).items.count
        }
        let before = try await captures()
        for (activity, parent, id, field) in [
            ("fingerprint_compare", nil, nil, "fingerprint_parent"),
            ("fingerprint_compare", "NOBODY22", nil, "fingerprint_parent"),
            ("fingerprint_compare", ordinary, nil, "fingerprint_parent"),
            ("fingerprint_compare", compared, nil, "fingerprint_parent"),
            ("fingerprint_register", parent, nil, "fingerprint_parent"),
            ("fingerprint_compare", invalid, nil, "fingerprint_parent"),
            ("authentication", parent, nil, "fingerprint_parent"), ("fingerprint", nil, nil, "activity"),
            ("authentication", nil, "sim-match", "item.customer_item_id"),
            ("fingerprint_compare", parent, "sim-authentic", "item.customer_item_id"),
        ] as [(String, String?, String?, String)] {
            let refused = await refusalError { try await start(bench, user, activity, parent: parent, id: id) }
            #expect(refused?.kind == .invalid, "\(activity)")
            #expect(refused?.details.first?.field == field, "\(activity)")
        }
        #expect(try await captures() == before)
    }

    @Test func anotherOrganizationsRegistrationIsNone() async throws {
        let bench = try await RuleBench()
        let parent = try await run(bench, try await bench.login(), "fingerprint_register")
        let signed = try await bench.partner(
            AuthorizeUser(
                AuthorizeUserRequest(
                    sdk_authorization_request: "r", unique_user_id: "other-user", email: "o@example.com")),
            RuleBench.otherPartner
        ).signed.signed_authorization_request
        let login = try await bench.control(Login(LoginRequest(signed_authorization_request: signed)))
        let stranger = Credential.token(login.token)
        let refused = await refusalError { try await start(bench, stranger, "fingerprint_compare", parent: parent) }
        #expect(refused?.details.first?.field == "fingerprint_parent")
    }
}
