extension RequestEffect {
    // The refusal is not sent; a replay compares it.
    static let loseRequest = Self(
        name: "lose_request", about: "Resets the connection before the request is handled.", proves: []
    ) { effect, name in
        let answer = AnswerEffect(losesRequest: true)
        return effect.flag(name, Action(answer: answer) { .injected(faultID: $0.ruleID, status: 503, body: nil) })
    }
}
