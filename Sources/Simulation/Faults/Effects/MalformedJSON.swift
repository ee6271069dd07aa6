import Foundation

extension RequestEffect {
    static let malformedJSON = Self(
        name: "malformed_json", about: "Handles the request, and answers with JSON that does not parse.",
        proves: [.handling]
    ) { effect, name in
        // A JSON object without its last character is malformed. An empty body becomes `{`.
        effect.flag(name, Action(answer: AnswerEffect(rewrite: { $0.isEmpty ? Data("{".utf8) : $0.dropLast() })))
    }
}
