extension RequestEffect {
    static let hold = Self(
        name: "hold", about: "Holds the request, or its answer, until you release it or the time is over.",
        proves: [.success], read: { Action(answer: AnswerEffect(hold: Hold(&$0, $1))) })
}
