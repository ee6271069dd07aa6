import SimulationAPI
import Storage

/// The one-second rate limit windows of users and API tokens. They are in memory and empty after a restart
/// [D second-windows].
package struct RateLimits {
    private var users: [Int64: SlidingWindow] = [:]
    private var tokens: [String: SlidingWindow] = [:]

    /// The number of windows above which empty ones are removed.
    private static let sweepAt = 10_000

    /// The wait before a user's next request; `nil` if none.
    package mutating func userWait(_ id: Int64, at now: Instant, limit: Int?) -> Span? {
        guard let limit else { return nil }
        return users[id, default: SlidingWindow(length: .second)].wait(at: now, limit: limit)
    }

    /// The number of a user's requests in the window.
    package mutating func userCount(_ id: Int64, at now: Instant) -> Int {
        users[id]?.count(at: now) ?? 0
    }

    /// Counts a user's request.
    package mutating func recordUser(_ id: Int64, at now: Instant) {
        users[id, default: SlidingWindow(length: .second)].record(at: now)
        if users.count > Self.sweepAt { Self.sweep(&users, at: now) }
    }

    /// The wait before an API token's next request; `nil` if none.
    package mutating func tokenWait(_ token: String, at now: Instant, limit: Int?) -> Span? {
        guard let limit else { return nil }
        return tokens[token, default: SlidingWindow(length: .second)].wait(at: now, limit: limit)
    }

    /// Counts a request with an API token.
    package mutating func recordToken(_ token: String, at now: Instant) {
        tokens[token, default: SlidingWindow(length: .second)].record(at: now)
        if tokens.count > Self.sweepAt { Self.sweep(&tokens, at: now) }
    }

    /// The users whose window is not empty, busiest first.
    package mutating func busyUsers(at now: Instant) -> [(id: Int64, count: Int)] {
        users.keys.map { ($0, users[$0]!.count(at: now)) }.filter { $0.1 > 0 }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// The number of an API token's requests in its window.
    package mutating func tokenCount(_ token: String, at now: Instant) -> Int {
        tokens[token]?.count(at: now) ?? 0
    }

    private static func sweep<Key>(_ windows: inout [Key: SlidingWindow], at now: Instant) {
        for key in windows.keys where windows[key]!.isEmpty(at: now) {
            windows[key] = nil
        }
    }
}

/// A limit that is exceeded.
package struct Exceeded {
    /// The setting's name.
    package let setting: String
    /// The number that the limit allows.
    package let allowed: Int
    /// What it allows, in words after the number, for instance `requests a second for a user`.
    package let counted: String
    /// The time until the next request is allowed.
    package let wait: Span

    /// The limit in words.
    package var limit: String { "\(allowed) \(counted)" }

    package init(_ setting: String, _ allowed: Int, _ counted: String, _ wait: Span) {
        self.setting = setting
        self.allowed = allowed
        self.counted = counted
        self.wait = wait
    }
}

extension JobContext {
    /// The error for a request over its limits. The longest wait counts [D retry-after].
    ///
    /// - Parameters:
    ///   - group: the member of the settings that holds the limits.
    ///   - wayOut: how to switch the limits off, in words.
    package func overLimit(_ exceeded: [Exceeded], of group: String, wayOut: String) -> PlatformError {
        note { outcome in
            outcome.limits = exceeded.map(\.setting)
            outcome.facts += exceeded.map { fact($0, of: group) }
        }
        let longest = exceeded.map(\.wait).max() ?? .second
        var details = exceeded.map {
            ErrorDetail(
                "\(group).\($0.setting)", "\($0.limit): the next is allowed in \($0.wait.roundedUpSeconds) s")
        }
        if state.clock.isFrozen {
            details.append(
                ErrorDetail(
                    "clock",
                    """
                    the namespace's clock is frozen at \(now.display), so waiting does not help: advance it \
                    (POST /_sim/clock/advance {"by": "\(longest.roundedUpSeconds)s"}) or \(wayOut)
                    """))
        }
        return .rateLimited(
            "rate limit exceeded: \(exceeded.map(\.limit).joined(separator: "; "))",
            retryAfter: longest.roundedUpSeconds, details: details)
    }

    /// - Parameter group: the member of the settings that holds the limit.
    private func fact(_ exceeded: Exceeded, of group: String) -> DecidingFact {
        let wait = "\(exceeded.wait.roundedUpSeconds) s"
        return DecidingFact(
            .limit, "\(group).\(exceeded.setting)",
            "one more than \(exceeded.limit)"
                + (state.clock.isFrozen ? "; the clock is frozen at \(now.display)" : ""),
            otherwise: state.clock.isFrozen
                ? "an advance of the clock by \(wait), or a higher limit" : "a request \(wait) later, or a higher limit"
        )
    }
}
