import AppComponentsAPI
import SimulationAPI
import Storage
import Testing

@testable import AppComponents
@testable import Simulation

/// Validation codes and sessions [D code-lifetime, D session-of-workflow]: from a code to the end of its session.
@Suite struct WorkflowSessionRuleTests {
    @Test func aCodeIsForOneSession() async throws {
        let bench = try await ComponentBench()
        let code = try await bench.code()
        let session = try await bench.start(code)
        #expect(session.available && session.status == .active && session.components?.isEmpty == true)
        #expect(try await failure { try await bench.start(code) } == .invalidValidationCode)
        #expect(try await failure { try await bench.start("unknown") } == .invalidValidationCode)
        _ = try await bench.app(ByID<ClearWorkflowSession>(session.session_id))
        #expect(try await failure { try await bench.start(code) } == .invalidValidationCode)
    }

    @Test func aStartThatIsRefusedLeavesTheCodeUsable() async throws {
        let bench = try await ComponentBench()
        try await bench.rule("SessionExpired", times: 1, match: ["component": "session"])
        let code = try await bench.code()
        #expect(try await failure { try await bench.start(code) } == .sessionExpired)
        #expect(try await bench.start(code).available)
    }

    @Test func aCodeExpiresExactlyTwoHoursAfterItsCreation() async throws {
        let bench = try await ComponentBench()
        let (early, late) = (try await bench.code(), try await bench.code())
        let end = ComponentBench.morning + Span("2h")!
        await bench.wait(until: end - ComponentBench.microsecond)
        let younger = try await bench.code()
        #expect(try await bench.start(early).available)
        await bench.wait(until: end)
        #expect(try await failure { try await bench.start(late) } == .invalidValidationCode)
        #expect(try await bench.start(younger).available)
    }

    @Test func lifetimesFollowTheSettings() async throws {
        let bench = try await ComponentBench(settings: ["code_lifetime": "10m", "session_lifetime": "30m"])
        let code = try await bench.code()
        let session = try await bench.session()
        await bench.wait("10m")
        #expect(try await failure { try await bench.start(code) } == .invalidValidationCode)
        await bench.wait(until: ComponentBench.morning + Span("30m")! - ComponentBench.microsecond)
        #expect(try await bench.show(session).status == .active)
        await bench.wait(until: ComponentBench.morning + Span("30m")!)
        #expect(try await bench.show(session).status == .expired)
    }

