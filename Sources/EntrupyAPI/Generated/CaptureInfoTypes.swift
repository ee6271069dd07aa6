// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `GET /_sim/captures` [D control-api].
public struct CaptureInfoList: Codable, Sendable {
    /// The captures, newest first.
    public var captures: [CaptureInfo]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?
    /// The state that the list is limited to; `all` for no limit.
    public var status: String
    /// The way to the captures in other states; null if all are listed.
    @Nullable public var hint: String?

    public init(captures: [CaptureInfo], next_cursor: String?, status: String, hint: String?) {
        self.captures = captures
        _next_cursor = Nullable(wrappedValue: next_cursor)
        self.status = status
        _hint = Nullable(wrappedValue: hint)
    }
}

/// The captures, newest first.
public struct CaptureInfo: Codable, Sendable {
    public var id: String
    /// The name of the user.
    public var username: String
    public var status: Capture.Status
    /// The workflow: `production` or `debug`.
    public var config_type: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The time of the start, in epoch seconds.
    public var started_at: Double
    /// The time at which the capture times out, in epoch seconds.
    public var expires_at: Double
    /// The seconds until the capture times out; null if it has ended.
    @Nullable public var seconds_left: Double?
    /// The regions whose pictures have been uploaded.
    public var uploaded: [String]
    /// The required regions whose pictures are missing.
    public var missing: [String]
    /// The id of the item that the submission created, or null.
    @Nullable public var entrupy_id: String?

    public init(
        id: String, username: String, status: Capture.Status, config_type: String, customer_item_id: String?,
        started_at: Double, expires_at: Double, seconds_left: Double?, uploaded: [String], missing: [String],
        entrupy_id: String?
    ) {
        self.id = id
        self.username = username
        self.status = status
        self.config_type = config_type
        _customer_item_id = Nullable(wrappedValue: customer_item_id)
        self.started_at = started_at
        self.expires_at = expires_at
        _seconds_left = Nullable(wrappedValue: seconds_left)
        self.uploaded = uploaded
        self.missing = missing
        _entrupy_id = Nullable(wrappedValue: entrupy_id)
    }
}
