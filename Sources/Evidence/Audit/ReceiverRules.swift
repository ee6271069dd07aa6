import Simulation
import SimulationAPI

// Receivers of webhooks.
extension Court {
    /// The attempts that no fault of ours touched.
    private var attempts: [AuditedAttempt] { material.attempts.filter { !$0.delivered.isFaulty } }

    /// Adds an occurrence at the receiver of an attempt.
    private mutating func add(_ rule: AuditRule, _ attempt: AuditedAttempt, _ what: String) {
        let request = request(attempt.request)
        let url = attempt.delivered.url?.maskingQuery ?? "the receiver of a deleted subscription"
        findings.add(
            rule, url, request.map { [name($0)] } ?? [], test: request?.test,
            "\(url) \(what) (\(attempt.delivered.event), delivery \(attempt.delivered.attempt.deliveryID), attempt "
                + "\(attempt.delivered.attempt.number))")
    }

    /// `slow-receiver`: an answer that took more than half of the time after which a delivery fails, or did not come in it
    /// [D audit].
    mutating func slowReceivers(_ rule: AuditRule) {
        judgement.lookedAt = attempts.count
        for attempt in attempts where attempt.isSlow {
            let seconds = Span(microseconds: Int64(attempt.delivered.attempt.milliseconds * 1000)).rounded
            let answer = attempt.delivered.attempt.status.map { "answered \($0)" } ?? "had not answered"
            add(rule, attempt, "\(answer) after \(seconds), and a delivery fails after \(attempt.timeout.text)")
        }
    }

    /// `refused-webhook`, an error for a delivery that was rightly signed, and `redirecting-receiver` [D audit].
    mutating func answers(_ rule: AuditRule, _ wrong: some RangeExpression<Int>, _ text: (Int) -> String) {
        for attempt in attempts {
            guard let status = attempt.delivered.attempt.status else { continue }
            judgement.lookedAt += 1
            if wrong.contains(status) { add(rule, attempt, text(status)) }
        }
    }
}
