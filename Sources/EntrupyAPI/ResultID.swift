import SimulationAPI

/// The id of an item's result [S]. Its JSON is the id as text.
public enum ResultID: Codable, Sendable, Hashable {
    case authentic
    /// The item could not be identified.
    case unknown
    case notSupported
    /// The item is under review: it has no final result yet.
    case needsReview
    case invalid
    /// The item was analyzed, without a verdict. There is no certificate [P] [D analyzed].
    case analyzed
    /// A compared item is the registered one [D fingerprints].
    case match
    /// A compared item is not the registered one [D fingerprints].
    case noMatch
    /// An id that this version does not know: the platform may add results [S].
    case other(String)
}

extension ResultID: RawRepresentable, CaseIterable {
    /// The results that the platform documents, in its order.
    public static let allCases: [ResultID] = [
        .authentic, .unknown, .notSupported, .needsReview, .invalid, .analyzed, .match, .noMatch,
    ]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    /// Whether only compared fingerprints can have the result [D fingerprints].
    public var isOfComparisonsOnly: Bool { self == .match || self == .noMatch }

    public var rawValue: String {
        switch self {
        case .authentic: "authentic"
        case .unknown: "unknown"
        case .notSupported: "not_supported"
        case .needsReview: "needs_review"
        case .invalid: "invalid"
        case .analyzed: "analyzed"
        case .match: "match"
        case .noMatch: "no_match"
        case .other(let id): id
        }
    }
}
