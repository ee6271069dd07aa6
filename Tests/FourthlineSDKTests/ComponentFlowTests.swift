import EntrupySimTesting
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import FourthlineSDK

extension WorkflowSessionBuilder {
    /// Starts the session and waits for it.
    fileprivate func started() async throws -> WorkflowSession {
        try await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }.get()
    }
}

extension DocumentComponent {
    fileprivate func presented() async throws -> DocumentComponentResult {
        try await withCheckedContinuation { continuation in present { continuation.resume(returning: $0) } }.get()
    }
}

extension BiometricsComponent {
    fileprivate func presented() async throws -> BiometricsComponentResult {
        try await withCheckedContinuation { continuation in present { continuation.resume(returning: $0) } }.get()
    }
}

/// The flows of the vendor's document against the real server.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z", randomSeed: 20), .timeLimit(.minutes(10)))
struct ComponentFlowTests {
    private let passport = DocumentComponentConfig(type: .passport, issuingCountry: "NLD")

    /// A session of a workflow, with a code that a back end would create.
    private func session(
        _ sim: SimulatedNamespace, _ workflow: String = "onboarding", client: [String: String] = [:]
    ) async throws -> WorkflowSession {
        try await Orca.workflowSession(validationCode: sim.validationCode(workflow, client: client))
            .configure(with: WorkflowConfig(networkEnvironment: .sandbox)).started()
    }

    private func isolated(_ body: (SimulatedNamespace) async throws -> Void) async throws {
        let sim = try SimulatedNamespace.current
        try await FourthlineSimulation.isolated(baseURL: sim.url) { try await body(sim) }
    }

    @Test func bothComponentsOfAWorkflowSucceed() async throws {
        try await isolated { sim in
            let session = try await self.session(sim)
            let document = try await session.documentComponent(with: passport).presented()
            #expect(document.documentResult.images.map(\.isAngled) == [false, true])
            #expect(document.documentResult.images.someAndAll { $0.image == Placeholder.picture })
            #expect(document.documentResult.mrtdMrzInfo?.rawMrz.hasPrefix("P<NLDJANSEN<<SANNE<MARIA<") == true)
            #expect(document.documentResult.videoRecording?.duration == "4.2")
            #expect(document.documentAnalysis?.initials == "SM")
            let face = try await session.biometricsComponent().presented()
            #expect(face.selfie.timestamp == "2026-01-05T09:00:00.000000Z" && face.liveness?.duration == "4.2")
            await #expect(throws: WorkflowError.invalidWorkflowStatus) {
                try await session.biometricsComponent().presented()
            }
        }
    }

    /// The mock environment of this module answers what the platform's does.
    @Test(arguments: DocumentType.allCases)
    func theMockEnvironmentMatchesThePlatforms(type: DocumentType) async throws {
        try await isolated { sim in
            let country: String? =
                !type.isPrimary ? nil : type == .frenchIdCard ? "FRA" : type == .paperId ? "ITA" : "NLD"
            let config = DocumentComponentConfig(type: type, issuingCountry: country)
            struct Started: Decodable { let session_id: String }
            let started = try await ComponentsClient(address: FourthlineSimulation.current.address).post(
                "/components/sessions", ["validationCode": "IDV", "networkEnvironment": "mock"], as: Started.self)
            let onPlatform = try await WorkflowSession(id: started.session_id, simulation: .current)
                .documentComponent(with: config).presented()
            let offline = try await Orca.workflowSession(validationCode: "IDV")
                .configure(with: WorkflowConfig(networkEnvironment: .mock)).started()
                .documentComponent(with: config).presented()
            #expect(offline.documentAnalysis == onPlatform.documentAnalysis)
            let (here, there) = (offline.documentResult, onPlatform.documentResult)
            #expect(here.mrtdMrzInfo == there.mrtdMrzInfo && here.idlMrzInfo == there.idlMrzInfo)
            #expect(here.videoRecording == there.videoRecording)
            #expect(
                here.images.map { "\($0.fileSide) \($0.isAngled)" }
                    == there.images.map { "\($0.fileSide) \($0.isAngled)" })
            #expect(here.images.map(\.location) == there.images.map(\.location))
        }
    }

    @Test(arguments: WorkflowError.IdentityVerification.allCases)
    func everyErrorOfTheModuleArrives(error: WorkflowError.IdentityVerification) async throws {
        try await isolated { sim in
            let session = try await self.session(sim, client: ["document_number": "sim-\(error.rawValue)"])
            await #expect(throws: WorkflowError.moduleError(error)) {
                try await session.documentComponent(with: passport).presented()
            }
        }
    }

    @Test(arguments: [
        ("Canceled", WorkflowError.canceled), ("ClientRejected", .clientRejected),
        ("InvalidWorkflowStatus", .invalidWorkflowStatus),
    ])
    func everyOtherErrorOfComponentsArrives(name: String, error: WorkflowError) async throws {
        try await isolated { sim in
            let session = try await self.session(sim, client: ["document_number": "sim-\(name)"])
            await #expect(throws: error) { try await session.documentComponent(with: passport).presented() }
        }
    }

    @Test func anUnexpectedErrorHasItsMessageCode() async throws {
        try await isolated { sim in
            let session = try await self.session(sim, client: ["document_number": "sim-Unexpected"])
            do {
                _ = try await session.documentComponent(with: passport).presented()
                Issue.record("the component succeeded")
            } catch WorkflowError.unexpected(let code, let text) {
                #expect(code?.utf8.count == 8 && text.contains(code ?? "?"))
            }
        }
    }

    @Test func errorsOfSessionsArrive() async throws {
        try await isolated { sim in
            await #expect(throws: WorkflowError.configurationNotSupported) { try await self.session(sim, "retired") }
            await #expect(throws: WorkflowError.invalidSession(.sessionExpired)) {
                try await self.session(sim, client: ["document_number": "sim-SessionExpired"])
            }
            let sandbox = WorkflowConfig(networkEnvironment: .sandbox)
            await #expect(throws: WorkflowError.invalidSession(.invalidValidationCode)) {
                try await Orca.workflowSession(validationCode: "x").configure(with: sandbox).started()
            }
            let session = try await self.session(sim)
            try await sim.clock.advance(by: .hours(1))
            await #expect(throws: WorkflowError.invalidSession(.sessionExpired)) {
                try await session.biometricsComponent().presented()
            }
        }
    }

    @Test func rulesFaultsAndEventsAreDecidedByTheTest() async throws {
        try await isolated { sim in
            try await sim.outcome("NoDocumentDetected", for: [.component("document"), .clientID("jansen")], times: 1)
            let refused = try await self.session(sim)
            await #expect(throws: WorkflowError.moduleError(.noDocumentDetected)) {
                try await refused.documentComponent(with: passport).presented()
            }
            let session = try await self.session(sim)
            _ = try await session.documentComponent(with: passport).presented()
            try await sim.wait(for: .componentFinished(inSession: session.id ?? ""))
            try await sim.fault(.componentError("SessionExpired"), on: "/components/**")
            await #expect(throws: WorkflowError.invalidSession(.sessionExpired)) {
                try await session.biometricsComponent().presented()
            }
        }
    }

    @Test func aCancellationByThePersonIsSentToThePlatform() async throws {
        try await isolated { sim in
            let session = try await self.session(sim)
            FourthlineSimulation.script(.cancel)
            await #expect(throws: WorkflowError.canceled) {
                try await session.documentComponent(with: passport).presented()
            }
            try await sim.expectRequest("POST", "/components/sessions/*/document/cancel", times: 1)
            // The next component follows no script.
            _ = try await session.biometricsComponent().presented()
        }
    }

    @Test func aPictureIsTakenAgainUntilItIsGoodOrTheAttemptsAreOver() async throws {
        try await isolated { sim in
            let client = ["client_id": "b", "document_number": "sim-blurry"]
            let session = try await self.session(sim, "document-only", client: client)
            _ = try await session.documentComponent(with: passport).presented()
            let other = try await self.session(sim, "document-only", client: client)
            FourthlineSimulation.script(.submit(attempts: 1))
            do {
                _ = try await other.documentComponent(with: passport).presented()
                Issue.record("the component succeeded")
            } catch WorkflowError.unexpected(_, let text) {
                #expect(text == "the picture is blurry after 1 attempt")
            }
        }
    }
}

