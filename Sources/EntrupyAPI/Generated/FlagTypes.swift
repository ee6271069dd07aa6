// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// The flag. Version 1 of the SDK reads the top level, version 2 `flag_status` [P].
public struct FlagDetails: Codable, Sendable {
    /// The flag's id, also in `flag_status.id`.
    public var id: FlagID
    /// Whether the user may set a flag, also in `flag_status.is_flaggable`.
    public var is_flaggable: Bool
    /// The flag as version 2 of the SDK reads it.
    public var flag_status: FlagStatus
    /// The reasons whose ids `flag_reason_id` accepts.
    public var supported_flag_reasons: [FlagReason]

    public init(flag_status: FlagStatus, supported_flag_reasons: [FlagReason]) {
        self.id = flag_status.id
        self.is_flaggable = flag_status.is_flaggable
        self.flag_status = flag_status
        self.supported_flag_reasons = supported_flag_reasons
    }
}

/// The reasons whose ids `flag_reason_id` accepts.
public struct FlagReason: Codable, Sendable {
    public var id: String
    /// The reason, in the caller's language.
    public var label: String

    public init(id: String, label: String) {
        self.id = id
        self.label = label
    }
}

/// A flag, with its reason and time.
public struct FlagStatus: Codable, Sendable {
    /// The flag's id: `none`, `flagged`, `resolved` or an id set through the control API.
    public var id: FlagID
    /// Whether the user may set a flag.
    public var is_flaggable: Bool
    /// The reason and time; null if there is no flag.
    @Nullable public var flag_info: FlagInfo?

    public init(id: FlagID, is_flaggable: Bool, flag_info: FlagInfo?) {
        self.id = id
        self.is_flaggable = is_flaggable
        _flag_info = Nullable(wrappedValue: flag_info)
    }
}

/// The reason and time; null if there is no flag.
public struct FlagInfo: Codable, Sendable {
    /// The reason's id.
    public var id: String
    /// The reason, in the caller's language.
    public var label: String
    /// The user's message, or null.
    @Nullable public var message: String?
    /// The time at which the flag was set.
    public var flagged_at: Double
    /// The time at which support resolved the flag, or null.
    @Nullable public var resolved_at: Double?
    /// The note by support.
    @Nullable public var note: String?

    public init(id: String, label: String, message: String?, flagged_at: Double, resolved_at: Double?, note: String?) {
        self.id = id
        self.label = label
        _message = Nullable(wrappedValue: message)
        self.flagged_at = flagged_at
        _resolved_at = Nullable(wrappedValue: resolved_at)
        _note = Nullable(wrappedValue: note)
    }
}

/// `PUT /sdk/results/{entrupy_id}/flag`.
public struct SetFlagRequest: Codable, Sendable {
    /// The new state: true sets the flag, false clears it. Clearing ignores the other members.
    public var flag: Bool
    /// The reason of a flag that is set [D flag-reasons].
    public var flag_reason_id: String?
    /// The user's words about it [D flag-reasons].
    public var message: String?

    public init(flag: Bool, flag_reason_id: String? = nil, message: String? = nil) {
        self.flag = flag
        self.flag_reason_id = flag_reason_id
        self.message = message
    }
}
