// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

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
    /// The documented ones, in the order of the description.
    public static let allCases: [ResultID] = [
        .authentic, .unknown, .notSupported, .needsReview, .invalid, .analyzed, .match, .noMatch, .registered,
        .canceled, .dataRequired, .notAvailable, .registrationInvalid, .registrationNotSupported, .matchFound,
        .noMatchFound, .received,
    ]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
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
        case .other(let value): value
        }
    }
}

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
    /// The documented ones, in the order of the description.
    public static let allCases: [FlagID] = [.unflagged, .flagged, .resolved]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .unflagged: "none"
        case .flagged: "flagged"
        case .resolved: "resolved"
        case .other(let value): value
        }
    }
}

extension Capture {
    /// The state of a capture. Every state but `started` is final. Its JSON is the state as text.
    public enum Status: Codable, Sendable, Hashable {
        case started
        case submitted
        case cancelled
        case timedOut
        /// A state that this version does not know.
        case other(String)
    }
}

extension Capture.Status: RawRepresentable, CaseIterable {
    /// The documented ones, in the order of the description.
    public static let allCases: [Capture.Status] = [.started, .submitted, .cancelled, .timedOut]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .started: "started"
        case .submitted: "submitted"
        case .cancelled: "cancelled"
        case .timedOut: "timed_out"
        case .other(let value): value
        }
    }
}

/// The capture workflow of a client [S].
public enum ConfigType: String, Codable, Sendable, CaseIterable {
    /// The full workflow.
    case production
    /// A shorter workflow for development. Every item submitted with it becomes Invalid.
    case debug
}

/// The service that the platform performs for an item [P] [D fingerprints].
public enum Activity: String, Codable, Sendable, CaseIterable {
    case authentication
    /// Takes the fingerprint of an item, for later comparison.
    case fingerprintRegister = "fingerprint_register"
    /// Compares an item with the fingerprint of a registered one.
    case fingerprintCompare = "fingerprint_compare"
}

/// The device that took an item's pictures [P].
public enum FormFactor: String, Codable, Sendable, CaseIterable {
    /// The microscope of the first versions. `Api-Version` 1.0 and 1.1 know these items alone.
    case microscopic
    case lightbox
    /// A phone's camera, as the SDK uses it.
    case freeCamera = "free_camera"
}

/// An event that a subscription can receive [P].
public enum WebhookEvent: String, Codable, Sendable, CaseIterable {
    /// An item received its first final result.
    case sessionCompleted = "session.completed"
    /// An item was created or flagged, its flag was cleared or resolved, or its result changed.
    case sessionUpdated = "session.updated"
    /// The platform's support asked a question or requested a retake.
    case supportMessage = "support.message"
    /// A certificate was transferred to another holder.
    case certificateTransfer = "certificate.transfer"
}

/// The form of a webhook's body [D webhook-body].
public enum WebhookFormat: String, Codable, Sendable, CaseIterable {
    /// `{"items": [item]}`, with the v1 item of the subscription's version; the v1.4 item for v2 [P].
    case items
    /// An envelope of the event, whose `data` is the item of the subscription's version.
    case event
}

/// The form of a webhook's signature: of the HMAC-SHA256 of the body's bytes [D webhook-signature].
public enum WebhookSignatureForm: String, Codable, Sendable, CaseIterable {
    /// `SHA256:` and the base64 of the code, with padding.
    case base64 = "sha256-base64"
    /// `SHA256:` and the code in lower-case hex.
    case prefixedHex = "sha256-hex"
    /// The code in lower-case hex.
    case hex
}
