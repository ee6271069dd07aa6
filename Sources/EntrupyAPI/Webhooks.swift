import Foundation
import SimulationAPI

extension WebhookSignatureForm {
    /// The header that holds the signature [P] [D webhook-signature].
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
