import SimulationAPI
import Storage

/// A scenario, which describes an edge case: how its namespace is created, the actions on a timeline, and what is
/// expected of the tested client [D scenarios].
package struct ScenarioDocument: Sendable {
    package let name: String
    package let description: String
    /// The scenario's original text.
    package let text: String
    /// `standard`, `empty`, or seed data; `nil` if the seed of the addressed namespace applies.
    package let seed: JSONValue?
    /// A merge patch over the initial settings of a namespace.
    package let settings: JSONValue?
    /// The time at which the clock is frozen from the start; `nil` if it runs.
    package let frozenAt: Instant?
    /// The parts of the lists that set up the namespace, in the order of ``Platforms/scenarioSections``.
    package let parts: [(section: ScenarioSection, parts: [ScenarioSection.Part])]
    package let timeline: [ScenarioEvent]
    package let expectations: [ScenarioExpectation]
    package let place: ScenarioPlace

    /// An entry of the timeline.
    package struct ScenarioEvent: Sendable {
        /// The time after the scenario's start.
        package let at: Span
        package let action: ScenarioAction
    }

    private static func keys(_ platforms: Platforms) -> [String] {
        ["name", "description", "seed", "settings", "clock"] + platforms.scenarioSections.map(\.key)
            + ["timeline", "expect"]
    }

    /// The maximum number of parts in a list [D scenario-sizes].
    package static let maxParts = 1000

    /// Reads a scenario and checks it as far as possible without a namespace.
    ///
    /// - Parameters:
    ///   - file: the file name in error messages.
    ///   - settings: the initial settings of a namespace.
    ///   - seedNamed: finds seed data.
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    package init(
        _ text: String, file: String, settings base: JSONValue, _ platforms: Platforms,
        seedNamed: (JSONValue?) throws -> Seed
    ) throws {
        let root = try SeedNode(yaml: text, file: file)
        _ = try root.mapping(allowed: Self.keys(platforms))
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
            _ = try Settings(base.merging(settings ?? .object([:])), seed)
        }
        let surroundings = ScenarioSurroundings(seed: seed, settings: base)
        parts = try platforms.scenarioSections.map { [place] section in
            (
                section,
                try place.list(members[section.key], section.key) { try section.read($0, surroundings) }
            )
        }
        timeline = try place.list(members["timeline"], "timeline") { try ScenarioEvent($0, surroundings) }
        expectations = try place.list(members["expect"], "expect") { try ScenarioExpectation($0, platforms) }
            .enumerated().map { index, expectation in
                var expectation = expectation
                expectation.line = lines["expect[\(index)]"]
                return expectation
            }
    }

    /// Converts paths in a scenario to lines, for errors.
    package struct ScenarioPlace: Sendable {
        package let file: String
        package let lines: SourceLines

        /// The parts of a list, each read by `decode`.
        package func list<Value>(
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
        package func locate<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
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
                throw error(whole, first.problem.replacing(#/^line [0-9]+(, column [0-9]+)?: /#, with: ""))
            } catch let problem as PlatformError {
                throw error(path, "\(problem)")
            }
        }

        package func error(_ path: String, _ problem: String) -> SeedError {
            // A missing part has no line. The line of the part that should contain it is used.
            SeedError(file: file, line: lines[path], path: path, problem: problem)
        }
    }
}

extension ScenarioDocument.ScenarioEvent {
    package init(_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws {
        let kinds = surroundings.platforms.scenarioActions
        let names = kinds.map(\.name)
        var fields = FieldReader(value, known: ["at"] + names)
        let at = fields.span("at")
        if fields.value("at") == nil {
            fields.report("at", "is missing; give the time after the start, for instance 2h")
        }
        let given = kinds.filter { value.members?[$0.name] != nil }
        if given.count != 1 {
            fields.report(
                "",
                "needs one action beside \"at\", got "
                    + (given.isEmpty ? "none" : given.map(\.name).sorted().joined(separator: ", "))
                    + "; actions are \(names.joined(separator: ", "))")
        }
        try fields.finish()
        self.at = at ?? .zero
        action = try given[0].read(value.members?[given[0].name] ?? .null, surroundings)
    }
}
