import SimulationAPI

/// The effect of a fault.
public struct FaultEffect: Sendable {
    let value: JSONValue

    /// An effect by its name on the wire, for effects of a newer server. The constants below are the present ones.
    public init(_ name: String, _ value: JSONValue = .bool(true)) {
        self.init(members: [name: value])
    }

    private init(members: JSONObject) {
        value = .object(members)
    }

    /// Answers with a status, and the platform's own body or another one.
    ///
    /// - Parameter headers: headers of the answer, in place of its own: `["Retry-After": "30"]`. At most 20; not `Content-Length`,
    ///   `Transfer-Encoding`, `Connection` and `Date`.
    public static func status(_ status: Int, body: JSONValue? = nil, headers: [String: String] = [:]) -> Self {
        var members: JSONObject = ["status": .number(JSONNumber(status))]
        members["body"] = body
        if !headers.isEmpty { members["headers"] = .object(JSONObject(headers.map { ($0, .string($1)) })) }
        return Self(members: members)
    }

    /// Delays the answer in real time, or a webhook on the namespace's clock.
    public static func delay(_ duration: SimulatedDuration) -> Self { Self("delay", .string(duration.text)) }
    /// Handles the request, then closes the connection without an answer.
    public static let dropConnection = Self("drop_connection")
    /// Closes the connection without handling the request.
    public static let loseRequest = Self("lose_request")
    /// Sends the first `bytes` bytes of the answer's body, then closes the connection.
    public static func truncateBody(_ bytes: Int) -> Self { Self("truncate_body", .number(JSONNumber(bytes))) }
    /// Sends the body at `bytesPerSecond` bytes a second.
    public static func slowBody(_ bytesPerSecond: Int) -> Self {
        Self("slow_body", .number(JSONNumber(bytesPerSecond)))
    }
    /// The moment at which a held request waits.
    public enum Moment: String, Sendable {
        /// Before it is handled.
        case before
        /// After it was handled, with its answer kept.
        case after
    }

    /// Holds the request until ``SimulatedNamespace/release(_:status:body:dropConnection:)`` or until its time is over.
    ///
    /// - Parameter duration: real time, at most ten minutes.
    public static func hold(_ moment: Moment = .before, for duration: SimulatedDuration = "30s") -> Self {
        Self("hold", ["when": .string(moment.rawValue), "for": .string(duration.text)])
    }
    /// Sends JSON that does not parse.
    public static let malformedJSON = Self("malformed_json")
    /// Answers 429, as if a rate limit were exceeded, with `Retry-After: 1`.
    public static let rateLimit = Self("rate_limit")
    /// Answers 429, as if a rate limit were exceeded.
    ///
    /// - Parameter retryAfter: what `Retry-After` says, in whole seconds, rounded up; from one second to a day.
    public static func rateLimit(retryAfter: SimulatedDuration) -> Self {
        Self("rate_limit", ["retry_after": .string(retryAfter.text)])
    }
    /// Answers 422, as for a damaged image.
    public static let imageUploadError = Self("image_upload_error")
    /// An error of App Components by its name, for instance `DocumentExpired`.
    public static func componentError(_ name: String) -> Self { Self("component_error", .string(name)) }
    /// Ends the caller's session.
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