@Suite struct OfflineTests {
    private func offline<Value>(_ body: () async throws -> Value) async throws -> Value {
        // Nothing listens there.
        try await FourthlineSimulation.isolated(baseURL: URL(string: "http://127.0.0.1:9")!, operation: body)
    }

    private func mock() async throws -> WorkflowSession {
        try await Orca.workflowSession(validationCode: "IDV").configure(
            with: WorkflowConfig(networkEnvironment: .mock)
        ).started()
    }

    @Test func everyErrorIsScriptedWithoutAServer() async throws {
        try await offline {
            let errors =
                [WorkflowError.canceled, .clientRejected, .invalidWorkflowStatus, .unexpected(messageCode: "A", "b")]
                + WorkflowError.IdentityVerification.allCases.map(WorkflowError.moduleError)
            for error in errors {
                FourthlineSimulation.script(.fail(error))
                await #expect(throws: error) {
                    try await mock().documentComponent(with: .init(type: .idCard, issuingCountry: "DEU")).presented()
                }
            }
            FourthlineSimulation.failSessions(with: .invalidSession(.sessionExpired), .configurationNotSupported)
            await #expect(throws: WorkflowError.invalidSession(.sessionExpired)) { try await mock() }
            await #expect(throws: WorkflowError.configurationNotSupported) { try await mock() }
            FourthlineSimulation.script(.cancel)
            FourthlineSimulation.reset()
            _ = try await mock().biometricsComponent().presented()
        }
    }

    @Test(
        arguments: [
            (DocumentType.passport, nil), (.passport, "nld"), (.passport, "NL"), (.proofOfAddress, "NLD"),
            (.frenchIdCard, "NLD"),
            (.dutchDriversLicense, "FRA"),
        ] as [(DocumentType, String?)])
    func aWrongCountryIsNamed(type: DocumentType, country: String?) async throws {
        try await offline {
            do {
                _ = try await mock().documentComponent(with: .init(type: type, issuingCountry: country)).presented()
                Issue.record("the component succeeded")
            } catch WorkflowError.unexpected(_, let text) {
                #expect(text.hasPrefix("issuingCountry "))
            }
        }
    }

    @Test func aServerThatIsNotThereIsNamed() async throws {
        try await offline {
            do {
                _ = try await Orca.workflowSession(validationCode: "x").started()
                Issue.record("the session started")
            } catch WorkflowError.unexpected(_, let text) {
                #expect(text.contains("http://127.0.0.1:9 cannot be reached"))
            }
        }
    }
}
