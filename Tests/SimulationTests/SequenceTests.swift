import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Simulation

/// Requests in an order, and the gaps between them [D sequences] [D gaps].
@Suite struct SequenceTests {
    private struct Nothing: JournalHeaders, JournalBody {
        let pairs: [(name: String, value: String)] = []
        var data: Data { Data() }
        var bytes: Int { 0 }
    }

    /// A request. All times are in seconds; without real times its gaps are not known.
    private struct Asked {
        var path = "/a"
        var status = 200
        /// By the namespace's clock.
        var at = 0.0
        var started: Double?
        /// The start if absent.
        var ended: Double?
        /// The time by which tests have moved the clock; that of a clock that only they move if absent.
        var moved: Double?

        var entry: JournalEntry {
            let message = JournalEntry.Message(length: 0, kept: 0, headers: Nothing(), body: Nothing())
            let outcome = RequestOutcome(
                at: Self.instant(at), moved: Span(microseconds: Int64((moved ?? at) * 1e6)), generation: 0,
                journal: .init(entries: 0, bytes: 0, bodyBytes: 0), secrets: [])
            var entry = JournalEntry(
                requestID: path, method: "GET", path: path, query: "", status: status, milliseconds: 1,
                outcome: outcome, request: message, response: message)
            if let started {
                entry.times = RequestTimes(started: Self.instant(started), ended: Self.instant(ended ?? started))
            }
            return entry
        }

        private static func instant(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }
    }

    private static func journal(_ requests: [Asked]) -> JournalSnapshot {
        let journals = Journals()
        let settings = Settings.Journal(entries: 100_000, bytes: 1 << 30, bodyBytes: 0)
        for request in requests { journals.append(request.entry, to: "a", settings) }
        return journals.entries(of: "a")
    }

    /// A sequence of paths.
    private static func sequence(_ paths: [String], min: String? = nil, max: String? = nil) -> RequestSequence {
        RequestSequence(
            steps: paths.map { JournalQuery(route: Glob($0)) },
            gaps: GapBounds(min: min.flatMap { Span($0) }, max: max.flatMap { Span($0) }))
    }

    private static func gap(_ one: Asked, _ two: Asked) -> Span? { two.entry.gap(after: one.entry) }

    // MARK: Gaps

    @Test func onAFrozenClockRealTimeCounts() {
        let gap = Self.gap(Asked(started: 10, ended: 10.5), Asked(started: 10.56))
        #expect(gap == Span(microseconds: 60_000), "from the end of one to the start of the next")
    }

    /// A client that waits for `Retry-After` by the namespace's clock is not blamed.
    @Test func onAMovedClockTheTimeOfTheNamespaceCounts() {
        let gap = Self.gap(Asked(at: 0, started: 10, ended: 10.5), Asked(at: 7200, started: 10.56))
        #expect(gap == Span("2h"))
    }

    /// A running clock shows the time that a slow answer took, which its client did not wait.
    @Test func onARunningClockTheTimeOfASlowAnswerDoesNotCount() {
        let slow = Asked(at: 0, started: 10, ended: 20, moved: 3600)
        #expect(Self.gap(slow, Asked(at: 10.5, started: 20.5, moved: 3600)) == Span("0.5s"))
        #expect(Self.gap(slow, Asked(at: 7210.5, started: 20.5, moved: 10_800)) == Span("2h"))
        // A restart begins to count anew.
        #expect(Self.gap(slow, Asked(at: 10.5, started: 20.5, moved: 0)) == Span("0.5s"))
    }

    /// The search agrees with the gap that it finds: the clock ran while the first answer was held back.
    @Test func theSearchDoesNotTakeASlowAnswerForAGap() {
        let journal = Self.journal([
            Asked(path: "/a", at: 0, started: 0, ended: 10, moved: 0),
            Asked(path: "/a", at: 10, started: 10.01, moved: 0),
        ])
        let early = SequenceSearch(Self.sequence(["/a", "/a"], min: "5s"), in: journal)
        #expect(early.failedStep == 1 && early.places == nil)
        #expect(SequenceSearch(Self.sequence(["/a", "/a"], max: "1s"), in: journal).places == [0, 1])
    }

    @Test func aClockCountsItsMoves() {
        func instant(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }
        var clock = Clock(mode: .running(offset: 0), last: instant(0))
        clock.move(to: instant(150), real: instant(100))
        #expect(clock.moved == 50_000_000)
        clock.move(to: instant(160), real: instant(110))
        #expect(clock.moved == 50_000_000, "it had run there by itself")
        clock.mode = .frozen(clock.now(real: instant(110)))
        clock.move(to: instant(170), real: instant(900))
        #expect(clock.moved == 60_000_000)
    }

