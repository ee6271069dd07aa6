import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct ComponentTests {
    // MARK: Codes and sessions

    @Test func aCodeIsForOneSessionWithinTwoHours() async throws {
        let world = try await TestWorld.make()
        let code = try await world.validationCode()
        #expect(code["expires_at"].double == TestWorld.epoch + 7200)
        let start: JSONValue = ["validationCode": code["validationCode"], "networkEnvironment": "production"]
        let first = try await world.send("POST", "/components/sessions", start)
        #expect(first.status == 201 && first["available"] == true && first["status"] == "active")
        let second = try await world.send("POST", "/components/sessions", start)
        #expect(
            second.status == 401 && workflowError(second) == "InvalidValidationCode" && second["sdk_error"] == .null)

        let late = try await world.validationCode()
        try await world.advance("7199s")
        let other = try await world.validationCode()
        try await world.advance("1s")
        let refused = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": late["validationCode"], "networkEnvironment": "sandbox"])
        #expect(workflowError(refused) == "InvalidValidationCode")
        let accepted = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": other["validationCode"], "networkEnvironment": "sandbox"])
        #expect(accepted.status == 201)
    }

    @Test func aCodeNeedsTheOrganizationsTokenAndAWorkflow() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.send("POST", "/components/v1/workflows/onboarding/validationcode", [:]).status == 401)
        let missing = try await world.validationCode("nothing")
        #expect(missing.status == 404 && missing["error"].text?.contains("onboarding") == true)
        let retired = try await world.validationCode("retired")
        let session = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": retired["validationCode"], "networkEnvironment": "sandbox"])
        #expect(session.status == 409 && workflowError(session) == "ConfigurationNotSupported")
    }

    @Test(
        arguments: [
            (["first_name": "田中"], "client.first_name"), (["birth_date": "1990-02-30"], "client.birth_date"),
            (["nationality": "nld"], "client.nationality"), (["nationality": "NL"], "client.nationality"),
            (["client_id": "a b"], "client.client_id"), (["document_number": "sim-Nothing"], "client.document_number"),
            (["document_number": "too-long-for-it"], "client.document_number"),
            (["documentNumber": "sim-Canceled"], "client.documentNumber"),
            (["document_type": "id"], "client.document_type"),
        ] as [(JSONValue, String)])
    func aWrongClientIsNamed(client: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.validationCode(client: client)
        #expect(answer.status == 400 && answer["details"].items.map { $0["field"].text } == [field], "\(answer.json)")
    }

    @Test func aSessionExpiresAtItsEndTogetherWithItsPictures() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        let result = try await world.runDocument(id)
        let url = try #require(result["documentResult.images"].items.first?["image"].text)
        let path = String(url.dropFirst(world.base.count))
        #expect(try await world.send("GET", path).body == TestWorld.picture)
        try await world.advance("3599s")
        #expect(try await world.send("GET", path).status == 200)
        try await world.advance("1s")
        let gone = try await world.send("GET", path)
        #expect(gone.status == 401 && workflowError(gone) == "SessionExpired")
        let shown = try await world.send("GET", "/components/sessions/\(id)")
        #expect(shown["available"] == false && shown["status"] == "expired")
        #expect(workflowError(try await world.runBiometrics(id)) == "SessionExpired")
    }

    @Test func aClearedSessionIsUnavailableAndReleasesItsPictures() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.runDocument(id)
        #expect(try await world.send("PUT", "/_sim/snapshots/before")["images"] == 2)
        let cleared = try await world.send("DELETE", "/components/sessions/\(id)")
        #expect(try await world.send("PUT", "/_sim/snapshots/after")["images"] == 0)
        #expect(cleared["available"] == false && cleared["status"] == "cleared")
        #expect(try await world.send("DELETE", "/components/sessions/\(id)").status == 200)
        let refused = try await world.runBiometrics(id)
        #expect(refused.status == 401 && workflowError(refused) == "InvalidSession")
        #expect(try await world.send("GET", "/components/sessions/\(id)/document/images/front").status == 401)
        let unknown = try await world.send("GET", "/components/sessions/wfs_nothing")
        #expect(unknown["available"] == false && unknown["status"] == "unknown")
        let listed = try await world.send("GET", "/_sim/components/sessions")
        #expect(listed["sessions"].items.map { $0["session_id"].text } == [id])
    }

    // MARK: Documents

    @Test func aPassportHasThePicturesTheZoneAndTheAnalysis() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        let answer = try await world.runDocument(id)
        #expect(answer.status == 200)
        let document = answer["documentResult"]
        #expect(document["images"].items.map { $0["isAngled"] } == [false, true])
        #expect(document["images.0.timestamp"] == "2026-01-05T09:00:00.000000Z")
        #expect(document["videoRecording.duration"] == "4.2" && document["idlMrzInfo"] == .null)
        let lines = document["mrtdMrzInfo.rawMrz"].text?.split(separator: "\n") ?? []
        #expect(lines.map(\.utf8.count) == [44, 44])
        #expect(document["mrtdMrzInfo.firstNames"] == ["Sanne", "Maria"])
        #expect(document["mrtdMrzInfo.validationErrors"] == [])
        #expect(answer["documentAnalysis.documentNumber"] == document["mrtdMrzInfo.documentNumber"])
        #expect(answer["documentAnalysis.gender"] == "Female" && answer["documentAnalysis.initials"] == "SM")
        // A component ends once.
        let again = try await world.send("POST", "/components/sessions/\(id)/document/finish")
        #expect(again.status == 409 && workflowError(again) == "InvalidWorkflowStatus")
        let late = try await world.put("document/images/front", id)
        #expect(late.status == 409 && workflowError(late) == "InvalidWorkflowStatus")
        #expect(workflowError(try await world.runDocument(id)) == "InvalidWorkflowStatus")
    }

    @Test func theSameClientHasTheSameDocumentAndOtherSeedsGiveOthers() async throws {
        let world = try await TestWorld.make()
        var numbers: [JSONValue] = []
        for _ in 1...2 {
            let answer = try await world.runDocument(world.workflowSession())
            numbers.append(answer["documentAnalysis.documentNumber"])
        }
        #expect(numbers[0] == numbers[1])
        let other = try await TestWorld.make(randomSeed: 8)
        let answer = try await other.runDocument(other.workflowSession())
        #expect(answer["documentAnalysis.documentNumber"] != numbers[0])
    }

    @Test func theMockEnvironmentTakesAnyCodeAndIsTheSameEverywhere() async throws {
        var results: [JSONValue] = []
        for _ in 1...2 {
            let world = try await TestWorld.make()
            let id = try await world.mockSession()
            let answer = try await world.runDocument(id, "idCard", "DEU")
            #expect(try await world.runBiometrics(id).status == 200)
            results.append([answer["documentResult.mrtdMrzInfo"], answer["documentAnalysis"]])
        }
        #expect(results[0] == results[1])
        #expect(results[0]["0.lastNames"] == ["Eriksson"])
    }

    @Test(
        arguments: [
            ("passports", "NLD", "documentType"), ("passport", "nld", "issuingCountry"),
            ("passport", "NL", "issuingCountry"),
            ("passport", "XXX", "issuingCountry"), ("passport", nil, "issuingCountry"),
            ("proofOfAddress", "NLD", "issuingCountry"),
            ("tinReferenceDocument", "NLD", "issuingCountry"), ("frenchIdCard", "NLD", "issuingCountry"),
            ("dutchDriversLicense", "FRA", "issuingCountry"),
        ] as [(String, String?, String)])
    func aWrongTypeOrCountryIsNamed(type: String, country: String?, field: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.runDocument(world.workflowSession(), type, country)
        #expect(answer.status == 400 && answer["details"].items.map { $0["field"].text } == [field], "\(answer.json)")
    }

    @Test func theWorkflowIsCheckedAtTheStartAndAnotherTypeCanBeTried() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession("document-only")
        let type = try await world.runDocument(id, "paperId", "ITA")
        #expect(type.status == 422 && workflowError(type) == "IdentityVerification.DocumentTypeNotSupported")
        let country = try await world.runDocument(id, "passport", "USA")
        #expect(workflowError(country) == "IdentityVerification.IssuingCountryNotSupported")
        #expect(try await world.runDocument(id).status == 200)
        #expect(workflowError(try await world.runBiometrics(id)) == "ConfigurationNotSupported")
    }

    @Test func aNationalityThatTheWorkflowLacksIsRefusedAtTheEnd() async throws {
        let world = try await TestWorld.make()
        let client: JSONValue = ["client_id": "other-nationality"]
        let refused = try await world.runDocument(world.workflowSession("document-only", client: client))
        #expect(refused.status == 422 && workflowError(refused) == "IdentityVerification.NationalityNotSupported")
        #expect(try await world.runDocument(world.workflowSession("onboarding", client: client)).status == 200)
    }

    @Test func missingPicturesAndTheVideoAreListed() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.send(
            "POST", "/components/sessions/\(id)/document", ["documentType": "idCard", "issuingCountry": "NLD"])
        _ = try await world.put("document/images/back", id)
        let answer = try await world.send("POST", "/components/sessions/\(id)/document/finish")
        #expect(answer.status == 400)
        #expect(
            answer["details"].items.map { $0["field"].text } == [
                "front", "front?angled=true", "back?angled=true", "video",
            ])
        for (path, bytes, status) in [
            ("document/images/top", TestWorld.picture, 400),
            ("document/images/front?angled=maybe", TestWorld.picture, 400),
            ("document/images/front", Data("no picture".utf8), 422), ("document/video", TestWorld.picture, 422),
            ("document/video", TestWorld.video.dropLast(), 422), ("document/images/front", Data(), 422),
        ] {
            #expect(try await world.put(path, id, bytes).status == status, "\(path)")
        }
    }

    @Test func picturesAreJudgedIfTheWorkflowAsksForIt() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession(
            "document-only", client: ["client_id": "x", "document_number": "SIM-Glare"])
        _ = try await world.send(
            "POST", "/components/sessions/\(id)/document", ["documentType": "passport", "issuingCountry": "NLD"])
        #expect(try await world.put("document/images/front", id)["quality"] == "glare")
        let early = try await world.send("POST", "/components/sessions/\(id)/document/finish")
        #expect(early.status == 400 && early["details.0.problem"] == "must be taken again: it is glare")
        #expect(try await world.put("document/images/front", id)["quality"] == "ok")
        #expect(try await world.send("POST", "/components/sessions/\(id)/document/finish").status == 200)
    }

    // MARK: The engine

    @Test func aClearedSessionIsRestoredFromASnapshot() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.send(
            "POST", "/components/sessions/\(id)/document", ["documentType": "passport", "issuingCountry": "NLD"])
        _ = try await world.put("document/images/front", id)
        _ = try await world.send("PUT", "/_sim/snapshots/before")
        _ = try await world.send("DELETE", "/components/sessions/\(id)")
        let restored = try await world.send("POST", "/_sim/snapshots/before/restore")
        #expect(restored.status == 200, "\(restored.json)")
        #expect(
            try await world.send("GET", "/components/sessions/\(id)/document/images/front").body == TestWorld.picture)
        let shown = try await world.send("GET", "/components/sessions/\(id)")
        #expect(shown["components.0.images"].items.map { $0["isUploaded"] } == [true, false])
    }

    @Test func workflowsAndClientsAreSeedData() async throws {
        let world = try await TestWorld.make()
        let loaded = try await world.send(
            "POST", "/_sim/seed",
            [
                "workflows": [["id": "mine", "name": "Mine", "biometrics": [:]]],
                "clients": [
                    [
                        "client_id": "me", "first_name": "Ada", "last_name": "Byron", "birth_date": "1990-12-10",
                        // As JSON says it, and seed data of earlier releases: absent.
                        "nationality": "GBR", "birth_place": .null,
                    ]
                ],
            ])
        #expect(loaded.status == 200, "\(loaded.json)")
        let id = try await world.workflowSession("mine", client: ["client_id": "me"])
        let answer = try await world.runBiometrics(id)
        #expect(answer.status == 200 && answer["liveness"] == .null)
        #expect(try await world.workflowSession("onboarding").isEmpty == false)
        let workflow: JSONValue = ["id": "x", "name": "X", "biometrics": [:]]
        for (seed, words) in [
            (["workflows": [["id": "x", "name": "X"]]], "document or biometrics"),
            (["workflows": [["id": "mock", "name": "X", "biometrics": [:]]]], "mock sessions"),
            (["workflows": [workflow, workflow]], "appears twice"),
            (["workflows": [["id": "x", "name": "X", "document": ["types": []]]]], "at least one"),
            (["workflows": [["id": "x", "name": "X", "document": ["types": .null]]]], "must not be null"),
            (["clients": [["client_id": "x"]]], "is missing"),
        ] as [(JSONValue, String)] {
            let wrong = try await world.send("POST", "/_sim/seed", seed)
            #expect(wrong.status == 400 && wrong["error"].text?.contains(words) == true, "\(wrong.json)")
        }
    }
}
