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
    package let frozenAt: FrozenMoment?
    /// The parts of the lists that set up the namespace, in the order of ``Platforms/scenarioSections``.
    package let parts: [(section: ScenarioSection, parts: [ScenarioAction])]
    package let timeline: [ScenarioEvent]
    package let expectations: [ScenarioExpectation]
    package let place: ScenarioPlace

    /// An entry of the timeline.
    package struct ScenarioEvent: Sendable {
        /// The time after the scenario's start.
        package let at: Span
        /// The name of the action's kind.
        package let name: String
        package let action: ScenarioAction
    }

    private static func keys(_ platforms: Platforms) -> [String] {
        ["name", "description", "seed", "settings", "clock"] + platforms.scenarioSections.map(\.key)
            + ["timeline", "expect"]
    }

    /// The maximum number of parts in a list [D scenario-sizes].
    package static let maxParts = 1000
    /// The maximum number of steps of all sequences that it expects. Each is compared with the whole journal.
    private static let maxSteps = 200

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
        let source = try SourceDocument(yaml: text, file: file)
        let place = ScenarioPlace(file: file, lines: source.lines())
        let members = try source.members()
        var problems = Problems()
        self.place = place
        self.text = text
        var fields = FieldReader(members, known: Self.keys(platforms))
        let name = fields.requiredText("name", maxBytes: 63)
        self.name = name
        description = fields.requiredText("description", maxBytes: 10_000)
        var clock = fields.object("clock", known: ["freeze"])
        frozenAt = clock.frozenMoment("freeze")
        try problems.collect { try place.locate("") { try fields.finish() } }
        if !name.isEmpty { try problems.collect { try place.locate("name") { try SnapshotName.check(name) } } }

        let given = fields.value("seed")
        self.seed = given
        let seed = try problems.collect { try place.locate("seed") { try seedNamed(given) } }
        let changes = fields.value("settings")
        settings = changes
        // Without seed data nothing else can be judged.
        guard let seed else { throw problems.error }
        try problems.collect {
            try place.locate("settings") { _ = try Settings(base.merging(changes ?? .object([:])), seed) }
        }
        let surroundings = ScenarioSurroundings(seed: seed, settings: base)
        func list<Value>(_ key: String, _ decode: (JSONValue) throws -> Value) throws -> [Value] {
            let elements = try problems.collect { try place.elements(members[key], key) } ?? []
            return try elements.enumerated().compactMap { index, element in
                try problems.collect { try place.locate("\(key)[\(index)]") { try decode(element) } }
            }
        }
        parts = try platforms.scenarioSections.map { section in
            (section, try list(section.key) { try section.read($0, surroundings) })
        }
        timeline = try list("timeline") { try ScenarioEvent($0, surroundings) }
        expectations = try list("expect") { try ScenarioExpectation($0, platforms) }
            .enumerated().map { index, expectation in
                var expectation = expectation
                expectation.line = place.lines["expect[\(index)]"]
                return expectation
            }
        if let tooMany = tooManySteps(place) { throw tooMany }
        if !problems.errors.isEmpty { throw problems.error }
    }

    /// The error for sequences that have too many steps together; `nil` if they have not.
    private func tooManySteps(_ place: ScenarioPlace) -> SeedError? {
        let steps = expectations.reduce(0) { $0 + $1.steps }
        guard steps > Self.maxSteps else { return nil }
        return place.error(
            "expect", "expected at most \(Self.maxSteps) steps in all sequences together, found \(steps)")
    }

    /// The problems of the parts that were read so far.
    private struct Problems {
        var errors: [SeedError] = []

        var error: SeedError { .joined(errors) }

        /// Whether there are as many problems as are kept.
        var areEnough: Bool { errors.count >= FieldReader.maxProblems }

        /// The value that `body` reads; `nil` if it has a problem, which is kept, or if there are enough.
        @discardableResult mutating func collect<Value>(_ body: () throws -> Value) throws -> Value? {
            guard !areEnough else { return nil }
            do {
                return try body()
            } catch let error as SeedError {
                errors += error.all.prefix(FieldReader.maxProblems - errors.count)
                return nil
            }
        }
    }

    /// Converts paths in a scenario to lines, for errors.
    package struct ScenarioPlace: Sendable {
        package let file: String
        package let lines: SourceLines

        /// The elements of a list.
        fileprivate func elements(_ value: JSONValue?, _ path: String) throws -> [JSONValue] {
            guard let value, value != .null else { return [] }
            guard case .array(let elements) = value else {
                throw error(path, "expected a list, found \(value.typeName)")
            }
            guard elements.count <= ScenarioDocument.maxParts else {
                throw error(path, "expected at most \(ScenarioDocument.maxParts) parts, found \(elements.count)")
            }
            return elements
        }

        /// Runs `body` and adds the file and line to its errors.
        package func locate<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch let problem as PlatformError where problem.kind == .invalid {
                guard !problem.details.isEmpty else { throw error(path, problem.message) }
                throw SeedError.joined(
                    problem.details.map { detail in
                        error(whole(detail.field, in: path), Self.withoutLine(detail.problem))
                    })
            } catch let problem as PlatformError {
                throw error(path, "\(problem)")
            }
        }

        /// A problem without its line: those of embedded seed data count from its own start.
        private static func withoutLine(_ problem: String) -> String {
            guard problem.begins(with: "line ") else { return problem }
            let place = problem.prefix(before: ":")
            return String(decoding: problem.utf8.dropFirst(place.utf8.count + 2), as: UTF8.self)
        }

        /// The path in the scenario of a field of the part at `path`.
        private func whole(_ field: String, in path: String) -> String {
            if path.isEmpty || field.begins(with: "\(path).") { return field }
            if field.isEmpty || field.isIdentical(to: path) { return path }
            return field.begins(with: "[") ? path + field : "\(path).\(field)"
        }

        package func error(_ path: String, _ problem: String) -> SeedError {
            // A missing part has no line. The line of the part that should contain it is used.
            SeedError(file: file, line: lines[path], path: path, problem: problem)
        }
    }
}

extension ScenarioDocument {
    /// Notes on parts of the scenario that can never match [D scenarios].
    ///
    /// These are routes, methods and webhook events that do not exist, and names that the seed data lacks. They are
    /// probably misspelt, but each may be intended.
    ///
    /// - Returns: the notes, in the order of the scenario's parts; each problem begins with its line.
    package func notes(_ surroundings: ScenarioSurroundings) throws -> [ErrorDetail] {
        let actions =
            parts.flatMap { section, parts in parts.enumerated().map { ("\(section.key)[\($0)]", $1) } }
            + timeline.enumerated().map { ("timeline[\($0)]", $1.action) }
        let found =
            try actions.map { ($0, try $1.notes(surroundings)) }
            + expectations.enumerated().map { ("expect[\($0)]", $1.notes(surroundings)) }
        return found.flatMap { part, notes in
            notes.map { note in
                let path = "\(part).\(note.field)"
                return ErrorDetail(path, "line \(place.lines[path]): \(note.problem)")
            }
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
        let kind = given[0]
        self.init(
            at: at ?? .zero, name: kind.name, action: try kind.read(value.members?[kind.name] ?? .null, surroundings))
    }
}
