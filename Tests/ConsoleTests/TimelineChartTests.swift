import SimulationAPI
import TestSupport
import Testing

@testable import Console

@Suite struct TimelineChartTests {
    private let request = ConsoleRequest(namespace: "a", path: [], query: [:], isReadOnly: false, url: "")

    private func chart(
        _ events: [StateChange], due: [DueEntry] = [], range: (from: Double, to: Double)? = nil
    ) -> TimelineChart.View {
        TimelineChart(
            events: events, due: due, snapshots: [(name: "s", at: 100)], now: 1000, range: range, request
        ).view
    }

    private func event(_ at: Double, _ kind: String = "result.set") -> StateChange {
        StateChange(sequence: 0, at: at, kind: kind, subject: "ABC", data: .object(["result": .string("authentic")]))
    }

    private func due(_ at: Double, _ kind: String = "result", _ subject: String = "ABC") -> DueEntry {
        DueEntry(kind: kind, subject: subject, since: nil, at: at, seconds_left: 0)
    }

    private func number(_ text: String?) -> Double { text.flatMap(Double.init) ?? .nan }

    @Test func thePastIsInTheOrderOfTime() {
        let view = chart([event(900), event(100), event(500)])
        let places = view.marks.map { number($0.circle.x) }
        #expect(places.count == 3 && places == places.sorted())
        let now = number(view.present?.x)
        #expect(places.someAndAll { $0 < now })
    }

    /// Due work may be a second or a day apart. The chart shows its order, not the distances.
    @Test func dueWorkIsShownInOrderAtEqualDistances() throws {
        let due = [1005.0, 1010, 87_400].map { self.due($0) }
        let view = chart([event(900)], due: due)
        let places = view.future.map { number($0.circle.x) }
        let now = number(view.present?.x)
        try #require(places.count == 3)
        #expect(places == places.sorted() && places.someAndAll { $0 > now + 20 })
        #expect(abs((places[1] - places[0]) - (places[2] - places[1])) < 0.2)
        #expect(view.ticks.map(\.tick).suffix(3) == ["+5 s", "+10 s", "+24 h"])
    }

    @Test func laterWorkIsCounted() {
        let due = (1...20).map { self.due(1000 + Double($0) * 60, "webhook.attempt", "\($0)") }
        let view = chart([], due: due)
        #expect(view.future.count == 8)
        #expect(view.later == "12 more are due later")
    }

    @Test func marksThatLieCloseTogetherAreMerged() throws {
        let view = chart((0..<50).map { event(500 + Double($0) / 1000) } + [event(900)])
        try #require(view.marks.count == 2)
        #expect(view.marks[0].circle.count == "50")
        #expect(view.marks[0].markText.contains("and 42 more"))
    }

    /// Whatever happened and is due, whenever: no two marks of a lane overlap, and none leaves the chart.
    @Test(arguments: 0..<40) func marksNeverOverlap(seed: Int) throws {
        var state = UInt64(seed + 1) &* 0x9e37_79b9_7f4a_7c15
        func random(_ limit: Double) -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) * limit
        }
        let kinds = ["result.set", "capture.started", "webhook.attempted", "session.started", "clock.advanced"]
        let events = (0..<Int(random(200))).map { _ in event(1000 - random(random(900)), kinds[Int(random(5))]) }
        let due = (0..<Int(random(60))).map { index in
            self.due(1000 + random(random(300)), ["result", "webhook.attempt"][Int(random(2))], "\(index)")
        }
        let snapshots = (0..<Int(random(20))).map { (name: "s\($0)", at: 1000 - random(300)) }
        let range: (from: Double, to: Double)? = seed % 2 == 0 ? nil : (800, 1100)
        let view = TimelineChart(
            events: events, due: due, snapshots: snapshots, now: 1000, range: range, request
        ).view
        let circles = view.marks.map(\.circle) + view.future.map(\.circle)
        for (index, one) in circles.enumerated() {
            let (x, y, r) = (number(one.x), number(one.y), number(one.radius))
            #expect(x - r > 94 && x + r < 1120 && r <= 9, "\(x)")
            for other in circles.dropFirst(index + 1) where number(other.y) == y {
                #expect(abs(number(other.x) - x) > r + number(other.radius), "\(x) and \(other.x)")
            }
        }
        let diamonds = view.snapshots.map { number($0.points.split(separator: ",").first.map(String.init)) }.sorted()
        #expect(!zip(diamonds, diamonds.dropFirst()).contains { $1 - $0 <= 14 })
        let shown = circles.reduce(0) { $0 + (Int($1.count ?? "1") ?? 0) }
        let wanted = range.map { range in
            (events.map(\.at) + due.map(\.at)).count { range.from...range.to ~= $0 }
        }
        if let wanted {
            #expect(circles.contains { $0.count == "99" } || shown == wanted, "none is lost")
        }
    }

    /// A click on a mark that stands for several reaches all of them.
    @Test func dueWorkOfOneMomentIsOneMark() throws {
        let due = (1...5).map { self.due(1060, "webhook.attempt", "dlv_\($0)") }
        let marks = chart([], due: due).future
        try #require(marks.count == 1)
        #expect(marks[0].circle.count == "5")
        #expect(marks[0].dueISO == Moment.iso(1060))
        #expect(marks[0].dueText.contains("dlv_1"))
    }

    /// A failure is seen, also among others.
    @Test func aFailureColoursTheMarkOfAll() {
        let marks = chart([event(500, "capture.timed_out"), event(500, "capture.started")]).marks
        #expect(marks.map(\.style) == ["bad"])
    }

    @Test func aRangeShowsOnlyTheMarksWithinIt() {
        let view = chart(
            [event(100), event(900)], due: [due(1100)], range: (800, 1050))
        #expect(view.marks.count == 1)
        #expect(view.future.isEmpty)
        #expect(view.later == "1 more is due later")
        #expect(view.snapshots.isEmpty)
    }

    @Test(arguments: [0.0, 1000, 253_402_300_799]) func oddTimesAreDrawn(at: Double) {
        let view = chart([event(at)], due: [due(at, "x", "")])
        #expect(view.width == "1120.0")
    }

    @Test func emptyChartsAreDrawn() {
        #expect(!chart([]).lanes.isEmpty)
    }
}
