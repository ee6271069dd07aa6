import AppComponentsAPI
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import AppComponents
@testable import Simulation

/// The ways to decide how a session starts and a component ends, and their order [D component-order].
@Suite struct ComponentDecisionTests {
    /// A client whose document number provokes something.
    private func magic(_ name: String) -> JSONObject {
        ["client_id": "magic", "document_number": .string("sim-\(name)")]
    }

    // MARK: The client and its document

    @Test func theFirstFailureInTheOrderDecides() async throws {
        let bench = try await ComponentBench()
        var client: JSONObject = [
            "client_id": "flawed", "document_type": "residencePermit", "nationality": "JPN",
            "expiration_date": "2020-01-31", "birth_date": "2019-03-08",
        ]
        func end() async throws -> WorkflowFailure? {
            let session = try await bench.session("document-only", client: client)
            return try await failure { try await bench.runDocument(session) }
        }
        #expect(try await end() == .documentTypeInvalid)
        client["document_type"] = "paperId"
        #expect(try await end() == .documentTypeMismatch)
        client["document_type"] = nil
        #expect(try await end() == .nationalityNotSupported)
        client["nationality"] = "NLD"
        #expect(try await end() == .documentExpired)
        client["expiration_date"] = nil
        #expect(try await end() == .personNotAdult)
        client["birth_date"] = nil
        #expect(try await end() == nil)
    }

