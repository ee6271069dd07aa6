/// `GET /v1/health`, `/_sim/health`.
public struct Health: Codable, Sendable {
    /// `ok`, or `ready`.
    public var status: String

    public init(status: String) {
        self.status = status
    }
}
