import EntrupyAPI
import Simulation
import SimulationAPI
import Storage

/// Entrupy's part of a namespace's settings.
struct EntrupySettings: PlatformSettings {
    let rateLimits: Limits
    /// The result of an item if no rule decides otherwise, and the delay until it comes [D result-delay].
    let defaultResult: ResultID
    let resultDelay: Span
    /// The result of a submitted item until one is set: `needs_review`, or `received`, which comes before it [P].
    let initialResult: ResultID
    /// Whether v2 items lack what is null or empty, as in the vendor's shorter sample [P, D sparse-items].
    let sparseItems: Bool
    /// Whether a certificate's page shows the customer's own id, and the form of certificates' URLs; `nil` for the simulator's own
    /// pages [P].
    let certificates: (showsCustomerItemID: Bool, url: String?)
    let captureTimeout: Span
    /// At most 7 days [P].
    let sessionLifetime: Span
    var loginLifetime: Span? { sessionLifetime }
    let signedRequestLifetime: Span
    let sdkFlagging: Bool
    /// The final results that may be flagged.
    let flagEligible: [ResultID]
    /// How long after its result an item may be flagged; `nil` for no limit, as documented [D flag-window].
    let flagWindow: Span?
    /// The maximum number of a user's submissions; `nil` if unlimited.
    let quota: Int?
    /// The status of requests with a session that has expired or was revoked, 401 or 403 [P] [D ended-sessions].
    let endedSessionStatus: Int
    /// Whether a capture needs a `customer_item_id`, as the vendor's Android documentation says [P].
    let requiresCustomerItemID: Bool
    /// How registrations and comparisons end where nothing else decides [D fingerprints].
    let fingerprints: (registered: ResultID, match: ResultID, noMatch: ResultID)

    /// The rate limits; `nil` if unlimited.
    struct Limits: Sendable, Equatable {
        var sdkPerSecond: Int?
        var loginsPerMinute: Int?
        var loginsPerDay: Int?
        var apiPerSecond: Int?
        /// The maximum number of a user's captures that are not submitted, cancelled or timed out [P].
        var openCaptures: Int?
        /// Whether answers tell how much of a limit is left [P].
        var showsHeaders = false

        /// The limits that the vendor documents [S, P].
        static let documented = Limits(sdkPerSecond: 100, loginsPerMinute: 5, loginsPerDay: 100, apiPerSecond: 10)
        static let off = Limits()
    }

    /// The defaults.
    ///
    /// - Parameter flagEligible: the results of the seed data that may be flagged.
    static func defaults(flagEligible: [ResultID]) -> JSONObject {
        [
            "rate_limits": .string("documented"),
            "result": .object([
                "default": .string("authentic"), "delay": .string("5s"), "initial": .string("needs_review"),
            ]),
            "partner": .object(["sparse_items": .bool(false)]),
            "certificates": .object(["show_customer_item_id": .bool(false), "url": .null]),
            "capture_timeout": .string("2h"),
            "session_lifetime": .string("24h"),
            "signed_request_lifetime": .string("1h"),
            "flagging": .object([
                "sdk": .bool(true), "eligible": .array(flagEligible.map { .string($0.rawValue) }), "window": .null,
            ]),
            "quota": .null,
            "sdk": .object(["ended_session_status": .number(JSONNumber(401))]),
            "captures": .object(["require_customer_item_id": .bool(false)]),
            "fingerprints": .object([
                "registered": .string("registered"), "match": .string("match"), "no_match": .string("no_match"),
            ]),
        ]
    }

