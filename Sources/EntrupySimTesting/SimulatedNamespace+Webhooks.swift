import ClientTransport
import Foundation
import SimulationAPI

// Expectations about webhooks.
extension SimulatedNamespace {
    /// Expects deliveries of webhooks. Without a number, one is enough.
    ///
    /// In a test of Swift Testing a wrong number is recorded as an issue of the calling line, and the test goes on. Elsewhere it is
    /// thrown, which fails a test of XCTest.
    ///
    /// - Parameters:
    ///   - event: for instance `session.completed`; `nil` for any.
    ///   - entrupyID: the item; `nil` for any.
    ///   - status: `waiting`, `sending`, `retrying`, `delivered`, `failed`, `cancelled` or `any`.
    ///   - url: the receiver's URL; `nil` for any.
    ///   - attempts: the number of attempts; `nil` for any.
    ///   - times: the number of deliveries; `nil` if `atLeast` and `atMost` decide.
    ///   - within: how long to wait for them, in real time; `nil` not to wait: ``settle(within:)`` or advance the clock first. `times` and
    ///     `atMost` wait for all of it, unless too many come.
    ///   - anyURL: whether `url` may be one that no subscription has.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, if there is no such event, item, state or, where none is expected,
    ///   receiver, and outside Swift Testing for a wrong number.
    public func expectWebhook(
        _ event: String? = nil, of entrupyID: String? = nil, status: String = "delivered", url: String? = nil,
        attempts: Int? = nil, times: Int? = nil, atLeast: Int? = nil, atMost: Int? = nil,
        within: SimulatedDuration? = nil, anyURL: Bool = false, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let wanted = WantedDelivery(
            event: event, entrupyID: entrupyID, status: status, url: url, attempts: attempts)
        try wanted.check()
        guard times == nil || (atLeast == nil && atMost == nil) else {
            throw SimulatorError("times excludes atLeast and atMost: give one of them")
        }
        let (least, most) = (times ?? atLeast ?? (atMost == nil ? 1 : 0), times ?? atMost)
        guard least >= 0, least <= most ?? least else {
            throw SimulatorError("atLeast must be from 0 to atMost, got \(least) and \(most ?? least)")
        }
        guard let seconds = within.map(\.seconds) ?? 0, seconds >= 0 else {
            throw SimulatorError("within must be a duration of at least 0, got \(within?.text ?? "")")
        }
        try await checkEvent(event)
        let end = ProcessInfo.processInfo.systemUptime + seconds
        var found: (count: Int, others: [String])
        while true {
            let isLast = ProcessInfo.processInfo.systemUptime >= end
            found = try await count(wanted)
            // More can come while it waits, and fewer cannot: a number that is too large stays so, and one that is not holds at the
            // end alone.
            let isCertain = most.map { found.count > $0 } ?? (found.count >= least)
            if isLast || isCertain { break }
            try await Task.sleep(nanoseconds: 50_000_000)
        }
        if let most, found.count <= most {
            try await checkRemembered()
            if let url, !anyURL { try await checkReceiver(url) }
        }
        guard found.count < least || found.count > most ?? found.count else { return }
        let expected = most.map { $0 == least ? "\(least)" : "\(least) to \($0)" } ?? "at least \(least)"
        let hint = try await found.others.isEmpty ? webhookHint() : "; nearest:" + found.others.joined()
        try TestFailure.record(
            "webhook \(wanted.text): expected \(expected) such deliveries, found \(found.count)\(hint)", fileID,
            filePath,
            line, column)
    }

    /// The number of deliveries that are wanted, and what differs in up to three others.
    private func count(_ wanted: WantedDelivery) async throws -> (count: Int, others: [String]) {
        var (count, others) = (0, [String]())
        // A number that no namespace reaches.
        for delivery in try await deliveries(of: wanted.entrupyID, limit: 1_000_000_000) {
            let differences = wanted.differences(delivery)
            if differences.isEmpty {
                count += 1
            } else if others.count < 3 {
                let item = delivery.entrupy_id.map { " of \($0)" } ?? ""
                others.append(
                    "\n  \(delivery.event)\(item), \(delivery.status): \(differences.joined(separator: ", "))")
            }
        }
        return (count, others)
    }

