import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The errors of App Components, and the forms in which plugins get them.
@Suite struct ComponentErrorTests {
    // MARK: Errors

    @Test(arguments: [
        ("Canceled", 409), ("ClientRejected", 403), ("DocumentExpired", 422), ("DocumentTypeInvalid", 422),
        ("DocumentTypeMismatch", 422), ("DocumentTypeNotSupported", 422), ("IssuingCountryNotSupported", 422),
        ("NationalityNotSupported", 422), ("NoDocumentDetected", 422), ("PersonNotAdult", 422), ("Unexpected", 500),
        ("InvalidWorkflowStatus", 409),
    ])
    func aMagicNumberAnOutcomeRuleAndAFaultCauseEveryError(name: String, status: Int) async throws {
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
            ["match": ["route": "/components/**/document"], "effect": ["component_error": .string(name)]])
        let faulty = try await world.runDocument(world.workflowSession())
        for answer in [magic, ruled, faulty] {
            #expect(answer.status == status && workflowError(answer)?.hasSuffix(name) == true, "\(answer.json)")
            #expect((answer["workflow_error.message_code"].text?.utf8.count == 8) == (name == "Unexpected"))
        }
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes.0.hits"] == 1)
    }

    @Test(arguments: [("InvalidValidationCode", 401), ("SessionExpired", 401), ("ConfigurationNotSupported", 409)])
    func aRuleAndAMagicNumberCauseTheErrorsOfAStart(name: String, status: Int) async throws {
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
            #expect(answer.status == status && workflowError(answer) == name, "\(answer.json)")
        }
    }

    @Test func aRejectedClientGetsNoMoreCodesAndOthersDo() async throws {
        let world = try await TestWorld.make()
        let early = try await world.validationCode(client: ["client_id": "bad"])
        let id = try await world.workflowSession(client: ["client_id": "bad", "document_number": "sim-clientrejected"])
        #expect(try await world.runDocument(id).status == 403)
        let refused = try await world.validationCode(client: ["client_id": "bad"])
        #expect(refused.status == 403 && workflowError(refused) == "ClientRejected")
        let start = try await world.send(
            "POST", "/components/sessions",
            ["validationCode": early["validationCode"], "networkEnvironment": "sandbox"])
        #expect(start.status == 403 && workflowError(start) == "ClientRejected")
        #expect(try await world.validationCode(client: ["client_id": "good"]).status == 200)
    }

    @Test func aComponentThatIsClosedIsCanceled() async throws {
        let world = try await TestWorld.make()
        let id = try await world.workflowSession()
        _ = try await world.send("POST", "/components/sessions/\(id)/biometrics")
        let answer = try await world.send("POST", "/components/sessions/\(id)/biometrics/cancel")
        #expect(answer.status == 409 && workflowError(answer) == "Canceled")
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
    private func post(_ world: TestWorld, _ path: String, _ text: String) async throws -> TestWorld.Answer {
        try await world.send("POST", path, bytes: Data(text.utf8), headers: ["Content-Type": "application/json"])
    }

    @Test func aDocumentedConfigurationIsAcceptedWithItsTrailingComma() async throws {
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
            "POST", "/_sim/faults",
            ["match": ["route": "/components/**"], "effect": ["component_error": .string(name)]])
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
        let id = try await world.mockSession()
        let session = "/components/sessions/\(id)"
        let missing = try await world.send("GET", "\(session)/document/images/front")
        #expect(missing.status == 404 && missing["code"] == "not_found" && missing["sdk_error"] == .null)
        let malformed = try await post(world, "\(session)/document", "{")
        #expect(malformed.status == 400 && malformed["code"] == "bad_request" && malformed["sdk_error"] == .null)
        let token = try await world.send("POST", "/components/v1/workflows/onboarding/validationcode?form=plugin", [:])
        #expect(token.status == 401 && token["errorCode"] == 870)
        _ = try await world.send("POST", "/_sim/faults", ["effect": ["status": 503]])
        let faulty = try await world.send("GET", session)
        #expect(faulty.status == 503 && faulty["code"] == "unavailable" && faulty["sdk_error"] == .null)
    }

    @Test func documentErrorsDoNotAffectBiometrics() async throws {
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
}
