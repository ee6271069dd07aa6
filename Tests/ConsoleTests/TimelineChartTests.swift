import SimulationAPI
import Testing

@testable import Console

@Suite struct TimelineChartTests {
    private let request = ConsoleRequest(namespace: "a", path: [], query: [:], isReadOnly: false, url: "")

    private func chart(
        _ events: [TimelineChart.Event], due: [TimelineChart.Due] = [], range: (from: Double, to: Double)? = nil
    ) -> View {
        TimelineChart(
            events: events, due: due, snapshots: [.init(name: "s", at: 100)], now: 1000, range: range, request
        ).view
    }

    private func event(_ at: Double, _ kind: String = "result.set") -> TimelineChart.Event {
        .init(at: at, kind: kind, subject: "ABC", data: .object(["result": .string("authentic")]))
    }

    private func numbers(_ views: Any?, _ key: String) -> [Double] {
        ((views as? [View]) ?? []).compactMap { ($0[key] as? String).flatMap(Double.init) }
    }

    @Test func thePastIsInTheOrderOfTime() {
        let view = chart([event(900), event(100), event(500)])
        let places = numbers(view["marks"], "x")
        #expect(places.count == 3 && places == places.sorted())
        let now = Double(view["nowX"] as? String ?? "") ?? 0
        #expect(places.allSatisfy { $0 < now })
    }

    /// Due work may be a second or a day apart. The chart shows its order, not the distances.
    @Test func dueWorkIsShownInOrderAtEqualDistances() throws {
        let due = [1005.0, 1010, 87_400].map { TimelineChart.Due(at: $0, kind: "result", subject: "ABC") }
        let view = chart([event(900)], due: due)
        let places = numbers(view["future"], "dueX")
        let now = Double(view["nowX"] as? String ?? "") ?? 0
        try #require(places.count == 3)
        #expect(places == places.sorted() && places.allSatisfy { $0 > now + 20 })
        #expect(abs((places[1] - places[0]) - (places[2] - places[1])) < 0.2)
        #expect(
            (view["ticks"] as? [View])?.compactMap { $0["tick"] as? String }.suffix(3) == ["+5 s", "+10 s", "+24 h"])
    }

    @Test func laterWorkIsCounted() {
        let due = (1...20).map {
            TimelineChart.Due(at: 1000 + Double($0) * 60, kind: "webhook.attempt", subject: "\($0)")
        }
        let view = chart([], due: due)
        #expect((view["future"] as? [View])?.count == 8 && view["later"] as? Int == 12)
    }

    @Test func marksThatLieCloseTogetherAreMerged() throws {
        let view = chart((0..<50).map { event(500 + Double($0) / 1000) } + [event(900)])
        let marks = (view["marks"] as? [View]) ?? []
        try #require(marks.count == 2)
        #expect(marks[0]["count"] as? String == "50")
        #expect((marks[0]["markText"] as? String)?.contains("and 42 more") == true)
    }

    @Test func aRangeShowsOnlyTheMarksWithinIt() {
        let view = chart(
            [event(100), event(900)], due: [.init(at: 1100, kind: "result", subject: "A")], range: (800, 1050))
        #expect((view["marks"] as? [View])?.count == 1 && (view["future"] as? [View])?.isEmpty == true)
        #expect(view["later"] as? Int == 1 && (view["snapshots"] as? [View])?.isEmpty == true)
    }

    @Test(arguments: [0.0, 1000, 253_402_300_799]) func oddTimesAreDrawn(at: Double) {
        let view = chart([event(at)], due: [.init(at: at, kind: "x", subject: "")])
        #expect((view["width"] as? String) == "1120.0")
    }

    @Test func emptyChartsAreDrawn() {
        #expect((chart([])["lanes"] as? [View])?.isEmpty == false)
    }
}