    /// Throws if the namespace was restored: how many deliveries there were before is not known then.
    private func checkRemembered() async throws {
        let page = try await control.send("GET", "/_sim/webhook-deliveries?limit=1", as: WebhookDeliveryList.self)
        guard page.forgotten_before != nil else { return }
        throw SimulatorError(
            """
            the namespace was restored, and deliveries from before are forgotten, so times and atMost cannot be checked: expect at \
            least some, or count what deliveries() has
            """)
    }

    /// Throws if no subscription or delivery has a receiver's URL: a mistake would make an expectation of none worthless. That of a
    /// subscription that was deleted is not known.
    private func checkReceiver(_ url: String) async throws {
        let subscriptions = try await control.send("GET", "/_sim/webhooks", as: SubscriptionInfoList.self).webhooks.map(
            \.url)
        guard !subscriptions.contains(url),
            try await !deliveries(limit: 1_000_000_000).contains(where: { $0.url == url })
        else { return }
        let known = subscriptions.map(\.maskingQuery).joined(separator: ", ")
        throw SimulatorError(
            "no subscription has the url \(url.maskingQuery): \(known.isEmpty ? "there is none" : "they have \(known)"). If it is meant: anyURL: true in expectWebhook"
        )
    }

    /// Throws if there is no such event: a mistake would make an expectation of none worthless.
    private func checkEvent(_ event: String?) async throws {
        guard let event else { return }
        let choices = try await control.send("GET", "/_sim/choices", as: Choices.self)
        let known = (choices.lists["webhook_events"] ?? []).map(\.id)
        guard event != "verification", !known.contains(event) else { return }
        throw SimulatorError(
            "there is no event \"\(event)\": use one of \(known.joined(separator: ", ")), or verification")
    }

    /// The reason why there is no delivery, if it is known.
    private func webhookHint() async throws -> String {
        let subscriptions = try await control.send("GET", "/_sim/webhooks", as: SubscriptionInfoList.self)
        if subscriptions.webhooks.isEmpty { return "; there is no subscription: make one with subscribe()" }
        let state = try await clock.state
        guard state.mode == "frozen" else { return "" }
        let work = try await due()
        return work.isEmpty ? "" : "; the clock is frozen at \(state.now) and something is due: advance it"
    }
}

/// The deliveries that a test expects.
private struct WantedDelivery: Sendable {
    let event: String?
    let entrupyID: String?
    let status: String
    let url: String?
    let attempts: Int?

    /// The states of deliveries.
    private static let states = ["waiting", "sending", "retrying", "delivered", "failed", "cancelled"]

    var text: String { [event, entrupyID, status, url].compactMap { $0 }.joined(separator: " ") }

    func check() throws {
        guard status == "any" || Self.states.contains(status) else {
            throw SimulatorError("status must be \(Self.states.joined(separator: ", ")) or any, got \"\(status)\"")
        }
    }

    /// The differences of a delivery.
    func differences(_ delivery: WebhookDelivery) -> [String] {
        var found: [String] = []
        if let event, delivery.event != event { found.append("event is \(delivery.event), not \(event)") }
        // A verification of the receiver's domain is not an event.
        if event == nil, delivery.event == "verification" { found.append("it verifies the domain") }
        if status != "any", delivery.status != status { found.append("status is \(delivery.status), not \(status)") }
        if let url, delivery.url != url { found.append("url is another one than \(url)") }
        if let attempts, delivery.attempts.count != attempts {
            found.append("attempts are \(delivery.attempts.count), not \(attempts)")
        }
        return found
    }
}
