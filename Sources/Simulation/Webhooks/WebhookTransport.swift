import NIOConcurrencyHelpers

/// The way of webhooks out of the server: who sends them, and where they may go.
package final class WebhookTransport: Sendable {
    /// Makes webhook attempts, and ends each.
    package typealias Sender = @Sendable (_ attempts: [WebhookAttempt]) -> Void

    /// Why the next attempt of a delivery waits for one of the server's connections; `nil` if it does not.
    package typealias HoldReason = @Sendable (_ namespace: String, _ deliveryID: String) -> String?

    /// A sender within a value of its own. A function that is itself the value of a box is wrapped at each reading, and
    /// a release build with Swift 6.3 does not free the wrappers. They are small, but a page with one is never free.
    private struct HeldSender {
        let send: Sender
        let holdReason: HoldReason
    }

    /// Whether webhooks may go to addresses beyond this machine and private networks.
    package let allowsAnyTarget: Bool
    private let sender = NIOLockedValueBox<HeldSender?>(nil)
    private let ownAddressBox = NIOLockedValueBox<ServerAddress?>(nil)

    init(allowsAnyTarget: Bool) {
        self.allowsAnyTarget = allowsAnyTarget
    }

    /// The address the server listens on, to which no webhook may go. Set once it listens; in a replay, the recorded server's
    /// address.
    package var ownAddress: ServerAddress? {
        get { ownAddressBox.withLockedValue { $0 } }
        set { ownAddressBox.withLockedValue { $0 = newValue } }
    }

    /// Sets the functions that make webhook attempts and say what holds them back.
    package func setSender(_ send: @escaping Sender, holdReason: @escaping HoldReason = { _, _ in nil }) {
        sender.withLockedValue { $0 = HeldSender(send: send, holdReason: holdReason) }
    }

    /// Why the next attempt of a delivery waits for one of the server's connections; `nil` if it does not.
    package func holdReason(namespace: String, deliveryID: String) -> String? {
        sender.withLockedValue { $0 }?.holdReason(namespace, deliveryID)
    }

    /// Starts webhook attempts outside the mailbox. Without a sender they end at once, and are made when the server starts again.
    func send(_ attempts: [WebhookAttempt]) {
        guard let sender = sender.withLockedValue({ $0 }) else { return attempts.forEach { $0.end() } }
        sender.send(attempts)
    }
}
