import NIOConcurrencyHelpers
import Testing

@testable import Simulation

/// Who may join a read that waits, and when a read is no longer wanted.
@Suite struct ReadGroupTests {
    private final class Caller: CallerPresence {
        private let hasGone = NIOLockedValueBox(false)
        var isGone: Bool { hasGone.withLockedValue { $0 } }
        func leave() { hasGone.withLockedValue { $0 = true } }
    }

    @Test func aReadIsJoinedOnlyAtTheEndOfTheLineAndBeforeItBegins() {
        let group = ReadGroup(Caller())
        #expect(!group.join(Caller()) { 0 }, "it is not in line yet")
        group.posted(at: 4)
        #expect(group.join(Caller()) { 4 })
        #expect(!group.join(Caller()) { 5 }, "other work is behind it")
        #expect(group.join(Caller()) { 4 })
        #expect(group.begin())
        #expect(!group.join(Caller()) { 4 }, "it has begun")
    }

    @Test func aReadIsWantedUntilItsLastCallerHasGone() {
        let (first, second) = (Caller(), Caller())
        let group = ReadGroup(first)
        group.posted(at: 1)
        #expect(group.join(second) { 1 })
        first.leave()
        #expect(!group.isGone && group.begin())
        second.leave()
        #expect(group.isGone && !group.begin())
    }

    private let control = RequestHead(isControl: true, isSafe: true)

    /// What was due by then runs before the next request, as if the read had never been sent.
    @Test func aReadThatIsNotBegunRunsNoDueWork() async throws {
        let server = ParcelServer()
        try await server.run { _, namespace in
            _ = try await namespace.answer(.success(SendParcel(to: "Ann")), RequestHead(isControl: true)).result.get()
            server.wait("2h")
            let caller = Caller()
            caller.leave()
            var head = control
            head.caller = caller
            let due = namespace.wakeTime
            guard case .failure(let error) = await namespace.answer(.success(ShowClock()), head).result else {
                Issue.record("it was begun")
                return
            }
            #expect(error.kind == .abandoned && namespace.wakeTime == due && due != nil)
            _ = try await namespace.answer(.success(ShowClock()), control).result.get()
            #expect(namespace.wakeTime == nil)
        }
    }
}