    /// Two zones can be compared. A document without one only looks different.
    @Test(
        arguments: [
            (.residencePermit, .passport, .documentTypeInvalid), (.passport, .idCard, .documentTypeInvalid),
            (.passport, .driversLicense, .documentTypeMismatch), (.driversLicense, .passport, .documentTypeMismatch),
            (.paperId, .driversLicense, .documentTypeMismatch), (.idCard, .idCard, nil),
        ] as [(IdentityDocument, IdentityDocument, WorkflowFailure?)])
    func anotherTypeIsInvalidIfBothHaveAZoneElseAMismatch(
        held: IdentityDocument, selected: IdentityDocument, expected: WorkflowFailure?
    ) async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session(client: ["client_id": "x", "document_type": .string(held.rawValue)])
        #expect(try await failure { try await bench.runDocument(session, selected) } == expected)
    }

    @Test func aMissingSideComesBeforeEveryDecision() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("Canceled", match: ["component": "document"])
        let session = try await bench.session(client: ["client_id": "underage", "document_number": "sim-Unexpected"])
        _ = try await bench.startDocument(session)
        #expect(try await failure { try await bench.finishDocument(session) } == .incorrectConfiguration)
        #expect(try await bench.hits() == [0])
        #expect(try await bench.run(session).status == .started)
    }

    /// The two clients end their components in the last microsecond of a day and in the first one of the next.
    @Test(
        arguments: [
            ("expiration_date", "2026-01-05", nil, .documentExpired),
            ("birth_date", "2008-01-06", .personNotAdult, nil),
        ] as [(String, String, WorkflowFailure?, WorkflowFailure?)])
    func agesAndDocumentsChangeAtMidnight(
        field: String, day: String, before: WorkflowFailure?, after: WorkflowFailure?
    ) async throws {
        let bench = try await ComponentBench()
        await bench.wait(until: Instant("2026-01-05T23:30:00Z")!)
        var sessions: [String] = []
        for _ in 1...2 {
            let session = try await bench.session(client: ["client_id": "x", field: .string(day)])
            try await bench.uploadAll(session, bench.startDocument(session))
            sessions.append(session)
        }
        let midnight = Instant("2026-01-06T00:00:00Z")!
        await bench.wait(until: midnight - ComponentBench.microsecond)
        #expect(try await failure { try await bench.finishDocument(sessions[0]) } == before)
        await bench.wait(until: midnight)
        #expect(try await failure { try await bench.finishDocument(sessions[1]) } == after)
    }

    @Test func secondaryDocumentsAndFacesHaveNoneOfTheseFailures() async throws {
        let bench = try await ComponentBench()
        let members: JSONObject = [
            "client_id": "flawed", "first_name": "Yuki", "last_name": "Tanaka", "document_type": "residencePermit",
            "nationality": "JPN", "expiration_date": "2020-01-31", "birth_date": "2019-03-08",
        ]
        let session = try await bench.session(client: members)
        try await bench.runDocument(session, .proofOfAddress, nil)
        try await bench.runBiometrics(session)
        // No built-in workflow accepts both a secondary document and only some nationalities.
        let workflow = Workflow(
            id: "x", name: "X", isSupported: true, hasFeedback: false,
            document: .init(
                video: false, tilted: false, extractsData: false, types: nil, issuingCountries: nil,
                nationalities: ["NLD"]), biometricsVideo: nil)
        let client = try Client(stored: .object(members))
        let today = CivilDate(ComponentBench.morning)
        #expect(FinishDocument.failure(.tinReferenceDocument, client, workflow, today) == nil)
        #expect(FinishDocument.failure(.residencePermit, client, workflow, today) == .nationalityNotSupported)
    }

    // MARK: Magic document numbers

    @Test func aMagicNumberComesBeforeTheClient() async throws {
        let bench = try await ComponentBench()
        let client: JSONObject = ["client_id": "underage", "document_number": "sim-nodocumentdetected"]
        let session = try await bench.session(client: client)
        #expect(try await failure { try await bench.runDocument(session) } == .noDocumentDetected)
    }

    @Test func aMagicNumberDecidesAtTheStepOfItsError() async throws {
        let bench = try await ComponentBench()
        for name in ["InvalidSession", "InvalidValidationCode", "SessionExpired", "ConfigurationNotSupported"] {
            let client = magic(name)
            #expect(try await failure { try await bench.session(client: client) }?.rawValue == name)
        }
        for name in ["DocumentTypeNotSupported", "IssuingCountryNotSupported", "InvalidWorkflowStatus"] {
            let session = try await bench.session(client: magic(name))
            #expect(try await failure { try await bench.startDocument(session) }?.rawValue == name)
        }
        for name in ["Canceled", "DocumentExpired", "NoDocumentDetected", "Unexpected"] {
            let session = try await bench.session(client: magic(name))
            #expect(try await failure { try await bench.runDocument(session) }?.rawValue == name)
        }
    }

    @Test func aMagicNumberIsAboutTheDocumentIfTheWorkflowHasOne() async throws {
        let bench = try await ComponentBench()
        try await bench.runBiometrics(bench.session(client: magic("Canceled")))
        let alone = try await bench.session("selfie-only", client: magic("Canceled"))
        #expect(try await failure { try await bench.runBiometrics(alone) } == .canceled)
        for name in ["DocumentExpired", "DocumentTypeNotSupported"] {
            try await bench.runBiometrics(bench.session("selfie-only", client: magic(name)))
        }
    }

    @Test func aWrongCheckDigitEndsAComponentSuccessfully() async throws {
        let bench = try await ComponentBench()
        let result = try await bench.runDocument(bench.session(client: magic("ValidationErrors")))
        #expect(result.documentResult.mrtdMrzInfo?.validationErrors == ["documentNumber"])
        let good = try await bench.runDocument(bench.session())
        #expect(good.documentResult.mrtdMrzInfo?.validationErrors == [])
        try await bench.rule("ValidationErrors", match: ["component": "document"])
        let ruled = try await bench.runDocument(bench.session(client: magic("Canceled")))
        #expect(ruled.documentResult.mrtdMrzInfo?.validationErrors == ["documentNumber"])
    }

    @Test func anUnexpectedErrorHasAMessageCodeOfItsOwn() async throws {
        let bench = try await ComponentBench()
        var codes: Set<String> = []
        for _ in 1...2 {
            let session = try await bench.session(client: magic("Unexpected"))
            let error = try #require(try await refusal { try await bench.runDocument(session) })
            guard case .fact(let fact) = error.payload, let fact = fact as? WorkflowFact else { throw error }
            codes.insert(try #require(fact.messageCode))
        }
        #expect(codes.count == 2 && codes.someAndAll { $0.utf8.count == 8 })
    }

    // MARK: Outcome rules

    @Test func anOutcomeRulePrecedesTheMagicNumberAndStopsAfterItsTimes() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("Canceled", times: 2, match: ["component": "document", "client_id": "magic"])
        var ends: [WorkflowFailure?] = []
        for _ in 1...3 {
            let session = try await bench.session(client: magic("NoDocumentDetected"))
            ends.append(try await failure { try await bench.runDocument(session) })
        }
        #expect(ends == [.canceled, .canceled, .noDocumentDetected])
        #expect(try await bench.hits() == [2])
    }

    @Test func theOldestRuleDecidesUntilItsTimesAreUsed() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("Canceled", times: 1, match: ["component": "biometrics"])
        try await bench.rule("Unexpected", match: ["component": "biometrics"])
        var ends: [WorkflowFailure?] = []
        for _ in 1...3 {
            let session = try await bench.session()
            ends.append(try await failure { try await bench.runBiometrics(session) })
        }
        #expect(ends == [.canceled, .unexpected, .unexpected])
        #expect(try await bench.hits() == [1, 2])
    }

    @Test func aRuleDecidesOnlyWhatMeetsAllItsConditions() async throws {
        let bench = try await ComponentBench()
        let match: JSONObject = [
            "component": "document", "workflow": "onboarding", "client_id": "x", "document_type": "idCard",
            "issuing_country": "FRA",
        ]
        try await bench.rule("Canceled", match: match)
        for (workflow, client, type, country) in [
            ("document-only", "x", IdentityDocument.idCard, "FRA"), ("onboarding", "y", .idCard, "FRA"),
            ("onboarding", "x", .passport, "FRA"), ("onboarding", "x", .idCard, "NLD"),
        ] {
            let session = try await bench.session(workflow, client: ["client_id": .string(client)])
            try await bench.runDocument(session, type, country)
        }
        #expect(try await bench.hits() == [0])
        let session = try await bench.session(client: ["client_id": "x"])
        #expect(try await failure { try await bench.runDocument(session, .idCard, "FRA") } == .canceled)
        #expect(try await bench.hits() == [1])
    }

    @Test func aRuleIsUsedOnlyAtTheStepOfItsError() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("DocumentExpired", match: ["component": "document"])
        try await bench.rule("IssuingCountryNotSupported", times: 1, match: ["component": "document"])
        try await bench.rule("Canceled", match: ["component": "biometrics"])
        let session = try await bench.session()
        #expect(try await failure { try await bench.startDocument(session) } == .issuingCountryNotSupported)
        #expect(try await bench.hits() == [0, 1, 0])
        #expect(try await failure { try await bench.runDocument(session) } == .documentExpired)
        #expect(try await bench.hits() == [1, 1, 0])
    }

    @Test func aRuleDecidesMockSessionsToo() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("PersonNotAdult", match: ["component": "document", "workflow": "mock"])
        try await bench.runDocument(bench.session())
        let session = try await bench.start("IDV", .mock).session_id
        #expect(try await failure { try await bench.runDocument(session) } == .personNotAdult)
    }

    @Test func aStartIsDecidedByARuleThenARejectionThenAMagicNumber() async throws {
        let bench = try await ComponentBench()
        let code = try await bench.code(client: magic("InvalidSession"))
        #expect(try await failure { try await bench.start(code) } == .invalidSession)
        try await bench.rule("ClientRejected", times: 1, match: ["component": "session"])
        #expect(try await failure { try await bench.start(code) } == .clientRejected)
        #expect(try await failure { try await bench.start(code) } == .clientRejected)
        try await bench.rule("SessionExpired", match: ["component": "session"])
        #expect(try await failure { try await bench.start(code) } == .sessionExpired)
        #expect(try await bench.hits() == [1, 1])
    }

    // MARK: Quality

    @Test func aMagicNumberSpoilsTheFirstUploadOfEachPicture() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session("document-only", client: magic("cut_off"))
        #expect(try await bench.startDocument(session, .idCard).realTimeFeedback)
        #expect(try await bench.upload(session, "front").quality == .cutOff)
        #expect(try await bench.upload(session, "front").quality == .ok)
        #expect(try await bench.upload(session, "back").quality == .cutOff)
        let refused = try #require(try await refusal { try await bench.finishDocument(session) })
        #expect(refused.details.map(\.field) == ["back"])
        let shown = try #require(try await bench.show(session).components?.first)
        #expect(shown.images.map(\.isUploaded) == [true, false])
        #expect(try await bench.upload(session, "back").quality == .ok)
        _ = try await bench.finishDocument(session)
    }

    @Test func aQualityRulePrecedesTheMagicNumberAndStopsAfterItsTimes() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("blurry", times: 2, match: ["component": "document"])
        let session = try await bench.session("document-only", client: magic("glare"))
        _ = try await bench.startDocument(session, .idCard)
        var found: [ImageQuality?] = []
        for side in ["front", "front", "front", "back"] { found.append(try await bench.upload(session, side).quality) }
        #expect(found == [.blurry, .blurry, .ok, .glare])
        #expect(try await bench.hits() == [2])
    }

    @Test func aWorkflowWithoutFeedbackJudgesNoPicture() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("blurry", match: ["component": "document"])
        let session = try await bench.session(client: magic("glare"))
        #expect(try await !bench.startDocument(session).realTimeFeedback)
        #expect(try await bench.upload(session).quality == nil)
        #expect(try await bench.hits() == [0])
        try await bench.upload(session, "front", isAngled: true)
        try await bench.uploadVideo(session)
        _ = try await bench.finishDocument(session)
    }

    // MARK: Rejections

    @Test func aRejectedClientGetsNoCode() async throws {
        let bench = try await ComponentBench()
        let early = try await bench.code(client: ["client_id": "bad"])
        let session = try await bench.session(client: ["client_id": "bad", "document_number": "sim-ClientRejected"])
        #expect(try await failure { try await bench.runDocument(session) } == .clientRejected)
        #expect(try await failure { try await bench.code(client: ["client_id": "bad"]) } == .clientRejected)
        #expect(try await failure { try await bench.start(early) } == .clientRejected)
        await bench.wait("1d")
        #expect(try await failure { try await bench.code(client: ["client_id": "bad"]) } == .clientRejected)
        #expect(try await bench.subjects(.clientRejected) == ["bad"])
    }

    @Test func aRejectionAppliesToOneClientOfOneOrganization() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("ClientRejected", times: 1, match: ["component": "document"])
        let session = try await bench.session(client: ["client_id": "bad"])
        #expect(try await failure { try await bench.runDocument(session) } == .clientRejected)
        for client in ["Bad", "good"] {
            try await bench.runDocument(bench.session(client: ["client_id": .string(client)]))
        }
        let other = try await bench.code(client: ["client_id": "bad"], ComponentBench.otherSeller)
        try await bench.runDocument(bench.start(other).session_id)
    }

    @Test func aRejectionInAMockSessionAffectsNoLaterSession() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("ClientRejected", times: 2, match: ["workflow": "mock", "component": "session"])
        try await bench.rule("ClientRejected", times: 1, match: ["workflow": "mock", "component": "document"])
        for _ in 1...2 { #expect(try await failure { try await bench.start("IDV", .mock) } == .clientRejected) }
        let session = try await bench.start("IDV", .mock).session_id
        #expect(try await failure { try await bench.runDocument(session) } == .clientRejected)
        #expect(try await bench.start("IDV", .mock).available)
        #expect(try await bench.subjects(.clientRejected) == [])
    }
}
