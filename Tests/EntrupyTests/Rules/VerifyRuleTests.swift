import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// The number of requests that a test expects [D request-verification].
@Suite struct VerifyRuleTests {
    private struct Nothing: JournalHeaders, JournalBody {
        var pairs: [(name: String, value: String)] { [] }
        var data: Data { Data() }
        var bytes: Int { 0 }
    }

    /// Adds requests, one a second, of which the journal keeps three.
    private func makeBench(_ paths: [String], kept: Int = 3) async throws -> RuleBench {
        let bench = try await RuleBench()
        let message = JournalEntry.Message(length: 0, kept: 0, headers: Nothing(), body: Nothing())
        for (second, path) in paths.enumerated() {
            let outcome = RequestOutcome(
                at: Self.time(second), generation: bench.namespace.outbox.generation,
                journal: .init(entries: kept, bytes: 100_000, bodyBytes: 10), secrets: [])
            await bench.namespace.append(
                JournalEntry(
                    requestID: "r\(second)", method: "GET", path: path, query: "", status: 200, milliseconds: 1,
                    outcome: outcome, request: message, response: message))
        }
        return bench
    }

    private static func time(_ second: Int) -> Instant {
        RuleBench.morning + Span(microseconds: Int64(second) * 1_000_000)
    }

    private func verify(
        _ bench: RuleBench, _ query: JournalQuery = JournalQuery(), _ counts: ClosedRange<Int>
    ) async -> PlatformError.Kind? {
        await refusal {
            try await bench.control(
                VerifyRequests(
                    amount: .init(minCount: counts.lowerBound, maxCount: counts.upperBound),
                    names: UnknownNames(query: query, allowed: Set(QueryName.allCases), place: ("match.", "match"))))
        }
    }

    @Test func bothEndsOfTheExpectedNumberCount() async throws {
        let bench = try await makeBench(["/a", "/a", "/b"])
        let query = JournalQuery(route: Glob("/a"))
        for right in [2...2, 1...2, 2...3, 0...2, 2...(.max)] { #expect(await verify(bench, query, right) == nil) }
        for wrong in [0...1, 1...1, 3...3, 3...(.max), 0...0] {
            #expect(await verify(bench, query, wrong) == .unverified, "\(wrong)")
        }
    }

    /// Its first moment belongs to a span of time, its last does not.
    @Test func aSpanOfTimeBeginsWithItsFirstMomentAndEndsBeforeItsLast() async throws {
        let bench = try await makeBench(["/a", "/a", "/a"])
        let query = JournalQuery(since: Self.time(1), before: Self.time(2))
        #expect(await verify(bench, query, 1...1) == nil)
        var search = try await bench.control(ListRequests(query, limit: 10, cursor: nil))
        #expect(search.list().requests.map(\.at) == [Self.time(1).epoch])
    }

    /// A journal that has dropped requests knows a least number, and no greatest.
    @Test func aForgottenRequestLeavesNoUpperLimitToCheck() async throws {
        let bench = try await makeBench(["/a", "/a", "/a", "/a"])
        #expect(await verify(bench, 3...(.max)) == nil)
        for counts in [3...3, 0...3, 0...9] {
            #expect(await verify(bench, counts) == .forgotten, "the first request is forgotten, so it may be more")
        }
        let later = JournalQuery(since: Self.time(1))
        #expect(await verify(bench, later, 3...3) == nil, "all of these are kept")
        #expect(await verify(bench, JournalQuery(since: Self.time(0)), 3...3) == .forgotten)
        #expect(await verify(bench, 0...2) == .unverified, "too many in any case")
    }

    private func verify(_ bench: RuleBench, _ counts: ClosedRange<Int>) async -> PlatformError.Kind? {
        await verify(bench, JournalQuery(), counts)
    }
}
