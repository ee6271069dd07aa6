import EntrupyAPI
import SimulationAPI
import Storage

/// A scenario, which describes an edge case: how its namespace is created, the actions on a timeline, and what is
/// expected of the tested client [D scenarios].
struct ScenarioDocument: Sendable {
    let name: String
    let description: String
    /// The scenario's original text.
    let text: String
    /// `standard`, `empty`, or seed data; `nil` if the seed of the addressed namespace applies.
    let seed: JSONValue?
    /// A merge patch over the initial settings of a namespace.
    let settings: JSONValue?
    /// The time at which the clock is frozen from the start; `nil` if it runs.
    let frozenAt: Instant?
    let items: [ScenarioItems]
    let subscriptions: [ScenarioSubscription]
    /// The rules in the formats of `POST /_sim/outcomes` and `POST /_sim/faults`.
    let outcomes: [JSONValue]
    let faults: [JSONValue]
    let timeline: [ScenarioEvent]
    let expectations: [ScenarioExpectation]
    let place: ScenarioPlace

    /// An entry of the timeline.
    struct ScenarioEvent: Sendable {
        /// The time after the scenario's start.
        let at: Span
        let action: ScenarioAction
    }

    static let keys = [
        "name", "description", "seed", "settings", "clock", "items", "subscriptions", "outcomes", "faults", "timeline",
        "expect",
    ]
    /// The maximum number of parts in a list [D scenario-sizes].
    static let maxParts = 1000

    /// Reads a scenario and checks it as far as possible without a namespace.
    ///
    /// - Parameters:
    ///   - file: the file name in error messages.
    ///   - settings: the initial settings of a namespace.
    ///   - seedNamed: finds seed data.
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    init(
        _ text: String, file: String, settings base: JSONValue, seedNamed: (JSONValue?) throws -> Seed
    ) throws {
        let root = try SeedNode(yaml: text, file: file)
        _ = try root.mapping(allowed: Self.keys)
        let (document, lines) = try root.json()
        place = ScenarioPlace(file: file, lines: lines)
        let members = document.members ?? [:]
        self.text = text
        var fields = FieldReader(members)
        name = fields.requiredText("name", maxBytes: 63)
        description = fields.requiredText("description", maxBytes: 10_000)
        var clock = fields.object("clock", known: ["freeze"])
        frozenAt = clock.moment("freeze")
        try place.locate("") { try fields.finish() }
        try place.locate("name") { [name] in try SnapshotName.check(name) }

        seed = members["seed"].flatMap { $0 == .null ? nil : $0 }
        let seed = try place.locate("seed") { [seed] in try seedNamed(seed) }
        settings = members["settings"].flatMap { $0 == .null ? nil : $0 }
        try place.locate("settings") { [settings] in
            _ = try Settings(base.merging(settings ?? .object([:])), flagEligible: seed.flagEligible)
        }
        items = try place.list(members["items"], "items") { try ScenarioItems($0) }
        subscriptions = try place.list(members["subscriptions"], "subscriptions") { try ScenarioSubscription($0) }
        outcomes = try place.list(members["outcomes"], "outcomes") {
            _ = try OutcomeRule($0, id: "", catalogue: seed.catalogue, acceptsUnknownCategory: true)
            return $0
        }
        faults = try place.list(members["faults"], "faults") {
            _ = try FaultRule($0, id: "")
            return $0
        }
        timeline = try place.list(members["timeline"], "timeline") { try ScenarioEvent($0, seed, base) }
        expectations = try place.list(members["expect"], "expect") { try ScenarioExpectation($0) }
            .enumerated().map { index, expectation in
                var expectation = expectation
                expectation.line = lines["expect[\(index)]"]
                return expectation
            }
    }

    /// Converts paths in a scenario to lines, for errors.
    struct ScenarioPlace: Sendable {
        let file: String
        let lines: SourceLines

        /// The parts of a list, each read by `decode`.
        func list<Value>(
            _ value: JSONValue?, _ path: String, _ decode: (JSONValue) throws -> Value
        ) throws -> [Value] {
            guard let value, value != .null else { return [] }
            guard case .array(let elements) = value else {
                throw error(path, "expected a list, found \(value.typeName)")
            }
            guard elements.count <= ScenarioDocument.maxParts else {
                throw error(path, "expected at most \(ScenarioDocument.maxParts) parts, found \(elements.count)")
            }
            return try elements.enumerated().map { index, element in
                try locate("\(path)[\(index)]") { try decode(element) }
            }
        }

