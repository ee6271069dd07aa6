/// An attempt with what it was made for.
package struct DeliveredAttempt: Sendable {
    package let attempt: AttemptRecord
    package let event: String
    /// The URL of the subscription; `nil` if that is deleted.
    package let url: String?
    /// The cause of the delivery; `nil` if that is not known.
    package let cause: Cause?
    /// Whether a fault touched the attempt, or the delivery that it belongs to.
    package let isFaulty: Bool
}

extension Transaction {
    /// The attempts of the newest deliveries, oldest delivery first. Verifications of domains are no deliveries.
    ///
    /// - Parameter recent: the number of deliveries that are looked at.
    package func attempts(ofDeliveries recent: Int64) throws -> [DeliveredAttempt] {
        try all(
            """
            SELECT a.delivery_id, a.number, a.at, a.status, a.error, a.milliseconds, a.fault_id, a.signature, d.event,
                s.url, d.cause, d.fault_id IS NOT NULL OR a.fault_id IS NOT NULL
            FROM deliveries d JOIN attempts a ON a.delivery_id = d.id
            LEFT JOIN subscriptions s ON s.id = d.subscription_id
            WHERE d.position > (SELECT COALESCE(MAX(position), 0) - ? FROM deliveries) AND d.format <> ?
            ORDER BY d.position, a.number
            """, [recent, DeliveryRecord.verification]
        ) {
            try DeliveredAttempt(
                attempt: AttemptRecord(
                    deliveryID: $0[0], number: $0[1], at: $0[2], status: $0[3], error: $0[4], milliseconds: $0[5],
                    answer: nil, faultID: $0[6], signature: $0[7]),
                event: $0[8], url: $0[9], cause: $0[10], isFaulty: $0[11])
        }
    }
}
