extension RequestEffect {
    static let truncateBody = Self(
        name: "truncate_body", about: "Handles the request, and sends only the first bytes of the answer.",
        proves: [.handling, .answer], isSize: true,
        read: { Action(answer: AnswerEffect(maxBytes: $0.size($1, in: 0...1_000_000_000) ?? 0)) })
}