    @Test func theGapOfRequestsAtOnceIsZero() {
        #expect(Self.gap(Asked(at: 1, started: 10, ended: 12), Asked(at: 1, started: 11, ended: 13)) == .zero)
        #expect(Self.gap(Asked(at: 5, started: 10), Asked(at: 1, started: 10)) == .zero, "a restore set the clock back")
    }

    @Test func withoutRealTimesTheGapIsNotKnown() {
        #expect(Self.gap(Asked(at: 0), Asked(at: 7200, started: 10)) == nil)
        #expect(Self.gap(Asked(at: 0, started: 10), Asked(at: 7200)) == nil)
    }

    @Test func bothBoundsOfAGapAreAllowed() {
        let gaps = GapBounds(min: .second, max: .minute)
        #expect(gaps.allow(.second) && gaps.allow(.minute) && !gaps.allow(nil))
        #expect(!gaps.allow(Span(microseconds: 999_999)) && !gaps.allow(Span(microseconds: 60_000_001)))
        #expect(GapBounds().allow(nil) && GapBounds().allow(.zero))
    }

    // MARK: Order

    @Test func othersMayComeBetween() {
        let journal = Self.journal(["/x", "/a", "/x", "/b", "/a", "/c"].map { Asked(path: $0) })
        #expect(SequenceSearch(Self.sequence(["/a", "/b", "/c"]), in: journal).places == [1, 3, 5])
        #expect(SequenceSearch(Self.sequence(["/a", "/a"]), in: journal).places == [1, 4], "a request is one step")
        #expect(SequenceSearch(Self.sequence(["/c"]), in: journal).places == [5])
        for (paths, step) in [
            (["/b", "/b"], 1), (["/c", "/a"], 1), (["/a", "/b", "/x", "/c"], 2), (["/y", "/a"], 0),
        ] {
            let search = SequenceSearch(Self.sequence(paths), in: journal)
            #expect(search.failedStep == step && search.places == nil, "\(paths)")
        }
    }

