import Foundation
import SimulationAPI

/// Why something happened: the chain of its causes as a drawing.
enum ExplanationPage {
    private struct View: Encodable, Sendable {
        let subject: Explanation.Subject
        let forgotten: Bool
        /// `nil` if nothing is known any more.
        let chart: ExplanationChart?
        let alternatives: Rows<Alternative>?

        struct Alternative: Encodable, Sendable {
            let text, step: String
        }
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let explanation = try await api.get("explain/\(URLPart.escaped(id))", as: Explanation.self)
        let subject = explanation.subject
        let view = View(
            subject: subject, forgotten: explanation.forgotten,
            chart: explanation.steps.isEmpty ? nil : ExplanationChart(explanation, request),
            alternatives: Rows(
                explanation.would_differ.map { alternative in
                    let step = explanation.steps.first { $0.id.isIdentical(to: alternative.step) }
                    return View.Alternative(text: alternative.text, step: step?.text ?? alternative.step)
                }))
        return PagePart(
            section: "activity", title: "Why \(subject.kind.replacing("_", with: " ")) \(subject.id)",
            template: "explanation", view: view)
    }

    /// The path of the page about an id, after that of the console.
    static func path(_ id: String) -> String { "/explain/\(URLPart.escaped(id))" }
}

/// The steps of an explanation, one below the other, with a line from each to those that it follows from. The server draws it.
struct ExplanationChart: Encodable, Sendable {
    let width, height, count: Int
    let lines: [String]
    let rows: [Step]

    /// A step at its place.
    struct Step: Encodable, Sendable {
        let x, y, textX, textY, detailY: Int
        let style, text, whole, detail: String
        /// The page about the step; `nil` if there is none.
        let link: String?
    }

    private static let whole = 1120
    private static let (left, indent, rowHeight, top) = (20, 22, 44, 26)
    /// The number of indents after which steps stand at the same place.
    private static let maxDepth = 8
    /// The maximum number of characters of a line of text.
    private static let maxText = 120

    init(_ explanation: Explanation, _ request: ConsoleRequest) {
        var places: [String: (x: Int, y: Int)] = [:]
        var depths: [String: Int] = [:]
        var rows: [Step] = []
        var lines: [String] = []
        for (index, step) in explanation.steps.enumerated() {
            let depth = (step.causes.compactMap { depths[$0] }.max() ?? -1) + 1
            let place = (
                x: Self.left + Self.indent * min(depth, Self.maxDepth), y: Self.top + Self.rowHeight * index
            )
            depths[step.id] = depth
            places[step.id] = place
            for case let cause? in step.causes.map({ places[$0] }) {
                lines.append("M\(cause.x) \(cause.y)V\(place.y)H\(place.x)")
            }
            let moment = Moment.parts(step.at)
            rows.append(
                Step(
                    x: place.x, y: place.y, textX: place.x + 16, textY: place.y - 2, detailY: place.y + 14,
                    style: step.kind.rawValue, text: Self.shortened(step.text), whole: step.text,
                    detail: "\(moment.day) \(moment.time) · \(step.id)", link: Self.link(step, request)))
        }
        (width, height) = (Self.whole, Self.top + Self.rowHeight * max(1, explanation.steps.count))
        (self.rows, self.lines, count) = (rows, lines, explanation.steps.count)
    }

    private static func shortened(_ text: String) -> String {
        text.count <= maxText ? text : "\(text.prefix(maxText - 1))…"
    }

    /// The page about a step; `nil` if there is none.
    private static func link(_ step: Explanation.Step, _ request: ConsoleRequest) -> String? {
        let console = request.console
        switch step.kind {
        case .request: return step.href == nil ? nil : "\(console)/requests/\(URLPart.escaped(step.id))"
        case .delivery: return "\(console)/webhooks/deliveries/\(URLPart.escaped(step.id))"
        case .attempt:
            return "\(console)/webhooks/deliveries/\(URLPart.escaped(String(step.id.prefix { $0 != "#" })))"
        case .event, .dueWork, .control, .scenario: return console + ExplanationPage.path(step.id)
        case .rule: return "\(console)/rules"
        case .limit, .setting: return "\(console)/settings"
        }
    }
}
