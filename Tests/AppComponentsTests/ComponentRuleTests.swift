import AppComponentsAPI
import AppComponentsStorage
import Foundation
import SimulationAPI
import Storage
import Testing

@testable import AppComponents
@testable import Simulation

/// Components [D component-order]: from their start to their end.
@Suite struct ComponentRuleTests {
    @Test func aComponentThatTheWorkflowLacksIsNotSupported() async throws {
        let bench = try await ComponentBench()
        let (selfie, document) = (try await bench.session("selfie-only"), try await bench.session("document-only"))
        #expect(try await failure { try await bench.startDocument(selfie) } == .configurationNotSupported)
        #expect(try await failure { try await bench.startBiometrics(document) } == .configurationNotSupported)
        try await bench.runBiometrics(selfie)
        try await bench.runDocument(document)
    }

    @Test func aComponentRunsOnce() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        let state = try await bench.startDocument(session)
        #expect(try await failure { try await bench.startDocument(session) } == .invalidWorkflowStatus)
        try await bench.uploadAll(session, state)
        _ = try await bench.finishDocument(session)
        #expect(try await failure { try await bench.startDocument(session) } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.upload(session) } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.uploadVideo(session) } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.finishDocument(session) } == .invalidWorkflowStatus)
        let cancel = CancelComponent(sessionID: session, .document)
        #expect(try await failure { try await bench.app(cancel).get() } == .invalidWorkflowStatus)
        #expect(try await bench.run(session).status == .finished)
    }

    @Test func aFailedComponentCannotRunAgainAndTheOtherCan() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session(client: ["client_id": "underage"])
        #expect(try await failure { try await bench.runDocument(session) } == .personNotAdult)
        #expect(try await failure { try await bench.runDocument(session) } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.finishDocument(session) } == .invalidWorkflowStatus)
        try await bench.runBiometrics(session)
        #expect(try await bench.show(session).components?.map(\.status) == [.failed, .finished])
    }

    @Test func aComponentThatIsCanceledHasFailed() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        let cancel = CancelComponent(sessionID: session, .document)
        #expect(try await failure { try await bench.app(cancel).get() } == .invalidWorkflowStatus)
        _ = try await bench.startDocument(session)
        await bench.wait("1m")
        #expect(try await failure { try await bench.app(cancel).get() } == .canceled)
        let run = try await bench.run(session)
        #expect(run.status == .failed && run.error == "Canceled")
        #expect(run.endedAt == ComponentBench.morning + .minute)
        #expect(try await failure { try await bench.startDocument(session) } == .invalidWorkflowStatus)
    }

    @Test func aComponentMustBeStartedBeforeUploadsAndFinish() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session)
        #expect(try await failure { try await bench.upload(session, "selfie") } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.uploadVideo(session, .biometrics) } == .invalidWorkflowStatus)
        #expect(try await failure { try await bench.finishBiometrics(session) } == .invalidWorkflowStatus)
        // The state comes before the file.
        let broken = Data("no picture".utf8)
        #expect(
            try await failure { try await bench.upload(session, "selfie", broken) } == .invalidWorkflowStatus)
    }

    @Test(
        arguments: [
            (.passport, "NLD", true), (.passport, nil, false), (.driversLicense, "FRA", true),
            (.frenchIdCard, "FRA", true), (.frenchIdCard, "NLD", false), (.frenchIdCard, nil, false),
            (.dutchDriversLicense, "NLD", true), (.dutchDriversLicense, "FRA", false), (.proofOfAddress, nil, true),
            (.proofOfAddress, "NLD", false), (.tinReferenceDocument, nil, true), (.tinReferenceDocument, "NLD", false),
        ] as [(IdentityDocument, String?, Bool)])
    func theDocumentTypeMustFitTheCountry(type: IdentityDocument, country: String?, isFit: Bool) async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        let found = try await failure { try await bench.startDocument(session, type, country) }
        #expect(found == (isFit ? nil : .incorrectConfiguration))
        #expect(try await bench.show(session).components?.count == (isFit ? 1 : 0))
    }

    @Test func theWorkflowsTypesAndCountriesAreCheckedAtTheStart() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session("document-only")
        for (type, country, expected) in [
            (IdentityDocument.paperId, "NLD", WorkflowFailure.documentTypeNotSupported),
            (.proofOfAddress, nil, .documentTypeNotSupported), (.passport, "USA", .issuingCountryNotSupported),
            (.paperId, "USA", .documentTypeNotSupported),
        ] as [(IdentityDocument, String?, WorkflowFailure)] {
            #expect(try await failure { try await bench.startDocument(session, type, country) } == expected)
        }
        // A refused start does not use the component.
        try await bench.runDocument(session)
    }

    @Test func finishNeedsEverySideAndTheVideo() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        let state = try await bench.startDocument(session, .idCard)
        try #require(state.images.count == 4)
        var missing = ["front", "front?angled=true", "back", "back?angled=true", "video"]
        for image in state.images {
            let refused = try #require(try await refusal { try await bench.finishDocument(session) })
            #expect(refused.details.map(\.field) == missing)
            try await bench.upload(session, image.fileSide, isAngled: image.isAngled)
            missing.removeFirst()
        }
        #expect(try await failure { try await bench.finishDocument(session) } == .incorrectConfiguration)
        #expect(try await bench.run(session).status == .started)
        try await bench.uploadVideo(session)
        let result = try await bench.finishDocument(session)
        #expect(result.documentResult.images.map(\.fileSide) == ["front", "front", "back", "back"])
        #expect(result.documentResult.images.map(\.isAngled) == [false, true, false, true])
    }

    @Test func anUnexpectedPictureOrVideoIsRefused() async throws {
        let bench = try await ComponentBench()
        let (flat, full) = (try await bench.session("document-only"), try await bench.session())
        _ = try await bench.startDocument(flat)
        let state = try await bench.startDocument(full, .proofOfAddress, nil)
        #expect(state.images.map(\.isAngled) == [false], "only primary documents are tilted")
        for session in [flat, full] {
            let back = try await refusal { try await bench.upload(session, "back") }
            #expect(back?.kind == .invalid && back?.details.map(\.field) == ["side"])
            let tilted = try await refusal { try await bench.upload(session, "front", isAngled: true) }
            #expect(tilted?.kind == .invalid && tilted?.details.map(\.field) == ["angled"])
        }
        let video = try await refusal { try await bench.uploadVideo(flat) }
        #expect(video?.kind == .invalid && video?.details.map(\.field) == ["video"])
    }

    @Test func aBrokenFileIsRefusedAndTheOneBeforeItStays() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session, .proofOfAddress, nil)
        let (picture, video) = (try await bench.upload(session), try await bench.uploadVideo(session))
        let broken = Data("no picture".utf8)
        #expect(try await refusal { try await bench.upload(session, "front", broken) }?.kind == .imageRejected)
        let half = ComponentBench.video.dropLast()
        #expect(try await refusal { try await bench.uploadVideo(session, .document, half) }?.kind == .imageRejected)
        #expect(try await bench.areThere(picture, video) == [true, true])
        _ = try await bench.finishDocument(session)
    }

    @Test func aReplacedFileIsReleased() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session)
        let first = try await bench.upload(session, "front", ComponentBench.picture("first"))
        let second = try await bench.upload(session, "front", ComponentBench.picture("second"))
        #expect(try await bench.areThere(first, second) == [false, true])
        try await bench.upload(session, "front", ComponentBench.picture("second"))
        #expect(try await bench.areThere(second) == [true])
    }

    @Test(arguments: [(0, "0.0"), (5, "0.005"), (4000, "4.0"), (4200, "4.2"), (4230, "4.23"), (86_400_000, "86400.0")])
    func durationsAreSecondsWithAFraction(milliseconds: Int64, text: String) {
        let file = ComponentFileRecord(
            sessionID: "", component: .document, name: "video", isAngled: false, sha256: "", bytes: 1,
            mediaType: "video/mp4", quality: nil, duration: milliseconds, uploads: 1,
            uploadedAt: ComponentBench.morning)
        #expect(Files.seconds(file) == text)
    }
}

