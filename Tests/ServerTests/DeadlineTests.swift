import NIOConcurrencyHelpers
import NIOEmbedded
import Testing

@testable import Server

@Suite struct DeadlineTests {
    private let loop = EmbeddedEventLoop()
    private let passed = NIOLockedValueBox<[String]>([])

    private func begin(_ name: String, seconds: Int64, on deadlines: Deadlines) -> Int {
        deadlines.begin(in: .seconds(seconds)) { [passed] in passed.withLockedValue { $0.append(name) } }
    }

    @Test func aDeadlineThatIsNotEndedPassesOnceAtItsTime() {
        let deadlines = Deadlines(on: loop)
        _ = begin("a", seconds: 30, on: deadlines)
        loop.advanceTime(by: .milliseconds(29_999))
        #expect(passed.withLockedValue { $0 } == [])
        loop.advanceTime(by: .milliseconds(1))
        #expect(passed.withLockedValue { $0 } == ["a"])
        loop.advanceTime(by: .seconds(100))
        #expect(passed.withLockedValue { $0 } == ["a"])
    }

    @Test func anEndedDeadlineNeverPassesAndLaterOnesDo() {
        let deadlines = Deadlines(on: loop)
        let ended = begin("ended", seconds: 30, on: deadlines)
        loop.advanceTime(by: .seconds(10))
        _ = begin("later", seconds: 30, on: deadlines)
        deadlines.end(ended)
        loop.advanceTime(by: .seconds(29))
        #expect(passed.withLockedValue { $0 } == [])
        loop.advanceTime(by: .seconds(1))
        #expect(passed.withLockedValue { $0 } == ["later"])
        _ = begin("third", seconds: 5, on: deadlines)
        loop.advanceTime(by: .seconds(5))
        #expect(passed.withLockedValue { $0 } == ["later", "third"], "a later one schedules a new check")
    }

    @Test func aShorterDeadlineDoesNotWaitForEarlierLongerOnes() {
        let deadlines = Deadlines(on: loop)
        _ = begin("long", seconds: 30, on: deadlines)
        _ = begin("short", seconds: 1, on: deadlines)
        loop.advanceTime(by: .seconds(1))
        #expect(passed.withLockedValue { $0 } == ["short"])
        _ = begin("between", seconds: 10, on: deadlines)
        loop.advanceTime(by: .seconds(10))
        #expect(passed.withLockedValue { $0 } == ["short", "between"])
        loop.advanceTime(by: .seconds(19))
        #expect(passed.withLockedValue { $0 } == ["short", "between", "long"])
    }
}
