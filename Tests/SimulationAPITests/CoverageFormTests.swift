import Foundation
import Testing

@testable import SimulationAPI

/// Files of coverage: bounds, sums and differences.
@Suite struct CoverageFormTests {
    private func coverage(
        _ edges: [Coverage.Edge], since: Double = 1, axis: String = "a", sources: [String] = []
    ) -> Coverage {
        Coverage(since: since, sources: sources, axes: [.init(id: axis, title: axis, edges: edges)])
    }

    private func merged(_ parts: [Coverage]) throws -> Coverage { try Coverage.merged(parts).coverage }

    @Test func sumsStayAtTheLargestNumber() throws {
        let one = coverage([.init(id: "x", reached: .max, injected: .max)])
        let sum = try merged([one, one])
        #expect(sum.edge("a", "x")?.reached == .max)
        #expect(sum.edge("a", "x")?.injected == .max)
    }

    @Test func theFirstOfTheOlderPartCounts() throws {
        let old = coverage(
            [.init(id: "x", reached: 1, first: .init(namespace: "old", request: "sequence:1"))], since: 1)
        let new = coverage(
            [.init(id: "x", reached: 1, first: .init(namespace: "new", request: "sequence:1"))], since: 2)
        for parts in [[old, new], [new, old]] {
            let sum = try merged(parts)
            #expect(sum.since == 1)
            #expect(sum.edge("a", "x")?.first?.namespace == "old")
        }
    }

    @Test func edgesThatOnlyOnePartHasAreKept() throws {
        let sum = try merged([
            coverage([.init(id: "x", meet_with: "a way")]), coverage([.init(id: "y", reached: 1)]),
            coverage([.init(id: "z")], axis: "b"),
        ])
        #expect(sum.axes.map { "\($0.id) \($0.reached)/\($0.of)" } == ["a 1/2", "b 0/1"])
        #expect(sum.edge("a", "x")?.meet_with == "a way")
        #expect(try merged([]).axes.isEmpty)
    }

    @Test func aSumNamesTwentyTests() throws {
        let parts = (0..<3).map { part in
            coverage([.init(id: "x", reached: 1, tests: (0..<20).map { "\(part)-\($0)" })])
        }
        #expect(try merged(parts).edge("a", "x")?.tests.count == 20)
    }

    private func counted(_ number: Int, _ sources: String...) -> Coverage {
        coverage([.init(id: "x", reached: number, tests: ["\(number)"])], sources: sources)
    }