/// The states of sessions and components as they are stored.
@Suite struct StoredStateRuleTests {
    @Test func statesAreStoredAndShown() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session(client: ["client_id": "underage"])
        #expect(try await bench.record(session).endReason == nil)
        _ = try await bench.startBiometrics(session)
        #expect(try await bench.run(session, .biometrics).status == .started)
        #expect(try await failure { try await bench.runDocument(session) } == .personNotAdult)
        #expect(try await bench.run(session).status == .failed)
        #expect(try await bench.run(session).error == "PersonNotAdult")
        #expect(try await bench.show(session).components?.map(\.status) == [.failed, .started])
        let cleared = try await bench.session("document-only")
        try await bench.runDocument(cleared)
        #expect(try await bench.run(cleared).status == .finished)
        _ = try await bench.app(ByID<ClearWorkflowSession>(cleared))
        #expect(try await bench.record(cleared).endReason == .cleared)
        await bench.wait("1h")
        #expect(try await bench.record(session).endReason == .expired)
    }

    @Test func anUnknownStoredStateIsShownAsItIs() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session)
        try await bench.job { job in
            try job.transaction.run("UPDATE component_runs SET status = 'paused'")
            try job.transaction.run("UPDATE component_sessions SET end_reason = 'archived', ended_at = started_at")
        }
        let shown = try await bench.show(session)
        #expect(!shown.available && shown.status == .init(rawValue: "archived"))
        #expect(shown.components?.map(\.status) == [.init(rawValue: "paused")])
        let document = try WireJSON.decode(JSONValue.self, from: WireJSON.encode(shown))
        #expect(document.members?["status"] == "archived")
        let components = try #require(document.members?["components"]?.elements)
        #expect(components.map { $0.members?["status"] } == ["paused"])
        #expect(try await failure { try await bench.upload(session) } == .sessionExpired)
    }

    @Test func everyKnownStateIsReadFromItsText() {
        for status in WorkflowSessionInfo.Status.allCases {
            #expect(WorkflowSessionInfo.Status(rawValue: status.rawValue) == status)
        }
        for status in ComponentState.Status.allCases {
            #expect(ComponentState.Status(rawValue: status.rawValue) == status)
        }
        #expect(WorkflowSessionInfo.Status(rawValue: "Active") != .active)
        #expect(ComponentState.Status(rawValue: "").rawValue.isEmpty)
    }
}
