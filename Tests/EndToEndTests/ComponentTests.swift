import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct ComponentTests {
    /// The rest of an answer's path to the error of the document.
    private func error(_ answer: Answer) -> String? {
        answer["workflow_error.code"].text ?? answer["workflow_error.type"].text
    }

    // MARK: Codes and sessions

    @Test func aCodeIsForOneSessionWithinTwoHours() async throws {
        let world = try await TestWorld.make()
        let code = try await world.validationCode()
        #expect(code["expires_at"].double == TestWorld.epoch + 7200)
        let start: JSONValue = ["validationCode": code["validationCode"], "networkEnvironment": "production"]
        let first = try await world.send("POST", "/components/sessions", start)
        #expect(first.status == 201 && first["available"] == true && first["status"] == "active")
        let second = try await world.send("POST", "/components/sessions", start)
        #expect(second.status == 401 && error(second) == "InvalidValidationCode" && second["sdk_error"] == .null)

        let late = try await world.validationCode()
        try await world.advance("7199s")
        let other = try await world.validationCode()
        try await world.advance("1s")
        let refused = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": late["validationCode"], "networkEnvironment": "sandbox"])
        #expect(error(refused) == "InvalidValidationCode")
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
        #expect(session.status == 409 && error(session) == "ConfigurationNotSupported")
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

    @Test func aSessionEndsAtItsTimeAndGivesItsPicturesUp() async throws {
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
        #expect(gone.status == 401 && error(gone) == "SessionExpired")
        let shown = try await world.send("GET", "/components/sessions/\(id)")
        #expect(shown["available"] == false && shown["status"] == "expired")
        #expect(error(try await world.runBiometrics(id)) == "SessionExpired")
    }

    @Test func aClearedSessionIsGone() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.runDocument(id)
        #expect(try await world.send("PUT", "/_sim/snapshots/before")["images"] == 2)
        let cleared = try await world.send("DELETE", "/components/sessions/\(id)")
        #expect(try await world.send("PUT", "/_sim/snapshots/after")["images"] == 0)
        #expect(cleared["available"] == false && cleared["status"] == "cleared")
        #expect(try await world.send("DELETE", "/components/sessions/\(id)").status == 200)
        let refused = try await world.runBiometrics(id)
        #expect(refused.status == 401 && error(refused) == "InvalidSession")
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
        #expect(document["images"].items[0]["timestamp"] == "2026-01-05T09:00:00.000000Z")
        #expect(document["videoRecording.duration"] == "4.2" && document["idlMrzInfo"] == .null)
        let lines = document["mrtdMrzInfo.rawMrz"].text?.split(separator: "\n") ?? []
        #expect(lines.map(\.utf8.count) == [44, 44])
        #expect(document["mrtdMrzInfo.firstNames"] == ["Sanne", "Maria"])
        #expect(document["mrtdMrzInfo.validationErrors"] == [])
        #expect(answer["documentAnalysis.documentNumber"] == document["mrtdMrzInfo.documentNumber"])
        #expect(answer["documentAnalysis.gender"] == "Female" && answer["documentAnalysis.initials"] == "S.M.")
        // A component ends once.
        let again = try await world.send("POST", "/components/sessions/\(id)/document/finish")
        #expect(again.status == 409 && error(again) == "InvalidWorkflowStatus")
        let late = try await world.put("document/images/front", id)
        #expect(late.status == 409 && error(late) == "InvalidWorkflowStatus")
        #expect(error(try await world.runDocument(id)) == "InvalidWorkflowStatus")
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
        #expect(results[0].items[0]["lastNames"] == ["Eriksson"])
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

    @Test func theWorkflowIsAskedAtTheLaunchAndAnotherTypeCanBeTried() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession("document-only")
        let type = try await world.runDocument(id, "paperId", "ITA")
        #expect(type.status == 422 && error(type) == "IdentityVerification.DocumentTypeNotSupported")
        let country = try await world.runDocument(id, "passport", "USA")
        #expect(error(country) == "IdentityVerification.IssuingCountryNotSupported")
        #expect(try await world.runDocument(id).status == 200)
        #expect(error(try await world.runBiometrics(id)) == "ConfigurationNotSupported")
    }

    @Test func aNationalityThatTheWorkflowLacksIsRefusedAtTheEnd() async throws {
        let world = try await TestWorld.make()
        let client: JSONValue = ["client_id": "other-nationality"]
        let refused = try await world.runDocument(world.workflowSession("document-only", client: client))
        #expect(refused.status == 422 && error(refused) == "IdentityVerification.NationalityNotSupported")
        #expect(try await world.runDocument(world.workflowSession("onboarding", client: client)).status == 200)
    }

    @Test func whatIsMissingIsListed() async throws {
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

    @Test func picturesAreJudgedWhereTheWorkflowWantsIt() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession(
            "document-only", client: ["client_id": "x", "document_number": "SIM-Glare"])
        _ = try await world.send(
            "POST", "/components/sessions/\(id)/document", ["documentType": "passport", "issuingCountry": "NLD"])
        #expect(try await world.put("document/images/front", id)["quality"] == "glare")
        let early = try await world.send("POST", "/components/sessions/\(id)/document/finish")
        #expect(early.status == 400 && early["details"].items[0]["problem"] == "must be taken again: it is glare")
        #expect(try await world.put("document/images/front", id)["quality"] == "ok")
        #expect(try await world.send("POST", "/components/sessions/\(id)/document/finish").status == 200)
    }

    // MARK: Errors

    @Test(arguments: [
        ("Canceled", 409), ("ClientRejected", 403), ("DocumentExpired", 422), ("DocumentTypeInvalid", 422),
        ("DocumentTypeMismatch", 422), ("DocumentTypeNotSupported", 422), ("IssuingCountryNotSupported", 422),
        ("NationalityNotSupported", 422), ("NoDocumentDetected", 422), ("PersonNotAdult", 422), ("Unexpected", 500),
        ("InvalidWorkflowStatus", 409),
    ])
    func everyErrorComesByAMagicNumberAnOutcomeRuleAndAFault(name: String, status: Int) async throws {
        let world = try await TestWorld.make()
        let magic = try await world.runDocument(
            world.workflowSession(client: [
                "client_id": "magic", "document_number": .string("sim-\(name.lowercased())"),
            ]))
        let rule = try await world.send(
            "POST", "/_sim/outcomes",
            ["match": ["component": "document", "client_id": "ruled"], "result": .string(name), "times": 1])
        #expect(rule.status == 201)
        let ruled = try await world.runDocument(world.workflowSession(client: ["client_id": "ruled"]))
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/components/*/document"], "effect": ["component_error": .string(name)]])
        let faulty = try await world.runDocument(world.workflowSession())
        for answer in [magic, ruled, faulty] {
            #expect(answer.status == status && error(answer)?.hasSuffix(name) == true, "\(answer.json)")
            #expect((answer["workflow_error.message_code"].text?.utf8.count == 8) == (name == "Unexpected"))
        }
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes"].items[0]["hits"] == 1)
    }

    @Test(arguments: [("InvalidValidationCode", 401), ("SessionExpired", 401), ("ConfigurationNotSupported", 409)])
    func errorsOfTheStartComeByRule(name: String, status: Int) async throws {
        let world = try await TestWorld.make()
        _ = try await world.send(
            "POST", "/_sim/outcomes",
            ["match": ["component": "session", "workflow": "selfie-only"], "result": .string(name)])
        for (workflow, number) in [("selfie-only", "A1"), ("onboarding", "sim-\(name)")] {
            let code = try await world.validationCode(
                workflow, client: ["client_id": "x", "document_number": .string(number)])
            let answer = try await world.send(
                "POST", "/components/sessions",
                ["validationCode": code["validationCode"], "networkEnvironment": "sandbox"])
            #expect(answer.status == status && error(answer) == name, "\(answer.json)")
        }
    }

    @Test func aRejectedClientGetsNoCodeAfterwardsAndOthersDo() async throws {
        let world = try await TestWorld.make()
        let early = try await world.validationCode(client: ["client_id": "bad"])
        let id = try await world.workflowSession(client: ["client_id": "bad", "document_number": "sim-clientrejected"])
        #expect(try await world.runDocument(id).status == 403)
        let refused = try await world.validationCode(client: ["client_id": "bad"])
        #expect(refused.status == 403 && error(refused) == "ClientRejected")
        let start = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": early["validationCode"], "networkEnvironment": "sandbox"])
        #expect(start.status == 403 && error(start) == "ClientRejected")
        #expect(try await world.validationCode(client: ["client_id": "good"]).status == 200)
    }

    @Test func aComponentThatIsClosedIsCanceled() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.send("POST", "/components/sessions/\(id)/biometrics")
        let answer = try await world.send("POST", "/components/sessions/\(id)/biometrics/cancel")
        #expect(answer.status == 409 && error(answer) == "Canceled")
        let shown = try await world.send("GET", "/components/sessions/\(id)")
        #expect(shown["components"].items.map { $0["error"] } == ["Canceled"])
    }

    @Test(
        arguments: [
            (["match": ["component": "document"], "result": "Nothing"], "result"),
            (["match": ["component": "session"], "result": "DocumentExpired"], "result"),
            (["match": ["component": "biometrics"], "result": "PersonNotAdult"], "result"),
            (["match": ["component": "face"], "result": "Canceled"], "match.component"),
            (
                ["match": ["component": "session", "document_type": "passport"], "result": "Canceled"],
                "match.document_type"
            ),
            (["match": ["component": "document"], "result": "Canceled", "after": "1s"], "after"),
        ] as [(JSONValue, String)])
    func aWrongRuleIsNamed(rule: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send(
            "POST", "/_sim/outcomes", bytes: WireJSON.encode(rule), headers: ["Content-Type": "application/json"])
        #expect(
            answer.status == 400 && answer["details"].items.map { $0["field"].text }.contains(field), "\(answer.json)")
    }

    // MARK: Plugins

    /// Sends a text as the document prints it.
    private func post(_ world: TestWorld, _ path: String, _ text: String) async throws -> Answer {
        try await world.send("POST", path, bytes: Data(text.utf8), headers: ["Content-Type": "application/json"])
    }

    @Test func theDocumentsConfigurationsAreTakenAsTheyStandThere() async throws {
        let world = try await TestWorld.make()
        let session = try await post(
            world, "/components/sessions",
            "{\n\"configuration\": {\n\"validationCode\": \"IDV\",\n\"networkEnvironment\": \"mock\"\n}\n}")
        let id = try #require(session["session_id"].text)
        let dots =
            "{\n\"configuration\": {\n\"documentType\": \"passport\",\n\"issuingCountry\": \"NLD\"\n},\n\"customization\": {\n...\n}\n}"
        let plain = try await post(world, "/components/sessions/\(id)/document", dots)
        #expect(plain.status == 400 && plain["error"].text?.contains("line 7") == true)
        let plugin = try await post(world, "/components/sessions/\(id)/document?form=plugin", dots)
        #expect(plugin.status == 400 && plugin["errorCode"] == 830)
        let comma = "{\n\"configuration\": {\n\"documentType\": \"passport\",\n\"issuingCountry\": \"NLD\"\n},\n}"
        #expect(try await post(world, "/components/sessions/\(id)/document", comma).status == 201)
        #expect(try await post(world, "/components/sessions/\(id)/biometrics", "{}").status == 201)
        // Elsewhere a trailing comma is an error.
        #expect(
            try await post(world, "/partner/login", "{\"username\": \"demo\", \"password\": \"demo\",}").status == 400)
    }

    @Test(arguments: [
        (#"{"configuration": {"documentType": "card", "issuingCountry": "NLD"}}"#, 800),
        (
            #"{"configuration": {"documentType": "passport", "issuingCountry": "NLD"}, "customization": {"flavor": {"fonts": {"screenHeader": "missing.ttf"}}}}"#,
            802
        ),
        (#"{"configuration": {"documentType": "passport", "issuingCountry": "NLD"}, "issuingCountry": "FRA"}"#, 800),
        (#"{"configuration": 7}"#, 800), (#"{"configuration": {"documentType": "passport"}}"#, 850),
        (#"{"configuration""#, 830),
    ])
    func aPluginsErrorHasItsCode(body: String, code: Int) async throws {
        let world = try await TestWorld.make()
        let id = try await world.mockSession()
        let answer = try await post(world, "/components/sessions/\(id)/document?form=plugin", body)
        #expect(answer.status == 400 && answer["errorCode"] == .number(JSONNumber(code)), "\(answer.json)")
        #expect(answer.json.members?.count == 2 && answer["errorDescription"].text?.isEmpty == false)
    }

    @Test(arguments: [
        ("Canceled", 803), ("Unexpected", 870), ("ClientRejected", 1000), ("SessionExpired", 1001),
        ("PersonNotAdult", 1002),
        ("ConfigurationNotSupported", 1003), ("InvalidWorkflowStatus", 1004), ("InvalidFont", 802),
    ])
    func aFaultsErrorHasThePluginsCode(name: String, code: Int) async throws {
        let world = try await TestWorld.make()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/components/*"], "effect": ["component_error": .string(name)]])
        let answer = try await world.send(
            "POST", "/components/sessions", ["validationCode": "IDV", "networkEnvironment": "mock"],
            headers: ["Accept": "application/vnd.fourthline.plugin+json"])
        #expect(answer["errorCode"] == .number(JSONNumber(code)), "\(answer.json)")
    }

    @Test(arguments: ["form=x", "form=", "form=Plugin", "plugin=ios", "form=plugin&form=plugin"])
    func anUnknownFormIsRefused(query: String) async throws {
        let world = try await TestWorld.make()
        let id = try await world.mockSession()
        for (method, path) in [("GET", ""), ("POST", "/biometrics"), ("POST", "/biometrics/finish")] {
            let answer = try await world.send(method, "/components/sessions/\(id)\(path)?\(query)")
            #expect(answer.status == 400, "\(method) \(path): \(answer.json)")
        }
        #expect(try await world.put("document/video?\(query)", id, TestWorld.video).status == 400)
    }

    @Test func theMediaTypeOfPluginsIsFoundInAnyCaseAmongOthers() async throws {
        let world = try await TestWorld.make()
        for (accept, isPlugin) in [
            ("text/html, Application/VND.Fourthline.Plugin+JSON;q=0.5", true),
            ("application/vnd.fourthline.plugin+jsonx", false),
            ("application/vnd.fourthline.plugin+json;q=0", false), ("application/json", false),
        ] {
            let answer = try await world.send(
                "POST", "/components/sessions", ["validationCode": "x", "networkEnvironment": "sandbox"],
                headers: ["Accept": accept])
            #expect((answer["errorCode"] == 1001) == isPlugin, "\(accept): \(answer.json)")
        }
    }

    @Test func refusalsUnderComponentsNameNoErrorOfEntrupysSDK() async throws {
        let world = try await TestWorld.make()
        let route = try await world.send("PUT", "/components/sessions/x/document/liveness")
        #expect(route.status == 404 && route["code"] == "unknown_route" && route["sdk_error"] == .null)
        let token = try await world.send("POST", "/components/v1/workflows/onboarding/validationcode?form=plugin", [:])
        #expect(token.status == 401 && token["errorCode"] == 870)
    }

    @Test func errorsOfDocumentsDoNotComeToFaces() async throws {
        let world = try await TestWorld.make()
        for name in ["DocumentTypeNotSupported", "DocumentExpired"] {
            let id = try await world.workflowSession(
                "selfie-only", client: ["client_id": "x", "document_number": .string("sim-\(name)")])
            #expect(try await world.runBiometrics(id).status == 200)
        }
    }

    @Test func booleansAndCoordinatesAreThoseOfThePlugin() async throws {
        let world = try await TestWorld.make()
        let id = try await world.mockSession()
        #expect(try await world.send("GET", "/components/sessions/\(id)?plugin=cordova").json == "true")
        #expect(try await world.send("GET", "/components/sessions/\(id)?plugin=flutter").json == true)
        #expect(try await world.send("GET", "/components/sessions/nothing?form=plugin").json == false)
        _ = try await world.runDocument(id)
        let other = try await world.mockSession()
        _ = try await world.send(
            "POST", "/components/sessions/\(other)/biometrics", ["location": ["latitude": "35.5", "longitude": 139.25]])
        _ = try await world.put("biometrics/images/selfie", other)
        _ = try await world.put("biometrics/liveness", other, TestWorld.video)
        let answer = try await world.send("POST", "/components/sessions/\(other)/biometrics/finish?plugin=cordova")
        #expect(answer["selfie.location"] == ["latitude": "35.5", "longitude": "139.25"])
    }

    // MARK: The engine

    @Test func everythingSurvivesASnapshotAndARestart() async throws {
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
        #expect(shown["components"].items[0]["images"].items.map { $0["isUploaded"] } == [true, false])
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
                        "nationality": "GBR",
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
            (["clients": [["client_id": "x"]]], "is missing"),
        ] as [(JSONValue, String)] {
            let wrong = try await world.send("POST", "/_sim/seed", seed)
            #expect(wrong.status == 400 && wrong["error"].text?.contains(words) == true, "\(wrong.json)")
        }
    }
}
