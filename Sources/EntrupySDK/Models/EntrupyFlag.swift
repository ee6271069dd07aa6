/// The state of a flag.
public enum EntrupyFlagId: RawRepresentable, Hashable, CustomStringConvertible, Codable, Sendable {
    case none, flagged, resolved
    /// A state that this version does not know, by its id.
    case other(String)

    public init(rawValue: String) {
        self =
            [EntrupyFlagId.none, .flagged, .resolved].first { Array($0.description.utf8) == Array(rawValue.utf8) }
            ?? .other(rawValue)
    }

    /// The id of the state, as the platform sends it.
    public var description: String {
        switch self {
        case .none: "none"
        case .flagged: "flagged"
        case .resolved: "resolved"
        case .other(let id): id
        }
    }

    public var rawValue: String { description }
}

/// A flag of a result, and whether the result can be flagged.
public struct EntrupyCaptureResultStatusFlag: Codable, Sendable {
    public var id: EntrupyFlagId
    public let is_flaggable: Bool
    /// The reason and message of the flag; absent if there is none.
    public let flag_info: EntrupyCaptureResultStatusFlagInfo?

    public init(id: EntrupyFlagId, is_flaggable: Bool, flag_info: EntrupyCaptureResultStatusFlagInfo? = nil) {
        self.id = id
        self.is_flaggable = is_flaggable
        self.flag_info = flag_info
    }

    /// Whether the result is flagged now.
    public var isFlagged: Bool { id == .flagged }

    /// Changes the state between flagged and none, in this value alone.
    public mutating func toggle() {
        id = isFlagged ? .none : .flagged
    }
}

/// A reason to flag a result, or the reason that a flag has.
public struct EntrupyCaptureResultStatusFlagInfo: Codable, Sendable {
    /// The id of the reason, for `flagReasonId`.
    public let id: String?
    public let label: String?
    /// The user's message; absent in a list of reasons.
    public let message: String?
}

/// The flag of a result with the reasons that a user may choose.
public struct EntrupyFlagDetails: Codable, Sendable {
    public let flag_status: EntrupyCaptureResultStatusFlag
    public let supported_flag_reasons: [EntrupyCaptureResultStatusFlagInfo]?
}
