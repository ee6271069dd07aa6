import SimulationAPI

/// The effect of a fault.
public struct FaultEffect: Sendable {
    let value: JSONValue

    private init(_ name: String, _ value: JSONValue = .bool(true)) {
        self.value = .object(JSONObject([(name, value)]))
    }

    /// Answers with a status, and the platform's own body or another one.
    public static func status(_ status: Int, body: JSONValue? = nil) -> Self {
        var effect = Self("status", .number(JSONNumber(status)))
        if let body, var members = effect.value.members {
            members["body"] = body
            effect = Self(members: members)
        }
        return effect
    }

    private init(members: JSONObject) {
        value = .object(members)
    }

    /// Answers later, in real time; a webhook by the namespace's clock.
    public static func delay(_ duration: SimulatedDuration) -> Self { Self("delay", .string(duration.text)) }
    /// Closes the connection without an answer.
    public static let dropConnection = Self("drop_connection")
    /// Sends so many bytes of the answer's body and closes the connection.
    public static func truncateBody(_ bytes: Int) -> Self { Self("truncate_body", .number(JSONNumber(bytes))) }
    /// Sends the body at so many bytes a second.
    public static func slowBody(_ bytesPerSecond: Int) -> Self {
        Self("slow_body", .number(JSONNumber(bytesPerSecond)))
    }
    public static let malformedJSON = Self("malformed_json")
    /// 429, as if a limit were exceeded.
    public static let rateLimit = Self("rate_limit")
    /// 422, as for a damaged picture.
    public static let imageUploadError = Self("image_upload_error")
    /// An error of App Components by its name, for instance `DocumentExpired`.
    public static func componentError(_ name: String) -> Self { Self("component_error", .string(name)) }
    /// Ends the caller's session.
    public static let expireSession = Self("expire_session")
    /// Of webhooks: is not sent.
    public static let drop = Self("drop")
    /// Of webhooks: is sent twice.
    public static let duplicate = Self("duplicate")
    /// Of webhooks: is sent after the next one.
    public static let reorder = Self("reorder")
    /// Of webhooks: carries a signature that is wrong.
    public static let wrongSignature = Self("wrong_signature")
}
