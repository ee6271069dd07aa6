// The models of certificate transfers, so that apps that read them compile. The simulated platform keeps transfers in the partner
// API, and sends none to the SDK.

/// The state of a certificate's transfer.
public enum EntrupyTransferStatus: String, CaseIterable, Codable, Sendable {
    case available, pending, completed, cancelled, declined, acknowledged
    case underReview = "under_review"
    case expired, failed, unsuccessful
    /// Any other state.
    case unknown

    public init(rawValue: String) {
        self = Self.allCases.first { Array($0.rawValue.utf8) == Array(rawValue.utf8) } ?? .unknown
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
