import SimulationAPI

/// A sentence on each effect of a fault, for the forms that make one.
enum EffectWords {
    static let ofRequests: [String: String] = [
        "status": "Answers with this status. The request is not handled.",
        "delay": "Handles the request, and answers later. The delay is in real time.",
        "drop_connection": "Handles the request, and resets the connection in place of the answer.",
        "lose_request": "Resets the connection before the request is handled.",
        "truncate_body": "Handles the request, and sends only the first bytes of the answer.",
        "slow_body": "Handles the request, and sends so many bytes of the answer a second.",
        "malformed_json": "Handles the request, and answers with JSON that does not parse.",
        "hold": "Holds the request, or its answer, until you release it or the time is over.",
        "rate_limit": "Answers 429 with Retry-After. The request is not handled.",
        "expire_session": "Ends the session of the request, and then handles it, which answers 401.",
        "image_upload_error": "Answers 422, as for a photo that cannot be used. Only uploads have it.",
        "component_error": "Answers with this error of App Components. Only their routes have it.",
    ]

    static let ofWebhooks: [String: String] = [
        "delay": "Sends the attempt later, by the namespace's clock.",
        "drop": "Does not send the attempt, which fails and is tried again.",
        "duplicate": "Sends it twice, with one event_id.",
        "reorder": "Sends it after the next one of the item, or after an hour.",
        "wrong_signature": "Signs it with another secret.",
    ]

    /// The sentences of those of some effects that have one, in their order.
    static func sentences(of effects: [Choice]?, _ known: [String: String]) -> [NamedText] {
        (effects ?? []).compactMap { effect in known[effect.id].map { NamedText(name: effect.id, value: $0) } }
    }
}
