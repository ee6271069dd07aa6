extension RequestEffect {
    static let dropConnection = Self(
        name: "drop_connection", about: "Handles the request, and resets the connection in place of the answer.",
        proves: [.handling], read: { $0.flag($1, Action(answer: AnswerEffect(dropsConnection: true))) })
}
