import EntrupyAPI

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
        var reader = DocumentReader(member: "setting")
        let given = reader.object(
            document, "", allowed: Array(Self.defaults.members!.keys).sorted(), of: "the settings")
        let result = reader.object(given["result"], "result", allowed: ["default", "delay"])
        let flagging = reader.object(given["flagging"], "flagging", allowed: ["sdk", "eligible"])
        rateLimits = reader.limits(given["rate_limits"])
        defaultResult = reader.oneOf(result["default"], "result.default", ResultID.all) ?? "authentic"
        resultDelay = reader.span(result["delay"], "result.delay") ?? Span(microseconds: 5_000_000)
        captureTimeout = reader.span(given["capture_timeout"], "capture_timeout", from: .second) ?? Span("2h")!
        sessionLifetime =
            reader.span(given["session_lifetime"], "session_lifetime", from: .second, to: Span("7d")!) ?? .day
        signedRequestLifetime =
            reader.span(given["signed_request_lifetime"], "signed_request_lifetime", from: .second) ?? .hour
        sdkFlagging = reader.bool(flagging["sdk"], "flagging.sdk") ?? true
        self.flagEligible = reader.list(flagging["eligible"], "flagging.eligible", ResultID.all) ?? flagEligible
        quota = reader.count(given["quota"], "quota")
        let webhooks = reader.object(given["webhooks"], "webhooks", allowed: ["timeout", "retries"])
        webhookTimeout =
            reader.span(webhooks["timeout"], "webhooks.timeout", from: Span("0.01s")!, to: Span("5m")!) ?? Span("10s")!
        webhookRetries =
            reader.spans(webhooks["retries"], "webhooks.retries") ?? Self.defaultRetries.compactMap { Span($0) }
        let kept = reader.object(given["journal"], "journal", allowed: ["entries", "bytes", "body_bytes"])
        journal = Journal(
            entries: reader.count(kept["entries"], "journal.entries", to: 1_000_000) ?? 10_000,
            bytes: reader.count(kept["bytes"], "journal.bytes", to: Journals.maxBytes) ?? 16 << 20,
            bodyBytes: reader.count(kept["body_bytes"], "journal.body_bytes", to: 1 << 20) ?? 1 << 16)
        guard reader.problems.isEmpty else { throw PlatformError.invalid(reader.problems) }
        self.document = Self.filled(document, flagEligible: self.flagEligible)
    }

    /// The limits in a user's own document. Limits it does not name are the namespace's [D user-limits].
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    static func limits(ofUser document: JSONValue, namespace: Limits) throws -> Limits {
        var reader = DocumentReader(member: "setting")
        let limits = reader.limits(
            document, otherwise: namespace, allowed: ["sdk_per_second", "logins_per_minute", "logins_per_day"])
        guard reader.problems.isEmpty else { throw PlatformError.invalid(reader.problems) }
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

extension DocumentReader {
    /// - Parameter base: the limits for members that an object does not name.
    fileprivate mutating func limits(
        _ value: JSONValue?, otherwise base: Settings.Limits = .documented,
        allowed: [String] = ["sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second"]
    ) -> Settings.Limits {
        switch value {
        case nil, .null: return .documented
        // Not as patterns, which would compare texts as characters instead of bytes.
        case let value? where value == .string("documented"): return .documented
        case let value? where value == .string("off"): return .off
        case .object:
            let members = object(value, "rate_limits", allowed: allowed)
            func limit(_ key: String, _ other: Int?) -> Int? {
                count(members[key], "rate_limits.\(key)", from: 1) ?? other
            }
            return Settings.Limits(
                sdkPerSecond: limit("sdk_per_second", base.sdkPerSecond),
                loginsPerMinute: limit("logins_per_minute", base.loginsPerMinute),
                loginsPerDay: limit("logins_per_day", base.loginsPerDay),
                apiPerSecond: limit("api_per_second", base.apiPerSecond))
        case .some:
            problems.append(
                ErrorDetail(
                    "rate_limits",
                    "must be \"documented\", \"off\" or an object of numbers, for instance {\"sdk_per_second\": 50}"))
            return .documented
        }
    }
}
