// The models of certificate transfers, so that apps that read them compile. The simulated platform keeps transfers in the partner
// API, and sends none to the SDK.

/// The state of a certificate's transfer.
public enum EntrupyTransferStatus: Equatable, Hashable, Codable, Sendable {
    case available, pending, completed, cancelled, declined, acknowledged, underReview, expired, failed, unsuccessful
    /// Any other state.
    case unknown

    private static let names: [(EntrupyTransferStatus, String)] = [
        (.available, "available"), (.pending, "pending"), (.completed, "completed"), (.cancelled, "cancelled"),
        (.declined, "declined"), (.acknowledged, "acknowledged"), (.underReview, "under_review"), (.expired, "expired"),
        (.failed, "failed"), (.unsuccessful, "unsuccessful"),
    ]

    public init(rawValue: String) {
        self = Self.names.first { Array($0.1.utf8) == Array(rawValue.utf8) }?.0 ?? .unknown
    }

    public var rawValue: String {
        Self.names.first { $0.0 == self }?.1 ?? "unknown"
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(rawValue)
    }
}

/// The transfer of an item's certificate. Times are ISO 8601.
public struct EntrupyCertTransferInfo: Codable, Sendable {
    public let is_eligible: Bool?
    public let status: EntrupyTransferStatus
    public let transfer_id: String?
    public let is_control_visible: Bool?
    public let recipient_name: String?
    public let sender_name: String?
    public let initiated_at: String?
    public let claimed_at: String?
    public let fp_started_at: String?
    public let finalized_at: String?
    public let expires_at: String?
    public let sender_message_max_length: Int?
    public let transferred_onward: Bool?

    // The same members by Swift's names. An absent flag is false.
    public var isEligible: Bool { is_eligible ?? false }
    public var isControlVisible: Bool { is_control_visible ?? false }
    public var transferId: String? { transfer_id }
    public var recipientName: String? { recipient_name }
    public var senderName: String? { sender_name }
    public var initiatedAt: String? { initiated_at }
    public var claimedAt: String? { claimed_at }
    public var fpStartedAt: String? { fp_started_at }
    public var finalizedAt: String? { finalized_at }
    public var expiresAt: String? { expires_at }
    public var senderMessageMaxLength: Int? { sender_message_max_length }
    public var transferredOnward: Bool { transferred_onward ?? false }
}
