import SimulationAPI
import Storage

/// The one-second rate limit windows of users and API tokens. They are in memory and empty after a restart
/// [D second-windows].
package struct RateLimits {
    /// The caller that a window belongs to.
    package enum Caller: Hashable {
        case user(Int64)
        case token(String)
    }

    private var windows: [Caller: SlidingWindow] = [:]

    /// The number of windows above which empty ones are removed. It doubles while they are not empty, so that no request looks at all of
    /// them again.
    private var sweepAt = Self.minSweep
    private static let minSweep = 20_000
    /// How often empty windows were looked for; for tests.
    private(set) var sweeps = 0

    /// The wait before a caller's next request; `nil` if none.
    package mutating func wait(_ caller: Caller, at now: Instant, limit: Int?) -> Span? {
        guard let limit else { return nil }
        return windows[caller, default: SlidingWindow(length: .second)].wait(at: now, limit: limit)
    }

    /// How much of a limit a caller has left.
    package mutating func left(_ caller: Caller, at now: Instant, limit: Int) -> LimitLeft {
        windows[caller, default: SlidingWindow(length: .second)].left(at: now, limit: limit)
    }

    /// The number of a caller's requests in the window.
    package mutating func count(_ caller: Caller, at now: Instant) -> Int {
        windows[caller]?.count(at: now) ?? 0
    }

    /// Counts a caller's request.
    package mutating func record(_ caller: Caller, at now: Instant) {
        windows[caller, default: SlidingWindow(length: .second)].record(at: now)
        guard windows.count > sweepAt else { return }
        for key in windows.keys where count(key, at: now) == 0 { windows[key] = nil }
        sweepAt = max(Self.minSweep, 2 * windows.count)
        sweeps += 1
    }

    /// The users whose window is not empty, busiest first.
    package mutating func busyUsers(at now: Instant) -> [(id: Int64, count: Int)] {
        windows.keys.compactMap { if case .user(let id) = $0 { (id, count($0, at: now)) } else { nil } }
            .filter { $0.1 > 0 }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}

/// How much of a limit a caller has left, as answers tell with the setting `rate_limits.headers` [P, D limit-headers].
package struct LimitLeft: Sendable {
    /// The number that the limit allows.
    package let limit: Int
    /// How many more are allowed now.
    package let remaining: Int
    /// The time at which one more is allowed again.
    package let reset: Instant

    package init(limit: Int, remaining: Int, reset: Instant) {
        self.limit = limit
        self.remaining = remaining
        self.reset = reset
    }

    /// The limit with the fewest left; of those the one that lasts longest.
    package static func tightest(_ limits: [LimitLeft]) -> LimitLeft? {
        limits.min { ($0.remaining, $1.reset.microseconds) < ($1.remaining, $0.reset.microseconds) }
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
    /// The user whose own limit it is, by name; `nil` if it is the namespace's.
    package var owner: String?

    /// The limit in words.
    package var limit: String { "\(allowed) \(counted)" }

    /// - Parameters:
    ///   - thing: what is counted, in the singular, for instance `request`.
    ///   - scope: what the limit is of, for instance `a second for a user`.
    package init(_ setting: String, _ allowed: Int, _ thing: String, _ scope: String, _ wait: Span) {
        self.setting = setting
        self.allowed = allowed
        counted = "\(thing)\(allowed == 1 ? "" : "s") \(scope)"
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

    private func fact(_ exceeded: Exceeded, of group: String) -> DecidingFact {
        let wait = "\(exceeded.wait.roundedUpSeconds) s"
        // The history of the setting says nothing about a user's own limit.
        let name = "\(exceeded.owner.map { "users.\($0)." } ?? "")\(group).\(exceeded.setting)"
        return DecidingFact(
            .limit, name,
            "one more than \(exceeded.limit)\(exceeded.owner.map { ", the own limit of \($0)" } ?? "")"
                + (state.clock.isFrozen ? "; the clock is frozen at \(now.display)" : ""),
            otherwise: state.clock.isFrozen
                ? "an advance of the clock by \(wait), or a higher limit" : "a request \(wait) later, or a higher limit"
        )
    }
}
