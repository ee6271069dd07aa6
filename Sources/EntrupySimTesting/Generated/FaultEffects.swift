// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

extension FaultEffect {
    /// Answers with a status, and the platform's own body or another one.
    ///
    /// - Parameters:
    ///   - body: the body of the answer. A text is sent unchanged, any other value as JSON. The default is the error
    ///     envelope.
    ///   - headers: headers of the answer, in place of its own, at most 20. Not `Connection`, `Content-Length`, `Date`
    ///     and `Transfer-Encoding`.
    public static func status(_ value: Int, body: JSONValue? = nil, headers: [String: String]? = nil) -> Self {
        Self("status", value.json, beside: ["body": body?.json, "headers": headers?.json])
    }

    /// Delays the answer in real time, or the webhook on the namespace's clock.
    public static func delay(_ value: SimulatedDuration) -> Self {
        Self("delay", value.json)
    }

    /// Handles the request, sends only the first bytes of the answer's body, and closes the connection.
    ///
    /// - Parameter value: the size that is sent, at most 1,000,000,000 bytes. Answers have the number of bytes.
    public static func truncateBody(_ value: Int) -> Self {
        Self("truncate_body", value.json)
    }

    /// Sends the body slowly.
    ///
    /// - Parameter value: the number of bytes per second.
    public static func slowBody(_ value: Int) -> Self {
        Self("slow_body", value.json)
    }

    /// Handles the request, then closes the connection without an answer.
    public static let dropConnection = Self("drop_connection")

    /// Closes the connection without handling the request.
    public static let loseRequest = Self("lose_request")

    /// Before the request is handled, or after, with its answer kept.
    public enum HoldWhen: String, Sendable, FaultArgument { case before, after }

    /// Holds the request until it is released, or until its time is over.
    ///
    /// - Parameters:
    ///   - when: before the request is handled, or after, with its answer kept.
    ///   - for: the real time after which the request goes on by itself, at most 10 minutes. The default is 30 seconds.
    public static func hold(when: HoldWhen? = nil, for: SimulatedDuration? = nil) -> Self {
        Self("hold", options: ["when": when?.json, "for": `for`?.json])
    }

    /// Sends JSON that does not parse.
    public static let malformedJSON = Self("malformed_json")

    /// Answers 429, as if a rate limit were exceeded.
    ///
    /// - Parameter retryAfter: what `Retry-After` says, from a second to a day, in whole seconds, rounded up. The
    ///   default is a second.
    public static func rateLimit(retryAfter: SimulatedDuration? = nil) -> Self {
        Self("rate_limit", options: ["retry_after": retryAfter?.json])
    }

    /// Answers 422, as for a damaged image.
    public static let imageUploadError = Self("image_upload_error")

    /// Answers with an error of App Components.
    public static func componentError(_ value: String) -> Self {
        Self("component_error", value.json)
    }

    /// Ends the caller's session before the request is handled.
    public static let expireSession = Self("expire_session")

    /// Does not send the webhook.
    public static let drop = Self("drop")

    /// Sends the webhook twice.
    public static let duplicate = Self("duplicate")

    /// Sends the webhook after the one that follows it.
    public static let reorder = Self("reorder")

    /// Signs the webhook wrongly.
    public static let wrongSignature = Self("wrong_signature")
}