    /// The first request of a step is too early, and a later one is right.
    @Test func aLaterRequestOfAStepMayHaveTheGap() {
        let late = Self.journal([
            Asked(path: "/a", started: 0), Asked(path: "/a", started: 10), Asked(path: "/b", started: 10.5),
        ])
        #expect(SequenceSearch(Self.sequence(["/a", "/b"], max: "1s"), in: late).places == [1, 2])
        // The first /b follows the first /a well, but leaves /c too near; the second one does not.
        let three = Self.journal([
            Asked(path: "/a", started: 0), Asked(path: "/b", started: 5), Asked(path: "/b", started: 8),
            Asked(path: "/c", started: 12),
        ])
        #expect(
            SequenceSearch(Self.sequence(["/a", "/b", "/c"], min: "5s", max: "10s"), in: three).places == [0, 1, 3])
        #expect(SequenceSearch(Self.sequence(["/a", "/b", "/c"], min: "4s", max: "6s"), in: three).failedStep == 2)
        #expect(
            SequenceSearch(Self.sequence(["/a", "/b", "/c"], min: "3s", max: "8s"), in: three).places == [0, 1, 3])
        #expect(
            SequenceSearch(Self.sequence(["/a", "/b", "/c"], min: "4s", max: "8s"), in: three).places == [0, 1, 3])
        #expect(SequenceSearch(Self.sequence(["/a", "/b", "/c"], min: "0s", max: "6s"), in: three).failedStep == 2)
    }

    /// Compared with a search through all choices, on random journals: clocks that are moved, requests at once, unknown times.
    @Test func theSearchFindsASequenceIfThereIsOne() {
        var random = SystemRandomNumberGenerator()
        for round in 0..<3_000 {
            var (at, real, moved) = (0.0, 0.0, 0.0)
            let requests = (0..<Int.random(in: 0...8, using: &random)).map { _ -> Asked in
                at += Double(Int.random(in: -1...4, using: &random))
                real += Double(Int.random(in: 0...3, using: &random))
                moved += Double(Int.random(in: 0...2, using: &random))
                let started = Int.random(in: 0..<8, using: &random) == 0 ? nil : real
                return Asked(
                    path: ["/a", "/b"].randomElement(using: &random)!, at: at + 10, started: started,
                    ended: started.map { $0 + Double(Int.random(in: 0...2, using: &random)) },
                    moved: Bool.random(using: &random) ? moved : nil)
            }
            let bounds = (0...3).map { "\($0)s" }
            let sequence = Self.sequence(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in ["/a", "/b", "*"].randomElement(using: &random)!
                },
                min: Bool.random(using: &random) ? bounds.randomElement(using: &random) : nil,
                max: Bool.random(using: &random) ? bounds.randomElement(using: &random) : nil)
            let journal = Self.journal(requests)
            let search = SequenceSearch(sequence, in: journal)
            let depth = Self.depth(sequence, journal)
            #expect(
                search.failedStep == (depth < sequence.steps.count ? depth : nil), "\(round): \(sequence) \(requests)")
            guard let places = search.places else { continue }
            #expect(places.count == sequence.steps.count && !zip(places, places.dropFirst()).contains { $0 >= $1 })
            #expect(!zip(sequence.steps, places).contains { !$0.matches(journal[$1]) })
            #expect(
                !zip(places, places.dropFirst()).contains {
                    !sequence.gaps.allow(journal[$1].gap(after: journal[$0]))
                })
        }
    }

    /// The number of steps that can be found, by trying all choices.
    private static func depth(_ sequence: RequestSequence, _ journal: JournalSnapshot) -> Int {
        func deepest(_ step: Int, after last: Int?) -> Int {
            guard step < sequence.steps.count else { return step }
            let next = journal.indices.filter { index in
                guard sequence.steps[step].matches(journal[index]) else { return false }
                guard let last else { return true }
                return index > last && sequence.gaps.allow(journal[index].gap(after: journal[last]))
            }
            return next.map { deepest(step + 1, after: $0) }.max() ?? step
        }
        return deepest(0, after: nil)
    }

    // MARK: Near misses

    private func misses(_ sequence: RequestSequence, _ requests: [Asked]) -> [(place: Int, obstacle: String?)] {
        SequenceSearch(sequence, in: Self.journal(requests)).nearestMisses(limit: 3)
    }

    @Test func aMissByGapAloneSaysHowLongItWas() throws {
        let requests = [
            Asked(path: "/b", started: 0), Asked(path: "/a", started: 0, ended: 1), Asked(path: "/b", started: 1.0603),
        ]
        let short = misses(Self.sequence(["/a", "/b"], min: "2s"), requests)
        #expect(short.first?.place == 2)
        #expect(short.first?.obstacle == "60ms after the previous step (request 2), min_gap is 2s")
        #expect(short.dropFirst().first?.obstacle == "came before the previous step (request 2)")
        let long = misses(Self.sequence(["/a", "/b"], max: "50ms"), requests)
        #expect(long.first?.obstacle == "61ms after the previous step (request 2), max_gap is 50ms")
        #expect(SequenceSearch(Self.sequence(["/a", "/b"], min: "2s"), in: Self.journal(requests)).failedByGap)
    }

    @Test func aMissByOrderIsNamed() {
        let requests = [Asked(path: "/b"), Asked(path: "/a")]
        #expect(
            misses(Self.sequence(["/a", "/b"]), requests).first?.obstacle == "came before the previous step (request 2)"
        )
        #expect(
            misses(Self.sequence(["/a", "/a"]), requests).first?.obstacle == "is the previous step (request 2) itself")
        #expect(misses(Self.sequence(["/c"]), requests).someAndAll { $0.obstacle == nil })
        #expect(!SequenceSearch(Self.sequence(["/a", "/b"]), in: Self.journal(requests)).failedByGap)
    }

    @Test func aRequestWithoutRealTimesIsNotJudged() {
        let requests = [Asked(path: "/a", at: 0), Asked(path: "/b", at: 60)]
        let search = SequenceSearch(Self.sequence(["/a", "/b"], min: "1s"), in: Self.journal(requests))
        #expect(search.failedStep == 1 && search.unjudgedCount == 2)
        #expect(search.nearestMisses(limit: 1).first?.obstacle?.contains("is not known") == true)
        #expect(
            SequenceSearch(Self.sequence(["/a", "/b"]), in: Self.journal(requests)).places == [0, 1], "no gap is asked")
    }

    /// All requests are all steps, which is the most work.
    @Test func theTimeDoesNotGrowWithTheSquareOfTheJournal() {
        func seconds(_ count: Int) -> Double {
            let journal = Self.journal((0..<count).map { Asked(at: Double($0), started: Double($0)) })
            let sequence = Self.sequence(Array(repeating: "*", count: 4) + ["/none"], min: "10s", max: "20s")
            var (start, end) = (timespec(), timespec())
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
            let search = SequenceSearch(sequence, in: journal)
            #expect(search.failedStep == 4 && search.nearestMisses(limit: 5).count == 5)
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
        }
        let (some, many) = (seconds(1_000), (0..<3).map { _ in seconds(8_000) }.min()!)
        #expect(many < some * 30, "1,000 requests took \(some) s, 8,000 took \(many) s")
    }
}
