import Foundation
import SimulationAPI

/// A chart of what happened and what is still to come, on an axis of the namespace's time. The server draws it.
struct TimelineChart {
    /// A named snapshot, at the time of its clock.
    typealias Snapshot = (name: String, at: Double)

    struct View: Encodable, Sendable {
        let width, height, left, end, top, bottom, axisY: String
        /// The line of the present; `nil` if it is not within the chart.
        let present: Present?
        let lanes: [Lane]
        let ticks: [Tick]
        let marks: [Mark]
        let future: [FutureMark]
        let snapshots: [SnapshotMark]
        /// The number of things that are due after the end of the chart, in words; `nil` if there are none.
        let later: String?
        let laterText, summary: String
    }

    struct Present: Encodable, Sendable {
        let x, textX, anchor, text: String
    }

    struct Lane: Encodable, Sendable {
        let lane, textY, bandY, bandHeight: String
        let isBand: Bool
    }

    struct Tick: Encodable, Sendable {
        let tickX, tick: String
    }

    /// The place and the size of a mark.
    struct Circle: Encodable, Sendable {
        let x, y, radius: String
        /// The number of things that the mark stands for; `nil` for one.
        let count: String?
        let countY: String
    }

    /// Events of the past at one place of the chart.
    struct Mark: Encodable, Sendable {
        let circle: Circle
        let style, markText, markLink: String
    }

    /// Events that are due at one place of the chart.
    struct FutureMark: Encodable, Sendable {
        let circle: Circle
        let dueISO, dueFromX, dueText: String
    }

    struct SnapshotMark: Encodable, Sendable {
        let points, snapshotLink, snapshotText: String
    }

    let view: View

    private static let lanes = [
        "Sessions", "Capture", "Review", "Flag", "Support", "Webhooks", "Components", "Control",
    ]
    private static let (width, left, right) = (1120.0, 104.0, 34.0)
    private static let (top, laneHeight) = (46.0, 38.0)
    /// The radius of a mark, and of one that stands for several.
    private static let (radius, groupRadius) = (6.5, 9.0)
    /// Marks of a lane that are nearer than this are drawn as one, so that no two overlap: two groups touch at twice their radius.
    private static let gap = 2 * groupRadius + 2

    private struct Scale {
        /// The first moment and its place, the present and its place.
        let from: Double
        let now, nowX: Double
        /// The width of a second.
        let unit: Double
        /// The places of due work that is drawn in its order instead of at its time; empty if time decides.
        let slots: [(at: Double, x: Double)]

        func x(_ at: Double) -> Double {
            if at > now, let slot = slots.last(where: { $0.at <= at + 0.001 }) { return slot.x }
            return TimelineChart.left + (at - from) * unit
        }
    }

    /// The number of moments of due work that are drawn in their order.
    private static let maxSlots = 8

    /// A chart of all events. The past has its own scale. What is due stands in its order: between the next webhook and
    /// the end of a session there may be a second or a day.
    private static func ordered(
        _ events: [StateChange], _ due: [DueEntry], _ snapshots: [Snapshot], now: Double
    ) -> (Scale, Double) {
        var moments: [Double] = []
        for at in due.map(\.at).sorted() where at > now && moments.last.map({ at - $0 > 1 }) ?? true {
            moments.append(at)
        }
        let shown = moments.prefix(maxSlots)
        let width = Self.width - left - right
        let future = shown.isEmpty ? 0 : min(0.6, 0.12 + 0.07 * Double(shown.count)) * width
        let times = events.map(\.at) + snapshots.map(\.at).filter { $0 <= now }
        let from = min(times.min() ?? now, now - 10)
        let nowX = left + (width - future) * (shown.isEmpty ? 0.97 : 1)
        let step = future / Double(shown.count + 1)
        let slots = shown.enumerated().map { (at: $1, x: nowX + step * (Double($0) + 1)) }
        let space = max((now - from) * 0.03, 0.5)
        return (
            Scale(
                from: from - space, now: now, nowX: nowX, unit: (nowX - left) / (now - from + space), slots: slots),
            shown.last ?? now
        )
    }

