extension JournaledRequest {
    /// The answer in words, for instance `200`, or `200, not delivered: connection reset`.
    public var answerText: String {
        let status = status.map { "\($0)" } ?? "no answer"
        guard let lossText else { return status }
        return "\(status), not delivered: \(lossText)"
    }

    /// The reason why the answer did not reach the client; `nil` if it did.
    public var lossText: String? {
        guard !delivered else { return nil }
        if effect?["lose_request"] != nil { return "connection reset before the request was handled" }
        if effect?["drop_connection"] != nil { return "connection reset" }
        if effect?["truncate_body"] != nil { return "body cut off" }
        if effect?["hold"] != nil, status == nil { return "connection ended before the request was handled" }
        return "connection ended before the last byte was sent"
    }
}

extension DecidingFact {
    /// The kind of fact.
    public enum Kind: String, Codable, Sendable {
        case rule, limit, setting
    }

    /// The fact as an object of JSON, for the data of an event.
    package var members: JSONObject {
        var members: JSONObject = [
            "kind": .string(kind.rawValue), "name": .string(name), "text": .string(text),
        ]
        if let otherwise { members["otherwise"] = .string(otherwise) }
        if let about { members["about"] = .string(about) }
        return members
    }

    /// Reads ``members``; `nil` if the value is something else.
    package init?(_ value: JSONValue?) {
        guard let members = value?.members, let kind = members["kind"]?.text.flatMap(Kind.init(rawValue:)),
            let name = members["name"]?.text, let text = members["text"]?.text
        else { return nil }
        self.init(
            kind, name, text, otherwise: members["otherwise"]?.text, about: members["about"]?.text)
    }
}
