// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/requests` [D journal].
public struct RequestList: Codable, Sendable {
    /// The requests, newest first.
    public var requests: [JournaledRequest]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(requests: [JournaledRequest], next_cursor: String?) {
        self.requests = requests
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The headers and body of a request or an answer.
public struct JournaledMessage: Codable, Sendable {
    /// The header fields as pairs of name and value, in the order in which they arrived.
    public var headers: [[String]]
    /// The stored part of the body, with secrets masked; null if the body is not text.
    @Nullable public var body: String?
    /// The size of the whole body in bytes.
    public var bytes: Int
    /// Whether the stored body is shorter than the whole.
    public var truncated: Bool

    public init(headers: [[String]], body: String?, bytes: Int, truncated: Bool) {
        self.headers = headers
        _body = Nullable(wrappedValue: body)
        self.bytes = bytes
        self.truncated = truncated
    }
}