    /// - Parameter range: the time that is shown, on one scale; `nil` for all events, and what is due in its order.
    init(
        events: [StateChange], due: [DueEntry], snapshots: [Snapshot], now: Double, range: (from: Double, to: Double)?,
        _ request: ConsoleRequest
    ) {
        let scale: Scale
        let to: Double
        if let range {
            let unit = (Self.width - Self.left - Self.right) / max(range.to - range.from, 0.001)
            scale = Scale(
                from: range.from, now: now, nowX: Self.left + (now - range.from) * unit, unit: unit, slots: [])
            to = range.to
        } else {
            (scale, to) = Self.ordered(events, due, snapshots, now: now)
        }
        let from = scale.from
        func x(_ at: Double) -> Double { scale.x(at) }
        func isShown(_ at: Double) -> Bool { from...max(from, to) ~= at }

        let used = Self.lanes.filter { lane in
            events.contains { Subject.lane($0.kind) == lane && isShown($0.at) }
                || due.contains { Subject.lane($0.kind) == lane && isShown($0.at) }
        }
        let lanes = used.isEmpty ? ["Capture", "Review"] : used
        func y(_ lane: String) -> Double {
            Self.top + (Double(lanes.firstIndex(of: lane) ?? 0) + 0.5) * Self.laneHeight
        }
        let bottom = Self.top + Double(lanes.count) * Self.laneHeight

        let ticks =
            Self.ticks(from, scale.slots.isEmpty && range != nil ? to : now).map { (x: x($0.at), text: $0.text) }
            .filter { $0.x < scale.nowX - 40 || range != nil }
            + scale.slots.map { (x: $0.x, text: "+" + Moment.brief($0.at - now)) }
        let marks = lanes.map { lane in
            Self.marks(
                events.filter { Subject.lane($0.kind) == lane && isShown($0.at) },
                due.filter { Subject.lane($0.kind) == lane && isShown($0.at) }, now: now, x: x, y: y(lane), request)
        }
        let later = due.filter { $0.at > to }
        let isNearEnd = x(now) > Self.width - 150
        view = View(
            width: Self.number(Self.width), height: Self.number(bottom + 30), left: Self.number(Self.left),
            end: Self.number(Self.width - Self.right), top: Self.number(Self.top), bottom: Self.number(bottom),
            axisY: Self.number(bottom + 18),
            present: !isShown(now)
                ? nil
                : Present(
                    x: Self.number(x(now)), textX: Self.number(x(now) + (isNearEnd ? -6 : 6)),
                    anchor: isNearEnd ? "end" : "start", text: "now \(Moment.parts(now).time)"),
            lanes: lanes.enumerated().map { index, lane in
                Lane(
                    lane: lane, textY: Self.number(y(lane) + 4),
                    bandY: Self.number(Self.top + Double(index) * Self.laneHeight),
                    bandHeight: Self.number(Self.laneHeight), isBand: index % 2 == 0)
            },
            ticks: ticks.map { Tick(tickX: Self.number($0.x), tick: $0.text) }, marks: marks.flatMap(\.past),
            future: marks.flatMap(\.future),
            snapshots: Self.merged(snapshots.filter { isShown($0.at) }, at: \.at, x: x).map {
                Self.mark($0, request)
            },
            later: later.isEmpty ? nil : later.count == 1 ? "1 more is due later" : "\(later.count) more are due later",
            laterText: later.map(\.at).min().map { "the next in \(Moment.span($0 - now))" } ?? "",
            summary:
                "\(Counted.text(events.count { isShown($0.at) }, "event")) and \(Counted.text(due.count { isShown($0.at) }, "piece")) of due work, \(Moment.text(from)) to \(Moment.text(to))"
        )
    }

    /// Things that are drawn as one mark, at the place of the first.
    private typealias Group<Element> = (x: Double, elements: [Element])

    /// The marks of things, in the order of time. The places of two of them are at least ``gap`` apart.
    private static func merged<Element>(
        _ elements: [Element], at moment: (Element) -> Double, x: (Double) -> Double
    ) -> [Group<Element>] {
        var groups: [Group<Element>] = []
        for element in elements.sorted(by: { moment($0) < moment($1) }) {
            let place = x(moment(element))
            if let last = groups.last, place - last.x < gap {
                groups[groups.count - 1].elements.append(element)
            } else {
                groups.append((place, [element]))
            }
        }
        return groups
    }

    /// The number of things that the text of a mark names.
    private static let maxNamed = 8

    private static func listed(_ texts: [String]) -> String {
        let more = texts.count > maxNamed ? ["and \(texts.count - maxNamed) more"] : []
        return (texts.suffix(maxNamed) + more).joined(separator: "; ")
    }

    private static func circle(_ count: Int, x: Double, y: Double) -> Circle {
        Circle(
            x: number(x), y: number(y), radius: number(count > 1 ? groupRadius : radius),
            count: count > 99 ? "99" : count > 1 ? "\(count)" : nil, countY: number(y + 4))
    }

