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
    /// The item's fingerprint was registered [P].
    case registered
    /// The submission was withdrawn [P].
    case canceled
    /// The platform waits for more data; not final [P] [D newest-results].
    case dataRequired
    /// No result can be given [P].
    case notAvailable
    /// The item cannot be registered from these images [P].
    case registrationInvalid
    /// Items like this one cannot be registered [P].
    case registrationNotSupported
    /// A compared item is a registered one [P].
    case matchFound
    /// A compared item is none of the registered ones [P].
    case noMatchFound
    /// The submission has arrived; not final [P] [D newest-results].
    case received
    /// An id that this version does not know: the platform may add results [S].
    case other(String)
}

extension ResultID: RawRepresentable, CaseIterable {
    /// The results that the platform documents, in its order.
    public static let allCases: [ResultID] = [
        .authentic, .unknown, .notSupported, .needsReview, .invalid, .analyzed, .match, .noMatch, .registered,
        .canceled, .dataRequired, .notAvailable, .registrationInvalid, .registrationNotSupported, .matchFound,
        .noMatchFound, .received,
    ]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    /// Whether only compared fingerprints can have the result [D fingerprints].
    public var isOfComparisonsOnly: Bool { [.match, .noMatch, .matchFound, .noMatchFound].contains(self) }

    /// Whether only registrations of fingerprints can have the result [D fingerprints].
    public var isOfRegistrationsOnly: Bool {
        [.registered, .registrationInvalid, .registrationNotSupported].contains(self)
    }

    /// Whether the result is a final one. An id that this version does not know is final, as most are.
    public var isFinal: Bool { ![.needsReview, .dataRequired, .received].contains(self) }

    /// Whether a result may be flagged at all, if the settings list it: none of the newest interface may [D newest-results].
    public var mayBeFlaggable: Bool {
        ![
            .registered, .canceled, .dataRequired, .notAvailable, .registrationInvalid, .registrationNotSupported,
            .matchFound, .noMatchFound, .received,
        ].contains(self)
    }

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
        case .registered: "registered"
        case .canceled: "canceled"
        case .dataRequired: "data_required"
        case .notAvailable: "not_available"
        case .registrationInvalid: "registration_invalid"
        case .registrationNotSupported: "registration_not_supported"
        case .matchFound: "match_found"
        case .noMatchFound: "no_match_found"
        case .received: "received"
        case .other(let id): id
        }
    }
}
