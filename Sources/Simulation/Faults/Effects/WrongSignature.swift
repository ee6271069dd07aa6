extension WebhookEffect {
    static let wrongSignature = Self(
        name: "wrong_signature", about: "Signs it with another secret.",
        send: { _, receiver in
            receiver.secret += "?"
            return true
        })
}