    @Test func aSessionExpiresExactlyAtItsEnd() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session)
        let end = ComponentBench.morning + .hour
        await bench.wait(until: end - ComponentBench.microsecond)
        try await bench.upload(session)
        #expect(try await bench.show(session).available)
        await bench.wait(until: end)
        let shown = try await bench.show(session)
        #expect(!shown.available && shown.status == .expired && shown.expires_at == end.epoch)
        #expect(try await failure { try await bench.startBiometrics(session) } == .sessionExpired)
        #expect(try await failure { try await bench.upload(session) } == .sessionExpired)
        #expect(try await failure { try await bench.uploadVideo(session) } == .sessionExpired)
        #expect(try await failure { try await bench.finishDocument(session) } == .sessionExpired)
    }

    @Test func aSessionEndsAtItsTimeHoweverLateTheNextRequestIs() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        await bench.wait("5h")
        let record = try await bench.record(session)
        #expect(record.endedAt == ComponentBench.morning + .hour && record.endedAt == record.expiresAt)
        #expect(try await bench.subjects(.workflowSessionExpired) == [session])
    }

    @Test func anExpiredSessionReleasesItsFilesButNotThoseOfAnother() async throws {
        let bench = try await ComponentBench()
        let first = try await bench.session()
        _ = try await bench.startDocument(first)
        let own = try await bench.upload(first, "front", ComponentBench.picture("own"))
        let shared = try await bench.upload(first, "front", isAngled: true, ComponentBench.picture("shared"))
        let video = try await bench.uploadVideo(first)
        await bench.wait("30m")
        let second = try await bench.session()
        _ = try await bench.startDocument(second)
        try await bench.upload(second, "front", ComponentBench.picture("shared"))
        await bench.wait(until: ComponentBench.morning + .hour - ComponentBench.microsecond)
        #expect(try await bench.areThere(own, shared, video) == [true, true, true])
        await bench.wait(until: ComponentBench.morning + .hour)
        #expect(try await bench.areThere(own, shared, video) == [false, true, false])
        await bench.wait("30m")
        #expect(try await bench.areThere(shared) == [false])
    }

    @Test func aClearedSessionCannotBeUsedAgain() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        _ = try await bench.startDocument(session)
        let file = try await bench.upload(session)
        let cleared = try await bench.app(ByID<ClearWorkflowSession>(session))
        #expect(!cleared.available && cleared.status == .cleared)
        #expect(try await bench.areThere(file) == [false])
        #expect(try await failure { try await bench.startBiometrics(session) } == .invalidSession)
        #expect(try await failure { try await bench.upload(session) } == .invalidSession)
        #expect(try await failure { try await bench.finishDocument(session) } == .invalidSession)
        let find = FindComponentFile(sessionID: session, .document, side: "front")
        #expect(try await failure { try await bench.app(find) } == .invalidSession)
    }

    @Test func aClearedSessionStaysClearedAtItsEnd() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        await bench.wait("10m")
        _ = try await bench.app(ByID<ClearWorkflowSession>(session))
        #expect(try await bench.job { try $0.transaction.nextDue()?.dueAt } == nil, "its expiry is not scheduled")
        await bench.wait("2h")
        #expect(try await bench.app(ByID<ClearWorkflowSession>(session)).status == .cleared)
        #expect(try await bench.record(session).endedAt == ComponentBench.morning + Span("10m")!)
        #expect(try await bench.subjects(.workflowSessionCleared) == [session])
        #expect(try await bench.subjects(.workflowSessionExpired) == [])
    }

    @Test func anExpiredSessionThatIsClearedStaysExpired() async throws {
        let bench = try await ComponentBench()
        let session = try await bench.session()
        await bench.wait("1h")
        #expect(try await bench.app(ByID<ClearWorkflowSession>(session)).status == .expired)
        #expect(try await failure { try await bench.startBiometrics(session) } == .sessionExpired)
    }

    @Test func anUnknownSessionIsNotAvailable() async throws {
        let bench = try await ComponentBench()
        let shown = try await bench.show("wfs_nothing")
        #expect(!shown.available && shown.status == .unknown && shown.workflow == nil)
        #expect(try await failure { try await bench.app(ByID<ClearWorkflowSession>("wfs_nothing")) } == .invalidSession)
        #expect(try await failure { try await bench.startDocument("wfs_nothing") } == .invalidSession)
    }

    @Test func aMockSessionNeedsNoCodeAndHasEveryComponent() async throws {
        let bench = try await ComponentBench()
        for _ in 1...2 {
            let session = try await bench.start("IDV", .mock)
            #expect(session.workflow?.id == "mock" && session.workflow?.components == [.document, .biometrics])
            try await bench.runDocument(session.session_id)
            try await bench.runBiometrics(session.session_id)
        }
        #expect(try await failure { try await bench.start("IDV", .production) } == .invalidValidationCode)
    }

    @Test func theClientOfAMockSessionIsOfAgeOnEveryClock() async throws {
        let bench = try await ComponentBench(at: Instant("1999-01-01T00:00:00Z")!)
        try await bench.runDocument(bench.start("IDV", .mock).session_id)
        let session = try await bench.session(client: ["birth_date": "1984-08-12"])
        #expect(try await failure { try await bench.runDocument(session) } == .personNotAdult)
    }

    @Test func aCodeNeedsAKnownTokenAndAKnownWorkflow() async throws {
        let bench = try await ComponentBench()
        #expect(try await refusal { try await bench.code("onboarding", .token("wrong")) }?.kind == .unauthorized)
        #expect(try await refusal { try await bench.code("onboarding", .missing) }?.kind == .unauthorized)
        #expect(try await refusal { try await bench.code("nothing") }?.kind == .notFound)
        #expect(try await refusal { try await bench.code("mock") }?.kind == .notFound)
    }

    @Test func aWorkflowThatIsNotSupportedStartsNoSession() async throws {
        let bench = try await ComponentBench()
        #expect(try await failure { try await bench.session("retired") } == .configurationNotSupported)
        #expect(try await bench.subjects(.workflowSessionStarted) == [])
    }

    @Test func aListEndsWithItsOldestSession() async throws {
        let bench = try await ComponentBench()
        for _ in 0..<3 { _ = try await bench.session() }
        func page(_ limit: Int, _ cursor: String? = nil) async throws -> WorkflowSessionList {
            try await bench.control(ListWorkflowSessions(limit: limit, cursor: cursor))
        }
        let exact = try await page(3)
        #expect(exact.sessions.count == 3 && exact.next_cursor == nil, "the page ends exactly with the list")
        let first = try await page(2)
        try #require(first.next_cursor != nil)
        let rest = try await page(2, first.next_cursor)
        #expect(first.sessions.count == 2 && rest.sessions.count == 1 && rest.next_cursor == nil)
    }
}
