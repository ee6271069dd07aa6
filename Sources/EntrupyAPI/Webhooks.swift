import Foundation
import SimulationAPI

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

    /// The header that holds the signature [P].
    public static let header = "Entrupy-Signature"

    /// The header's value.
    ///
    /// - Parameter code: the HMAC-SHA256 of the body, 32 bytes. The key is the subscription's secret in UTF-8.
    public func text(of code: some Collection<UInt8>) -> String {
        let hex = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return switch self {
        case .base64: "SHA256:" + Data(code).base64EncodedString()
        case .prefixedHex: "SHA256:" + hex
        case .hex: hex
        }
    }
}

extension SubscriptionInfo {
    /// Creates a description from the subscription as its organization sees it.
    public init(_ subscription: Subscription, organization: String, open_deliveries: Int, failing: Failing?) {
        self.init(
            id: subscription.id, organization: organization, url: subscription.url, events: subscription.events,
            username: subscription.username, version: subscription.version, format: subscription.format.rawValue,
            signature: subscription.signature.rawValue, status: subscription.status.rawValue,
            verification: subscription.verification, created_at: subscription.created_at,
            open_deliveries: open_deliveries, failing: failing)
    }
}

extension Subscription {
    /// Whether a subscription gets deliveries.
    public enum Status: String, Codable, Sendable {
        case active, pending
    }
}