    /// Of the same counts the larger number is the later one. A namespace's are within its server's.
    @Test func theSameCountsAreTakenOnce() throws {
        let cases: [([Coverage], Int, [String])] = [
            ([counted(2, "a"), counted(2, "a")], 2, ["a"]),
            ([counted(2, "a"), counted(5, "a"), counted(3, "a")], 5, ["a"]),
            ([counted(2, "a"), counted(5, "b")], 7, ["a", "b"]),
            ([counted(7, "a", "b"), counted(2, "a"), counted(5, "b")], 7, ["a", "b"]),
            ([counted(1, "a/1"), counted(4, "a"), counted(2, "a/2")], 4, ["a"]),
            ([counted(1, "a/1"), counted(2, "a/2")], 3, ["a/1", "a/2"]),
            ([counted(3, "a/1", "a/2"), counted(4, "a")], 4, ["a"]),
            ([counted(1), counted(1)], 2, []),
        ]
        for (parts, number, sources) in cases {
            for parts in [parts, parts.reversed()] {
                let merge = try Coverage.merged(parts)
                #expect(merge.coverage.edge("a", "x")?.reached == number, "\(parts)")
                #expect(merge.coverage.sources == sources)
                #expect(
                    Set(merge.coverage.edge("a", "x")?.tests ?? [])
                        == Set(parts.map { "\($0.axes[0].edges[0].reached)" }))
            }
        }
        #expect(try Coverage.merged([counted(2, "a"), counted(2, "a"), counted(1, "b")]).repeated == 1)
    }

    @Test func sumsThatShareAPartCannotBeToldApart() {
        for parts in [
            [counted(3, "a", "b"), counted(3, "b", "c")], [counted(3, "a", "b/1"), counted(4, "b")],
            [counted(3, "a", "c"), counted(3, "b"), counted(4, "b", "c")],
        ] {
            #expect(throws: Coverage.FileProblem.self) { try Coverage.merged(parts) }
            #expect(throws: Coverage.FileProblem.self) { try Coverage.merged(parts.reversed()) }
        }
    }

    @Test func onlyAFaultsEdgeIsMetByAnInjectedOne() {
        #expect(!Coverage.Edge(id: "x", injected: 1).isMet)
        #expect(Coverage.Edge(id: "x", injected: 1, fault_only: true).isMet)
        #expect(Coverage.Edge(id: "x", reached: 1).isMet)
    }

    @Test func aDifferenceTellsLostUnknownAndNewEdgesApart() {
        let baseline = coverage([
            .init(id: "kept", reached: 1), .init(id: "lost", reached: 1), .init(id: "gone", reached: 1),
            .init(id: "never"),
        ])
        let now = coverage([
            .init(id: "kept", reached: 2), .init(id: "lost", injected: 4), .init(id: "never"),
            .init(id: "new", reached: 1),
        ])
        let difference = now.difference(from: baseline)
        #expect(difference.lost == [.init("a", "lost")])
        #expect(difference.unknown == [.init("a", "gone")])
        #expect(difference.gained == [.init("a", "new")])
    }

    @Test func aFileIsBounded() throws {
        #expect(throws: Coverage.FileProblem.self) { try Coverage(file: Data(count: 16_000_001)) }
        func isRefused(_ coverage: Coverage) throws -> Bool {
            do {
                _ = try Coverage(file: try WireJSON.encode(coverage))
                return false
            } catch is Coverage.FileProblem {
                return true
            }
        }
        let axis = Coverage.Axis(id: "a", title: "", edges: [])
        #expect(try isRefused(Coverage(since: 1, axes: Array(repeating: axis, count: 101))))
        #expect(try !isRefused(Coverage(since: 1, axes: Array(repeating: axis, count: 100))))
        #expect(try isRefused(coverage((0..<10_001).map { .init(id: "\($0)") })))
        #expect(try isRefused(coverage([.init(id: "x", reached: -1)])))
        #expect(try isRefused(coverage([.init(id: String(repeating: "x", count: 501))])))
        #expect(try isRefused(coverage([], since: -1)))
        #expect(try isRefused(coverage([], since: 1e15)))
        #expect(try isRefused(coverage([], sources: [String(repeating: "x", count: 501)])))
        for text in ["", "{", "[]", "{\"since\": -1, \"axes\": []}", "\u{0}\u{1}", "{\"since\": 1}"] {
            #expect(throws: Coverage.FileProblem.self, "\(text)") { _ = try Coverage(file: Data(text.utf8)) }
        }
    }

    @Test func aFilesSumsAndNamesAreNotBelieved() throws {
        let long = String(repeating: "x", count: 1000)
        var given = coverage([.init(id: "x", reached: 1, tests: Array(repeating: long, count: 30), meet_with: "a way")])
        given.axes[0].reached = 99
        given.axes[0].of = 99
        let read = try Coverage(file: try WireJSON.encode(given))
        #expect(read.axes[0].reached == 1)
        #expect(read.axes[0].of == 1)
        let edge = try #require(read.edge("a", "x"))
        #expect(edge.tests.count == 20)
        #expect(edge.tests[0].utf8.count <= 200)
        #expect(edge.meet_with == nil)
    }

    @Test func aNameIsCutBetweenItsCharacters() {
        #expect(Coverage.boundedTest(String(repeating: "a", count: 200)).utf8.count == 200)
        let cut = Coverage.boundedTest(String(repeating: "é", count: 101))
        #expect(cut == String(repeating: "é", count: 98) + "…")
    }
}
