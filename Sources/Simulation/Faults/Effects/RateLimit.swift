import SimulationAPI

extension RequestEffect {
    static let rateLimit = Self(
        name: "rate_limit", about: "Answers 429 with Retry-After. The request is not handled.", proves: []
    ) { effect, name in
        guard case .object? = effect.value(name) else { return effect.flag(name, refusal(.second)) }
        var limit = effect.object(name, known: ["retry_after"])
        return refusal(limit.span("retry_after", from: .second, to: .day) ?? .second)
    }

    private static func refusal(_ wait: Span) -> Action {
        Action(statuses: [429]) {
            .rateLimited(
                "rate limit exceeded (fault \($0.ruleID))", retryAfter: wait.roundedUpSeconds,
                details: [ErrorDetail("fault", "injected by \($0.ruleID); no limit is exceeded")])
        }
    }
}
