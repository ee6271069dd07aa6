// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /v1/health`, `GET /_sim/health`, `GET /_sim/ready`.
public struct Health: Codable, Sendable {
    /// `ok`, or `ready`.
    public var status: String

    public init(status: String) {
        self.status = status
    }
}
