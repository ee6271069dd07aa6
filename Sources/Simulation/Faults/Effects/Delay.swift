import Foundation
import SimulationAPI

extension RequestEffect {
    static let delay = Self(
        name: "delay", about: "Handles the request, and answers later. The delay is in real time.",
        proves: [.handling, .answer, .success]
    ) { effect, name in
        let delay = Delay.read(&effect, name, max: Delay.maxOfAnswers)
        return Action {
            $0.answer = AnswerEffect(delay: Double(delay($0.purpose, $0.job).microseconds) / 1e6)
            return nil
        }
    }
}

extension WebhookEffect {
    static let delay = Self(
        name: "delay", about: "Sends the attempt later, by the namespace's clock.",
        readArgument: { effect, name in
            let delay = Delay.read(&effect, name, max: Delay.maxOfWebhooks)
            return { _, purpose, job in job.now + delay(purpose, job) }
        })
}

/// The delay of an answer, in real time, or of a webhook, on the namespace's clock.
private enum Delay {
    /// Draws a delay from the namespace's generator for a purpose.
    typealias Draw = @Sendable (_ purpose: String, _ job: JobContext) -> Span

    /// The longest delay of an answer [D fault-rules].
    static let maxOfAnswers = Span.hour
    /// The longest delay of a webhook [D webhook-faults].
    static let maxOfWebhooks = Span(microseconds: 30 * Span.day.microseconds)

    static func read(_ effect: inout FieldReader, _ name: String, max: Span) -> Draw {
        guard let given = effect.value(name)?.members else {
            let span = effect.span(name, to: max) ?? .zero
            return { _, _ in span }
        }
        var delay = effect.object(name, known: ["uniform", "lognormal"])
        guard given.count == 1 else {
            effect.report(
                name,
                "must be a duration, {\"uniform\": [\"1s\", \"3s\"]} or {\"lognormal\": {\"median\": \"1s\", \"sigma\": 0.5}}"
            )
            return { _, _ in .zero }
        }
        return given["uniform"] == nil ? lognormal(&delay, max) : uniform(&delay, max)
    }

    private static func uniform(_ delay: inout FieldReader, _ longest: Span) -> Draw {
        let expected = "must be a list of two durations"
        delay.require("uniform")
        guard var bounds = delay.elements("uniform", expected) else { return { _, _ in .zero } }
        guard bounds.names.count == 2 else {
            delay.report("uniform", "\(expected), got \(bounds.names.count)")
            return { _, _ in .zero }
        }
        for name in bounds.names { bounds.fields.require(name) }
        let least = bounds.fields.span("[0]", to: longest) ?? .zero
        let most = bounds.fields.span("[1]", to: longest) ?? least
        if most < least { delay.report("uniform", "must have the shorter duration first") }
        return { purpose, job in
            let width = Double(most.microseconds - least.microseconds)
            let share = job.state.generator.fraction(for: "\(purpose):delay")
            return Span(microseconds: least.microseconds + Int64(share * width))
        }
    }

    private static func lognormal(_ delay: inout FieldReader, _ longest: Span) -> Draw {
        var lognormal = delay.object("lognormal", known: ["median", "sigma"])
        lognormal.require("median")
        let median = lognormal.span("median", to: longest) ?? .zero
        let sigma = lognormal.decimal("sigma", in: 0...10) ?? 1
        return { purpose, job in
            let generator = job.state.generator
            // Box–Muller transform to a normal deviate. `1 - fraction` keeps the logarithm away from zero.
            let radius = (-2 * log(1 - generator.fraction(for: "\(purpose):radius"))).squareRoot()
            let deviate = radius * cos(2 * .pi * generator.fraction(for: "\(purpose):angle"))
            let microseconds = Double(median.microseconds) * exp(sigma * deviate)
            return Span(microseconds: Int64(min(microseconds, Double(longest.microseconds))))
        }
    }
}
