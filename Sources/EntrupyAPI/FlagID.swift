import SimulationAPI

/// The id of an item's flag [S]. Its JSON is the id as text.
public enum FlagID: Codable, Sendable, Hashable {
    /// The item has no flag; the id is `none`.
    case unflagged
    case flagged
    /// Support has answered the flag.
    case resolved
    /// An id that this version does not know: the platform may add some, and the control API can set any [S].
    case other(String)
}

extension FlagID: RawRepresentable, CaseIterable {
    /// The flags that the platform documents.
    public static let allCases: [FlagID] = [.unflagged, .flagged, .resolved]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .unflagged: "none"
        case .flagged: "flagged"
        case .resolved: "resolved"
        case .other(let id): id
        }
    }
}