    /// The marks of a lane: what happened, and what is due.
    private static func marks(
        _ events: [StateChange], _ due: [DueEntry], now: Double, x: (Double) -> Double, y: Double,
        _ request: ConsoleRequest
    ) -> (past: [Mark], future: [FutureMark]) {
        let past = merged(events, at: \.at, x: x)
        // Due work stands after the last mark of the past, however near its time is.
        var first = (past.last?.x ?? -.infinity) + gap
        let future = merged(due, at: \.at, x: x).map { group in
            let place = max(group.x, first)
            first = place + gap
            return Self.future((place, group.elements), now: now, nowX: x(now), y: y, request)
        }
        return (past.map { mark($0, y: y, request) }, future)
    }

    private static func mark(_ group: Group<StateChange>, y: Double, _ request: ConsoleRequest) -> Mark {
        let (first, last) = (group.elements[0], group.elements[group.elements.count - 1])
        return Mark(
            circle: circle(group.elements.count, x: group.x, y: y), style: style(of: group.elements),
            markText:
                "\(Moment.text(first.at)): \(listed(group.elements.map { "\(EventWords.event($0.kind)) \($0.subject)" }))",
            markLink: Subject.link(last.kind, last.subject, request) ?? "\(request.console)/timeline")
    }

    /// The style of a mark: that of a failure, if one of its events is one, or else that of the last.
    private static func style(of events: [StateChange]) -> String {
        let styles = events.map { EventWords.style($0.kind, $0.data) }
        return styles.contains("bad") ? "bad" : styles[styles.count - 1]
    }

    private static func future(
        _ group: Group<DueEntry>, now: Double, nowX: Double, y: Double, _ request: ConsoleRequest
    ) -> FutureMark {
        // A click reaches all of them.
        let last = group.elements[group.elements.count - 1]
        return FutureMark(
            circle: circle(group.elements.count, x: group.x, y: y), dueISO: Moment.iso(last.at),
            dueFromX: number(max(left, min(nowX, group.x))),
            dueText:
                "\(listed(group.elements.map { "\(EventWords.due($0.kind)) \($0.subject)" })), \(Moment.text(last.at)), in \(Moment.span(last.at - now))"
        )
    }

    private static func mark(_ group: Group<Snapshot>, _ request: ConsoleRequest) -> SnapshotMark {
        let points = [(0.0, -8.0), (7, 0), (0, 8), (-7, 0)].map {
            "\(number(group.x + $0.0)),\(number(top - 14 + $0.1))"
        }
        let names = group.elements.map(\.name)
        let place = names.count == 1 ? "#snapshot-\(URLPart.escaped(names[0]))" : ""
        return SnapshotMark(
            points: points.joined(separator: " "), snapshotLink: "\(request.console)/namespaces\(place)",
            snapshotText: names.count == 1
                ? "Snapshot \(names[0]), \(Moment.text(group.elements[0].at)): restore or fork it"
                : "\(names.count) snapshots from \(Moment.text(group.elements[0].at)): \(listed(names))")
    }

    /// Round times on the axis.
    private static func ticks(_ from: Double, _ to: Double) -> [(at: Double, text: String)] {
        let steps: [Double] = [
            1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200, 86_400, 172_800, 604_800, 2_592_000,
            31_536_000,
        ]
        let step = steps.first { (to - from) / $0 <= 9 } ?? steps[steps.count - 1]
        let first = (from / step).rounded(.up) * step
        return stride(from: first, through: to, by: step).prefix(12).map { at in
            let parts = Moment.parts(at)
            let isDay = at.truncatingRemainder(dividingBy: 86_400) == 0
            return (at, step >= 86_400 || isDay ? parts.day : step < 60 ? parts.time : String(parts.time.prefix(5)))
        }
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

extension StateChange {
    /// An attempt of a delivery, with its own outcome: an attempt may fail whose delivery succeeds later.
    init(_ attempt: WebhookDelivery.Attempt, of delivery: WebhookDelivery) {
        self.init(
            sequence: 0, at: attempt.at, kind: "webhook.attempted", subject: delivery.id,
            data: .object([
                "event": .string(delivery.event), "delivery": .string(attempt.hasSucceeded ? "delivered" : "retrying"),
                "status": attempt.status.map { .number(JSONNumber($0)) } ?? .null,
            ]))
    }
}
