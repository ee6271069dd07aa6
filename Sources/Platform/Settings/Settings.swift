import SimulationAPI

/// A namespace's settings: a JSON document, which merge patches change, and its decoded values.
///
/// Absent members have their defaults. The document keeps values in their original form (`"2h"` or `7200`).
package struct Settings: Sendable {
    /// The document, with every member.
    package let document: JSONValue

    let rateLimits: Limits
    /// The result of an item if no rule decides otherwise, and the delay until it comes [D result-delay].
    let defaultResult: String
    let resultDelay: Span
    let captureTimeout: Span
    /// At most 7 days [P].
    let sessionLifetime: Span
    let signedRequestLifetime: Span
    let sdkFlagging: Bool
    /// The final results that may be flagged.
    let flagEligible: [String]
    /// The maximum number of a user's submissions; `nil` if unlimited.
    let quota: Int?
    /// The time in which a webhook's receiver must answer, in real time [P].
    let webhookTimeout: Span
    /// The gaps between attempts to deliver a webhook, each counted from the previous attempt [D webhook-retries].
    let webhookRetries: [Span]

    let journal: Journal

    /// The limits of the journal, which is in memory [D journal].
    struct Journal: Sendable, Equatable {
        /// The maximum number of requests; 0 disables the journal.
        let entries: Int
        /// The maximum size, in bytes.
        let bytes: Int
        /// The maximum size of each kept body, in bytes.
        let bodyBytes: Int
    }

    /// The rate limits; `nil` if unlimited.
    struct Limits: Sendable, Equatable {
        var sdkPerSecond: Int?
        var loginsPerMinute: Int?
        var loginsPerDay: Int?
        var apiPerSecond: Int?

        /// The limits that the vendor documents [S, P].
        static let documented = Limits(sdkPerSecond: 100, loginsPerMinute: 5, loginsPerDay: 100, apiPerSecond: 10)
        static let off = Limits()
    }

    /// After 1 s, 10 s, 1 min, 10 min and 1 h, then every 6 h within 24 h of the first attempt [D webhook-retries].
    private static let defaultRetries = ["1s", "10s", "1m", "10m", "1h", "6h", "6h", "6h"]

    private static let defaults: JSONValue = .object([
        "rate_limits": .string("documented"),
        "result": .object(["default": .string("authentic"), "delay": .string("5s")]),
        "capture_timeout": .string("2h"),
        "session_lifetime": .string("24h"),
        "signed_request_lifetime": .string("1h"),
        "flagging": .object(["sdk": .bool(true)]),
        "quota": .null,
        "webhooks": .object([
            "timeout": .string("10s"), "retries": .array(defaultRetries.map { .string($0) }),
        ]),
        "journal": .object([
            "entries": .number(JSONNumber(10_000)), "bytes": .number(JSONNumber(16 << 20)),
            "body_bytes": .number(JSONNumber(1 << 16)),
        ]),
    ])

    /// Reads a settings document.
    ///
    /// - Parameter flagEligible: the results of the seed data that may be flagged, if the document names none.
    /// - Throws: ``PlatformError/invalid(_:_:)`` that names every unknown key and every wrong value.
    init(_ document: JSONValue, flagEligible: [String]) throws {
        var fields = FieldReader(document, known: Array(Self.defaults.members!.keys).sorted())
        rateLimits = fields.limits()
        var result = fields.object("result", known: ["default", "delay"])
        defaultResult = result.word("default", ResultID.all) ?? "authentic"
        resultDelay = result.span("delay") ?? Span("5s")!
        captureTimeout = fields.span("capture_timeout", from: .second) ?? Span("2h")!
        sessionLifetime = fields.span("session_lifetime", from: .second, to: Span("7d")!) ?? .day
        signedRequestLifetime = fields.span("signed_request_lifetime", from: .second) ?? .hour
        var flagging = fields.object("flagging", known: ["sdk", "eligible"])
        sdkFlagging = flagging.optionalBool("sdk") ?? true
        self.flagEligible = flagging.words("eligible", ResultID.all) ?? flagEligible
        quota = fields.number("quota")
        var webhooks = fields.object("webhooks", known: ["timeout", "retries"])
        webhookTimeout = webhooks.span("timeout", from: Span("0.01s")!, to: Span("5m")!) ?? Span("10s")!
        webhookRetries = webhooks.spans("retries") ?? Self.defaultRetries.compactMap { Span($0) }
        var journal = fields.object("journal", known: ["entries", "bytes", "body_bytes"])
        self.journal = Journal(
            entries: journal.number("entries", in: 0...1_000_000) ?? 10_000,
            bytes: journal.number("bytes", in: 0...Journals.maxBytes) ?? 16 << 20,
            bodyBytes: journal.number("body_bytes", in: 0...1 << 20) ?? 1 << 16)
        try fields.finish()
        self.document = Self.filled(document, flagEligible: self.flagEligible)
    }

    /// The limits in a user's own document. Limits it does not name are the namespace's [D user-limits].
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    static func limits(ofUser document: JSONValue, namespace: Limits) throws -> Limits {
        var fields = FieldReader(["rate_limits": document])
        let limits = fields.limits(
            otherwise: namespace, known: ["sdk_per_second", "logins_per_minute", "logins_per_day"])
        try fields.finish()
        return limits
    }

    /// The document with defaults for its absent members.
    private static func filled(_ document: JSONValue, flagEligible: [String]) -> JSONValue {
        let eligible = JSONValue.object(["flagging": .object(["eligible": .array(flagEligible.map { .string($0) })])])
        let whole = defaults.merging(eligible).merging(document)
        // A merge removes a quota of `null`, which is also the default.
        var members = whole.members ?? [:]
        members["quota"] = members["quota"] ?? .null
        return .object(members)
    }
}

extension FieldReader {
    /// - Parameter base: the limits for members that an object does not name.
    fileprivate mutating func limits(
        otherwise base: Settings.Limits = .documented,
        known: [String] = ["sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second"]
    ) -> Settings.Limits {
        guard let value = value("rate_limits") else { return .documented }
        // Not as patterns, which would compare texts as characters instead of bytes.
        if value == .string("documented") { return .documented }
        if value == .string("off") { return .off }
        guard value.members != nil else {
            report(
                "rate_limits",
                "must be \"documented\", \"off\" or an object of numbers, for instance {\"sdk_per_second\": 50}, "
                    + "got \(value.quoted)")
            return .documented
        }
        var limits = object("rate_limits", known: known)
        let range = 1...1_000_000_000
        return Settings.Limits(
            sdkPerSecond: limits.number("sdk_per_second", in: range) ?? base.sdkPerSecond,
            loginsPerMinute: limits.number("logins_per_minute", in: range) ?? base.loginsPerMinute,
            loginsPerDay: limits.number("logins_per_day", in: range) ?? base.loginsPerDay,
            apiPerSecond: limits.number("api_per_second", in: range) ?? base.apiPerSecond)
    }
}