    /// Reads the settings, of which each has a value or its default. Problems go to `fields`.
    init(_ fields: inout FieldReader) {
        rateLimits = fields.limits()
        var result = fields.object("result", known: ["default", "delay", "initial"])
        defaultResult =
            result.word("default", Activity.authentication.results.map(\.rawValue)).map(ResultID.init(rawValue:))
            ?? .authentic
        resultDelay = result.span("delay") ?? .second
        initialResult =
            result.word("initial", [ResultID.needsReview, .received].map(\.rawValue)).map(ResultID.init(rawValue:))
            ?? .needsReview
        var partner = fields.object("partner", known: ["sparse_items"])
        sparseItems = partner.optionalBool("sparse_items") ?? false
        var certificates = fields.object("certificates", known: ["show_customer_item_id", "url"])
        self.certificates = (
            certificates.optionalBool("show_customer_item_id") ?? false,
            certificates.value(
                "url",
                "must be null or an http or https URL without a query, with \(Self.certificateID), for instance \(Self.certificateExample)"
            ) {
                $0.text.flatMap { Self.isCertificateURL($0) ? $0 : nil }
            }
        )
        captureTimeout = fields.span("capture_timeout", from: .second) ?? .second
        sessionLifetime = fields.span("session_lifetime", from: .second, to: Span("7d")!) ?? .second
        signedRequestLifetime = fields.span("signed_request_lifetime", from: .second) ?? .second
        var flagging = fields.object("flagging", known: ["sdk", "eligible", "window"])
        sdkFlagging = flagging.optionalBool("sdk") ?? false
        flagEligible = flagging.words("eligible", Flags.eligibleNames)?.map(ResultID.init(rawValue:)) ?? []
        flagWindow = flagging.span("window")
        quota = fields.number("quota")
        var sdk = fields.object("sdk", known: ["ended_session_status"])
        endedSessionStatus =
            sdk.value("ended_session_status", "must be 401 or 403") { value in
                [401, 403].first { value == .number(JSONNumber($0)) }
            } ?? 401
        var captures = fields.object("captures", known: ["require_customer_item_id"])
        requiresCustomerItemID = captures.optionalBool("require_customer_item_id") ?? false
        var fingerprints = fields.object("fingerprints", known: ["registered", "match", "no_match"])
        func ending(_ key: String, _ allowed: [ResultID]) -> ResultID {
            fingerprints.word(key, allowed.map(\.rawValue)).map(ResultID.init(rawValue:)) ?? allowed[0]
        }
        self.fingerprints = (
            ending("registered", [.registered, .authentic]), ending("match", [.match, .matchFound]),
            ending("no_match", [.noMatch, .noMatchFound])
        )
    }

    /// The part of `certificates.url` that stands for the certificate's id.
    static let certificateID = "{id}"
    private static let certificateExample = "https://cert.entrupy.com/{id}"

    private static func isCertificateURL(_ text: String) -> Bool {
        // A query is added to the URL of the picture.
        guard text.split(atEach: certificateID).count == 2, !text.contains(ascii: "?"), !text.contains(ascii: "#"),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !#"<>"\^`|"#.utf8.contains($0) }),
            case .success = WebhookTarget.read(text.replacing(each: certificateID, with: "ID"))
        else { return false }
        return true
    }

    /// The limits in a user's own document. Limits it does not name are the namespace's [D user-limits].
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    static func limits(ofUser document: JSONValue, namespace: Limits) throws -> Limits {
        var fields = FieldReader(["rate_limits": document])
        let limits = fields.limits(
            otherwise: namespace, known: ["sdk_per_second", "logins_per_minute", "logins_per_day", "open_captures"])
        try fields.finish()
        return limits
    }
}

extension FieldReader {
    /// - Parameter base: the limits for members that an object does not name.
    fileprivate mutating func limits(
        otherwise base: EntrupySettings.Limits = .documented,
        known: [String] = [
            "sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second", "open_captures", "headers",
        ]
    ) -> EntrupySettings.Limits {
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
        return EntrupySettings.Limits(
            sdkPerSecond: limits.number("sdk_per_second", in: range) ?? base.sdkPerSecond,
            loginsPerMinute: limits.number("logins_per_minute", in: range) ?? base.loginsPerMinute,
            loginsPerDay: limits.number("logins_per_day", in: range) ?? base.loginsPerDay,
            apiPerSecond: limits.number("api_per_second", in: range) ?? base.apiPerSecond,
            openCaptures: limits.number("open_captures", in: range) ?? base.openCaptures,
            showsHeaders: limits.optionalBool("headers") ?? base.showsHeaders)
    }
}

extension JobContext {
    /// Notes the tightest of the limits that counted the request, if answers tell limits [P, D limit-headers].
    func noteLimits(_ limits: [LimitLeft]) {
        guard entrupy.settings.rateLimits.showsHeaders, let tightest = LimitLeft.tightest(limits) else { return }
        note { $0.limit = tightest }
    }

    /// - Parameter user: the user whose requests are too many; `nil` for those of an API token.
    func overRateLimit(_ exceeded: [Exceeded], of user: UserRecord? = nil) throws -> PlatformError {
        var (exceeded, owner) = (exceeded, String?.none)
        if let user, let limits = try user.rateLimits.map({ try StoredJSON.decode($0) }) {
            // A word such as "documented" sets all of them.
            for index in exceeded.indices
            where limits.members.map({ $0[exceeded[index].setting] ?? .null }) != JSONValue.null {
                exceeded[index].owner = user.username
                owner = user.username
            }
        }
        if let owner { note { $0.state = RefusingState(owner, [EventKind.userUpdated.name], named: "rate_limits") } }
        let change =
            owner.map { #"PATCH /_sim/users/\#($0) {"rate_limits": "off"}"# }
            ?? #"PATCH /_sim/settings {"rate_limits": "off"}"#
        noteLimits(exceeded.map { LimitLeft(limit: $0.allowed, remaining: 0, reset: now + $0.wait) })
        return overLimit(exceeded, of: "rate_limits", wayOut: "switch limits off (\(change))")
    }
}
