extension WebhookEffect {
    static let drop = Self(
        name: "drop", about: "Does not send the attempt, which fails and is tried again.", send: { _, _ in false })
}
