/// An item's flag as `status.flag` of a result shows it.
public struct ResultFlag: Codable, Sendable {
    /// `none`, `flagged`, `resolved`; others only through the control API, for a client's `.other` case.
    public var id: String
    /// Whether the user may set a flag: depends on the result and the organization's switch alone.
    public var is_flaggable: Bool

    /// Makes one from its members.
    public init(id: String, is_flaggable: Bool) {
        self.id = id
        self.is_flaggable = is_flaggable
    }
}

/// `GET|PUT /sdk/results/{entrupy_id}/flag`: v1 of the SDK decodes the top level, v2 the nested part [P].
public struct FlagDetails: Codable, Sendable {
    /// The same as `flag_status.id`.
    public var id: String
    /// The same as `flag_status.is_flaggable`.
    public var is_flaggable: Bool
    /// What v2 of the SDK reads.
    public var flag_status: FlagStatus
    /// What `flag_reason_id` may be.
    public var supported_flag_reasons: [FlagReason]

    /// Makes one from its members.
    public init(flag_status: FlagStatus, supported_flag_reasons: [FlagReason]) {
        id = flag_status.id
        is_flaggable = flag_status.is_flaggable
        self.flag_status = flag_status
        self.supported_flag_reasons = supported_flag_reasons
    }
}

/// A flag, with why and when.
public struct FlagStatus: Codable, Sendable {
    /// `none`, `flagged`, `resolved`, or what the control API gave.
    public var id: String
    /// Whether the user may set a flag.
    public var is_flaggable: Bool
    /// Null where there is no flag.
    @Nullable public var flag_info: FlagInfo?

    /// Makes one from its members.
    public init(id: String, is_flaggable: Bool, flag_info: FlagInfo?) {
        self.id = id
        self.is_flaggable = is_flaggable
        self._flag_info = Nullable(wrappedValue: flag_info)
    }
}

/// Why and when an item was flagged, and what came of it. Times are epoch seconds.
public struct FlagInfo: Codable, Sendable {
    /// The reason's id.
    public var id: String
    /// The reason, in the caller's language.
    public var label: String
    /// What the user wrote, or null.
    @Nullable public var message: String?
    /// When the flag was set.
    public var flagged_at: Double
    /// When support resolved it, or null.
    @Nullable public var resolved_at: Double?
    /// What support wrote, or null.
    @Nullable public var note: String?

    /// Makes one from its members.
    public init(
        id: String, label: String, message: String?, flagged_at: Double, resolved_at: Double?, note: String?
    ) {
        self.id = id
        self.label = label
        self._message = Nullable(wrappedValue: message)
        self.flagged_at = flagged_at
        self._resolved_at = Nullable(wrappedValue: resolved_at)
        self._note = Nullable(wrappedValue: note)
    }
}

/// A reason a flag may be set for.
public struct FlagReason: Codable, Sendable {
    /// The reason's id.
    public var id: String
    /// The reason, in the caller's language.
    public var label: String

    /// Makes one from its members.
    public init(id: String, label: String) {
        self.id = id
        self.label = label
    }
}

/// `PUT /sdk/results/{entrupy_id}/flag`.
public struct SetFlagRequest: Codable, Sendable {
    /// True sets the flag, false clears it.
    public var flag: Bool
    /// One of `supported_flag_reasons`; the first where absent.
    public var flag_reason_id: String?
    /// At most 2,000 characters [D].
    public var message: String?

    /// Makes one from its members.
    public init(flag: Bool, flag_reason_id: String? = nil, message: String? = nil) {
        self.flag = flag
        self.flag_reason_id = flag_reason_id
        self.message = message
    }
}
