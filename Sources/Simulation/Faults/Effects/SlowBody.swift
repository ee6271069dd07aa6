extension RequestEffect {
    static let slowBody = Self(
        name: "slow_body", about: "Handles the request, and sends so many bytes of the answer a second.",
        proves: [.handling, .answer, .success],
        read: { Action(answer: AnswerEffect(bytesPerSecond: $0.number($1, in: 1...1_000_000_000) ?? 1)) })
}