        /// Runs `body` and adds the file and line to its errors.
        func locate<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch let problem as PlatformError where problem.kind == .invalid {
                guard let first = problem.details.first else { throw error(path, problem.message) }
                let field = first.field
                let whole =
                    path.isEmpty || field.begins(with: "\(path).")
                    ? field
                    : field.isEmpty || field.isIdentical(to: path)
                        ? path : field.begins(with: "[") ? path + field : "\(path).\(field)"
                // Line numbers of embedded seed data count from its own start, so they are removed.
                throw error(whole, first.problem.replacing(#/^line [0-9]+: /#, with: ""))
            } catch let problem as PlatformError {
                throw error(path, "\(problem)")
            }
        }

        func error(_ path: String, _ problem: String) -> SeedError {
            // A missing part has no line. The line of the part that should contain it is used.
            SeedError(file: file, line: lines[path], path: path, problem: problem)
        }
    }
}

extension ScenarioDocument.ScenarioEvent {
    /// - Parameter base: the initial settings of a namespace.
    init(_ value: JSONValue, _ seed: Seed, _ base: JSONValue) throws {
        let names = ScenarioAction.names
        var fields = FieldReader(value, known: ["at"] + names)
        let at = fields.span("at")
        if fields.value("at") == nil {
            fields.report("at", "is missing; give the time after the start, for instance 2h")
        }
        let members = value.members ?? [:]
        let given = members.keys.filter { $0.isOne(of: names) }.sorted()
        if given.count != 1 {
            fields.report(
                "",
                "needs one action beside \"at\", got \(given.isEmpty ? "none" : given.joined(separator: ", ")); "
                    + "actions are \(names.joined(separator: ", "))")
        }
        try fields.finish()
        self.at = at ?? .zero
        action = try ScenarioAction(given[0], members[given[0]] ?? .null, seed, base)
    }
}

/// Items that a scenario creates, in the format of `POST /_sim/authentications`: one item, or `{count, template}`.
struct ScenarioItems: Sendable {
    let template: ItemTemplate
    /// The prefix of the item's field names in errors.
    let prefix: String

    /// The maximum number of items in one entry [D scenario-sizes].
    static let maxCount = 10_000

    init(_ value: JSONValue) throws {
        guard let members = value.members else {
            throw PlatformError.invalid(field: "", "must be an object, got \(value.typeName)")
        }
        var (count, item, prefix) = (1, members, "")
        var fields = FieldReader(members)
        if fields.has("count") || fields.has("template") {
            fields = FieldReader(value, known: ["count", "template"])
            count = fields.number("count", in: 1...Self.maxCount) ?? 1
            item = fields.members("template") ?? [:]
            prefix = "template."
            fields = fields.object("template")
        }
        let username = fields.text("username")
        let result = fields.word("result", ResultID.all)
        let reason = fields.text("reason")
        let flag = fields.text("flag")
        try fields.finish()
        for key in ["username", "result", "reason", "flag"] { item[key] = nil }
        if [nil, .null, .string("")].contains(item["brand"]) { item["brand"] = .string("Nike") }
        self.prefix = prefix
        template = try ItemTemplate(
            count: count, username: username, result: result, reason: reason, flag: flag, item: item)
    }

    /// Creates the items. Writes.
    func make(_ job: JobContext) throws {
        let generation = try PlanGeneration(template: template).perform(job)
        var made = 0
        while made < template.count {
            made += try GenerateBatch(generation: generation, from: made).perform(job).count
        }
    }
}

/// A subscription that a scenario creates.
struct ScenarioSubscription: Sendable {
    let organization: String?
    let request: SubscriptionRequest
    let version: PartnerVersion

    init(_ value: JSONValue) throws {
        var fields = FieldReader(
            value, known: ["url", "secret_key", "events", "username", "organization", "version"])
        let url = fields.requiredText("url")
        let secret = fields.text("secret_key") ?? "scenario-secret"
        let events = fields.words("events", WebhookEvent.allCases.map(\.rawValue))
        let username = fields.text("username")
        organization = fields.text("organization")
        version = fields.word("version", ["v1", "v2"]) == "v1" ? .v1(minor: PartnerVersion.lastMinor) : .v2
        try fields.finish()
        request = SubscriptionRequest(url: url, secret_key: secret, events: events, username: username)
    }

    /// Creates the subscription, for the named organization or else the first one. Writes.
    func make(_ job: JobContext) throws {
        let organizations = try job.transaction.organizations()
        let found =
            organization.map { name in organizations.first { $0.name.isIdentical(to: name) } } ?? organizations.first
        guard let found else {
            throw PlatformError.invalid(
                field: "organization", "must be one of \(organizations.map(\.name).joined(separator: ", "))")
        }
        _ = try Subscribe(request, version).perform(job, as: Partner(organization: found))
    }
}
