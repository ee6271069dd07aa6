import SimulationAPI

/// A namespace's settings: a JSON document, which merge patches change, and its decoded values.
///
/// Absent members have their defaults. The document keeps values in their original form (`"2h"` or `7200`), except sizes, which are
/// numbers of bytes.
package struct Settings: Sendable {
    /// The document, with every member.
    package let document: JSONValue
    /// The members that were set. The others follow the defaults, also those of seed data that is loaded later.
    package let given: JSONValue

    /// The time in which a webhook's receiver must answer, in real time [P].
    package let webhookTimeout: Span
    /// The gaps between attempts to deliver a webhook, each counted from the previous attempt [D webhook-retries].
    package let webhookRetries: [Span]
    /// The form of the bodies of later subscriptions.
    package let webhookFormat: String
    /// The form of the signatures of later subscriptions.
    package let webhookSignature: String
    /// Whether later subscriptions wait until their domains are verified [D webhook-verification].
    package let verifiesDomains: Bool

    package let journal: Journal
    /// Changes that the vendor may make without notice, and that are made here already [P].
    package let future: FutureChanges
    private let parts: [any PlatformSettings]

    /// The limits of the journal, which is in memory [D journal].
    package struct Journal: Sendable, Equatable {
        /// The maximum number of requests; 0 disables the journal.
        package let entries: Int
        /// The maximum size, in bytes.
        package let bytes: Int
        /// The maximum size of each kept body, in bytes.
        package let bodyBytes: Int
    }

    /// After 1 s, 10 s, 1 min, 10 min and 1 h, then every 6 h within 24 h of the first attempt [D webhook-retries].
    private static let defaultRetries = ["1s", "10s", "1m", "10m", "1h", "6h", "6h", "6h"]

    private static func defaults(_ platforms: Platforms) -> JSONObject {
        var webhooks: JSONObject = [
            "timeout": .string("10s"), "retries": .array(defaultRetries.map { .string($0) }),
            "domain_verification": .bool(false),
        ]
        webhooks["format"] = platforms.webhookFormats.first.map { .string($0) }
        webhooks["signature"] = platforms.webhookSignatures.first.map { .string($0) }
        return [
            "webhooks": .object(webhooks), "future": FutureChanges.defaults,
            "journal": .object([
                "entries": .number(JSONNumber(10_000)), "bytes": .number(JSONNumber(16 << 20)),
                "body_bytes": .number(JSONNumber(1 << 16)),
            ]),
        ]
    }

    /// Reads a settings document.
    ///
    /// - Parameter seed: the namespace's seed data, which has some defaults.
    /// - Throws: ``PlatformError/invalid(_:_:)`` that names every unknown key and every wrong value.
    package init(_ document: JSONValue, _ seed: Seed) throws {
        try self.init(document, seed.platforms, seed.parts)
    }

    /// Reads a settings document without seed data.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ document: JSONValue, _ platforms: Platforms) throws {
        try self.init(document, platforms, platforms.all.map { _ in nil })
    }

    private init(_ document: JSONValue, _ platforms: Platforms, _ seeds: [(any PlatformSeed)?]) throws {
        var defaults = Self.defaults(platforms)
        for (platform, seed) in zip(platforms.all, seeds) {
            for (key, value) in platform.defaultSettings(seed) {
                defaults[key] = defaults[key].map { $0.merging(value) } ?? value
            }
        }
        let full = document.members == nil ? document : Self.filled(document, defaults)
        // Defaults are read like other values. What stands behind `??` below is never used: reading an invalid value throws.
        var fields = FieldReader(full, known: Array(defaults.keys).sorted())
        parts = platforms.all.map { $0.readSettings(&fields) }
        let webhookKeys = defaults["webhooks"]?.members?.keys.sorted() ?? []
        var webhooks = fields.object("webhooks", known: webhookKeys)
        webhookTimeout = webhooks.span("timeout", from: Span("0.01s")!, to: Span("5m")!) ?? .second
        webhookRetries = webhooks.spans("retries") ?? []
        webhookFormat = webhooks.word("format", platforms.webhookFormats) ?? ""
        webhookSignature = webhooks.word("signature", platforms.webhookSignatures) ?? ""
        verifiesDomains = webhooks.optionalBool("domain_verification") ?? false
        var journal = fields.object("journal", known: ["entries", "bytes", "body_bytes"])
        self.journal = Journal(
            entries: journal.number("entries", in: 0...1_000_000) ?? 0,
            bytes: journal.size("bytes", in: 0...Journals.maxBytes) ?? 0,
            bodyBytes: journal.size("body_bytes", in: 0...1 << 20) ?? 0)
        future = FutureChanges(&fields)
        try fields.finish()
        given = Self.countingBytes(document)
        self.document = Self.countingBytes(full)
    }

    /// A document with sizes as numbers.
    private static func countingBytes(_ document: JSONValue) -> JSONValue {
        ["bytes", "body_bytes"].reduce(document) { $0.countingBytes(at: ["journal", $1]) }
    }

    /// The shortest time for which a login of a platform lasts; `nil` if no platform has any.
    var loginLifetime: Span? { parts.compactMap(\.loginLifetime).min() }

    /// A platform's part.
    package func part<Part: PlatformSettings>(_ type: Part.Type) -> Part {
        for part in parts { if let part = part as? Part { return part } }
        preconditionFailure("the platform that reads \(type) is not one of the server's")
    }

    /// The document with defaults for its absent members.
    private static func filled(_ document: JSONValue, _ defaults: JSONObject) -> JSONValue {
        // A merge removes members that are null: first those of the document, so that they have their defaults.
        let given = JSONValue.object([:]).merging(document)
        var members = JSONValue.object(defaults).merging(given).members ?? [:]
        // Null is itself the default of some.
        for (key, value) in defaults where value == .null { members[key] = members[key] ?? .null }
        return .object(members)
    }
}
