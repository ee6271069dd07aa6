import Storage
import Testing

@testable import Simulation

@Suite struct EventFeedTests {
    private func event(_ sequence: Int64) -> EventRecord {
        EventRecord(sequence: sequence, at: Instant(microseconds: 0), kind: "x", subject: "s", data: "{}")
    }

    /// A restore may bring a log of any length.
    @Test func theLogOfAReplacedStateIsNotRead() {
        let feed = EventFeed()
        feed.open(epoch: "e", sequence: 2, generation: 1)
        feed.follow(generation: 2, last: { 1_000_000 }) { _ in
            Issue.record("the log was read")
            return []
        }
        var asked: [Int64] = []
        feed.follow(generation: 2, last: { 0 }) { sequence in
            asked.append(sequence)
            return sequence == 1_000_000 ? [event(1_000_001), event(1_000_002)] : []
        }
        #expect(asked == [1_000_000, 1_000_002], "in pages, until there are no more")
    }

    @Test func aLogThatCannotBeReadIsReadTheNextTime() throws {
        struct Broken: Error {}
        let feed = EventFeed()
        feed.open(epoch: "e", sequence: 2, generation: 1)
        #expect(throws: Broken.self) { try feed.follow(generation: 2, last: { throw Broken() }) { _ in [] } }
        var asked: [Int64] = []
        feed.follow(generation: 2, last: { 7 }) { sequence in
            asked.append(sequence)
            return []
        }
        #expect(asked == [])
        feed.follow(generation: 2, last: { 0 }) { sequence in
            asked.append(sequence)
            return []
        }
        #expect(asked == [7])
    }
}
