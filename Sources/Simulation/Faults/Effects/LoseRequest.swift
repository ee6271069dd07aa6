extension RequestEffect {
    static let loseRequest = Self(
        name: "lose_request", about: "Resets the connection before the request is handled.", proves: []
    ) { effect, name in
        // The refusal is not sent; a replay compares it.
        let action = Action(
            answer: AnswerEffect(losesRequest: true),
            perform: { .injected(faultID: $0.ruleID, status: 503, body: nil) })
        return effect.flag(name, action)
    }
}
