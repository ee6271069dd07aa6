import Foundation
import SimulationAPI
import Storage

/// The stored state of the scenario that was started in a namespace.
package struct ScenarioState: Codable, Sendable {
    package let name: String
    package let text: String
    /// The start, in microseconds on the namespace's clock.
    package let startedAt: Int64
    /// The reason of failure of each action that has run; empty if it succeeded.
    package var outcomes: [Int: String]
    /// The fault rules that the scenario made; `nil` in older files.
    package var faults: [MadeFault]?
    /// The fault rules that were removed since the start, oldest first; at most ``maxRemovedFaults``.
    package var removedFaults: [CountedFault]?
    /// Whether older removed rules were forgotten.
    package var forgetsFaults: Bool?

    package static func load(_ job: JobContext) throws -> ScenarioState? {
        try job.transaction.namespaceValue(.scenario).map {
            try WireJSON.decode(ScenarioState.self, from: Data($0.utf8))
        }
    }

    package func store(_ job: JobContext) throws {
        try job.transaction.setNamespaceValue(.scenario, StoredJSON.encode(self))
    }

    /// The scenario, parsed again unless it is cached.
    ///
    /// - Throws: ``PlatformError/wrongState(_:_:)`` if the current seed data lacks what the scenario names.
    package func document(_ job: JobContext) throws -> ScenarioDocument {
        if let known = job.state.knownScenario, known.text.isIdentical(to: text) { return known }
        do {
            let document = try ScenarioDocument(
                text, file: name, settings: job.state.environment.settings, job.state.seed.platforms,
                seedNamed: { _ in job.state.seed })
            job.state.knownScenario = document
            return document
        } catch let error as SeedError {
            throw PlatformError.wrongState("the scenario cannot be read with the current seed data: \(error)")
        }
    }
}

/// The scenarios of namespaces [D scenarios].
package enum Scenarios {
    /// Sets up a new namespace as the scenario says, and schedules its timeline. Writes.
    package static func begin(_ document: ScenarioDocument, _ job: JobContext) throws {
        let place = document.place
        var faults: [MadeFault] = []
        // Rules apply to everything that is set up after them.
        for rules in [true, false] {
            for (section, parts) in document.parts where section.hasRules == rules {
                for (index, part) in parts.enumerated() {
                    let path = "\(section.key)[\(index)]"
                    let added = try addedFault(job) { try place.locate(path) { try part.begin(job) } }
                    if let added { faults.append(MadeFault(path: path, id: added)) }
                }
            }
        }
        for (index, event) in document.timeline.enumerated() {
            try job.schedule(.scenarioAction, String(index), at: job.now + event.at)
        }
        let state = ScenarioState(
            name: document.name, text: document.text, startedAt: job.now.microseconds, outcomes: [:], faults: faults)
        try state.store(job)
        try job.record(.scenarioStarted, document.name)
    }

    /// Runs `body`. Returns the id of the fault rule that it has added; `nil` if it has added none.
    private static func addedFault(_ job: JobContext, _ body: () throws -> Void) throws -> String? {
        let count = try Rules<FaultRule>.all(job).count
        try body()
        let rules = try Rules<FaultRule>.all(job)
        return rules.count > count ? rules.last?.id : nil
    }

    /// Performs an action of the timeline. Writes. A failure is recorded, and the scenario then fails verification.
    package static func act(index text: String, _ job: JobContext) throws {
        guard var state = try ScenarioState.load(job), let index = Int(text) else { return }
        let document: ScenarioDocument
        do {
            document = try state.document(job)
        } catch  where !job.isStorageFailure(error) {
            // Noted here, because the scenario then fails verification.
            return try note("\(error)", of: index, nil, &state, job)
        }
        guard document.timeline.indices.contains(index) else { return }
        let action = document.timeline[index].action
        let mark = job.state.mark
        var problem = ""
        do {
            let added = try job.transaction.savepoint { try addedFault(job) { try action.perform(job) } }
            // The action may have changed the stored state: removed rules are remembered there.
            guard let changed = try ScenarioState.load(job) else { return }
            state = changed
            if let added {
                state.faults = (state.faults ?? []) + [MadeFault(path: "timeline[\(index)]", id: added)]
            }
        } catch  where !job.isStorageFailure(error) {
            job.state.undo(to: mark)
            job.state.invalidateRules()
            problem = "\(error)"
        }
        try note(problem, of: index, action.name, &state, job)
    }

    /// Stores the result of an action. Writes.
    private static func note(
        _ problem: String, of index: Int, _ action: String?, _ state: inout ScenarioState, _ job: JobContext
    ) throws {
        state.outcomes[index] = problem
        try state.store(job)
        var data: JSONObject = ["index": .number(JSONNumber(index))]
        if let action { data["action"] = .string(action) }
        if !problem.isEmpty { data["problem"] = .string(problem) }
        try job.record(.scenarioAction, state.name, data)
    }

    /// The current state of the scenario; `nil` if none was started.
    ///
    /// - Parameter countsFaults: whether notes name the faults that were never met, as all are when a scenario starts.
    package static func run(_ job: JobContext, countsFaults: Bool) throws -> ScenarioRun? {
        guard let state = try ScenarioState.load(job) else { return nil }
        let document = try state.document(job)
        let start = Instant(microseconds: state.startedAt)
        return ScenarioRun(
            name: state.name, namespace: job.state.name, url: job.publicURL, started_at: start.epoch,
            clock: ClockState(job.state.clock, job.now),
            timeline: document.timeline.enumerated().map { index, event in
                let problem = state.outcomes[index]
                return .init(
                    action: event.action.name, at: (start + event.at).epoch,
                    state: problem == nil ? "waiting" : problem == "" ? "done" : "failed",
                    problem: problem == "" ? nil : problem)
            },
            expectations: try document.expectations.map { try $0.check(job) },
            notes: try document.notes(
                ScenarioSurroundings(
                    seed: job.state.seed, settings: job.state.environment.settings,
                    routes: job.state.environment.routes)
            ).map { RuleNote($0) } + (countsFaults ? state.unmetFaults(document, job) : []))
    }
}

/// The current state of the scenario that was started in a namespace.
package struct ShowScenarioRun: Operation {
    package static let access = Access.reads
    /// Whether notes name the faults that were never met.
    let countsFaults: Bool

    package init(countsFaults: Bool = true) {
        self.countsFaults = countsFaults
    }

    /// The state, and the text that was started.
    package typealias Answer = (run: ScenarioRun, text: String)

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer? {
        guard let run = try Scenarios.run(job, countsFaults: countsFaults), let state = try ScenarioState.load(job)
        else { return nil }
        return (run, state.text)
    }
}

/// `POST /_sim/scenarios/{name}/verify`: whether every expectation is met.
package struct VerifyScenario: Operation {
    package static let access = Access.reads
    package let name: String
    /// Whether notes make the verification fail.
    package let isStrict: Bool

    package init(_ name: String, isStrict: Bool = false) {
        self.name = name
        self.isStrict = isStrict
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> ScenarioRun {
        guard var run = try Scenarios.run(job, countsFaults: true) else {
            throw PlatformError.wrongState(
                "no scenario was started in this namespace; POST /_sim/scenarios/\(name)/start starts one")
        }
        guard run.name.isIdentical(to: name) else {
            throw PlatformError.wrongState("this namespace was started from the scenario \"\(run.name)\"")
        }
        if isStrict, !run.notes.isEmpty { run.verified = false }
        guard run.verified else { throw PlatformError.scenarioFailed(run, isStrict: isStrict) }
        return run
    }
}

/// A scenario found by its name.
package struct FoundScenario: Sendable {
    package let text: String
    package let isShipped: Bool
}

/// The options of a scenario's start.
package struct ScenarioStart: Sendable {
    /// The text of the scenario, which is stored where it starts; `nil` if the scenario is found by its name.
    package var text: String?
    /// The namespace to create for the scenario; `nil` if the addressed namespace is recreated.
    package var namespace: String?
    /// Whether `namespace` may already exist; it is then recreated.
    package var replaces: Bool
    /// The time to live of a namespace that is created, without use; `nil` if it has none.
    package var ttl: Span?
    /// Whether the clock is advanced through the timeline.
    package var runs: Bool
    /// Whether notes on the scenario make the start fail.
    package var isStrict: Bool

    package init(
        text: String? = nil, namespace: String?, replaces: Bool, ttl: Span?, runs: Bool, isStrict: Bool
    ) {
        self.text = text
        self.namespace = namespace
        self.replaces = replaces
        self.ttl = ttl
        self.runs = runs
        self.isStrict = isStrict
    }
}

/// A scenario that was stored in a namespace.
package struct StoredScenario: Sendable {
    package let info: ScenarioInfo
    package let isNew: Bool
}

extension Namespaces {
    /// All scenarios that a namespace can start.
    package func listScenarios(_ namespace: Namespace, _ head: RequestHead) async -> Completed<ScenarioList> {
        await namespace.runLongOperation(head) { [self] in
            let own = try await ownSeed(namespace)
            let stored = try await environment.readingFiles { [environment] in
                try environment.scenarios.names(namespace.name)
            }
            var scenarios: [ScenarioInfo] = []
            for name in Set(stored + environment.platforms.shippedScenarios.keys).sorted() {
                // A scenario that is deleted in the meantime is not listed.
                guard let found = try await found(name, in: namespace) else { continue }
                scenarios.append(
                    try await environment.offload {
                        do {
                            return try self.document(found, name, own).info(found)
                        } catch {
                            // A scenario that became invalid is listed too, with its problem.
                            return ScenarioInfo(
                                name: name, description: "cannot be started: \(error)",
                                source: found.isShipped ? "shipped" : "namespace", actions: 0, expectations: 0)
                        }
                    })
            }
            return ScenarioList(scenarios: scenarios)
        }
    }

    /// A scenario, with its current state if it was started in this namespace.
    package func showScenario(
        _ name: String, _ namespace: Namespace, _ head: RequestHead
    ) async -> Completed<ScenarioDetails> {
        await namespace.runLongOperation(head) { [self] in
            let found = try await find(name, in: namespace)
            let started = try await namespace.answer(.success(ShowScenarioRun()), .background).result.get()
            let own = try await ownSeed(namespace)
            let mine = started.flatMap { $0.run.name.isIdentical(to: name) ? $0 : nil }
            let info = try await environment.offload { try self.document(found, name, own).info(found) }
            return ScenarioDetails(
                scenario: info, text: found.text,
                startedText: mine.flatMap { $0.text.isIdentical(to: found.text) ? nil : $0.text }, run: mine?.run)
        }
    }

    /// Validates and stores a scenario.
    package func putScenario(
        _ name: String, _ text: Result<String, PlatformError>, _ namespace: Namespace, _ head: RequestHead
    ) async -> Completed<StoredScenario> {
        await namespace.runLongOperation(head) { [self] in
            let found = FoundScenario(text: try text.get(), isShipped: false)
            let own = try await ownSeed(namespace)
            // Errors in the scenario come first: they have a line.
            let document = try await environment.offload { try self.document(found, name, own) }
            guard document.name.isIdentical(to: name) else {
                throw PlatformError.invalid(
                    field: "name", "is \"\(document.name)\" in the scenario, and \"\(name)\" in the path")
            }
            try await validate(document, own)
            let environment = environment
            let isNew = try await environment.copying {
                let isNew = try environment.scenarios.save(namespace.name, name, found.text)
                try namespace.checkExists { _ = try environment.scenarios.remove(namespace.name, name) }
                return isNew
            }
            return StoredScenario(info: document.info(found), isNew: isNew)
        }
    }

    /// Removes a scenario that was stored in a namespace.
    package func deleteScenario(_ name: String, _ namespace: Namespace, _ head: RequestHead) async -> Completed<Void> {
        await namespace.runLongOperation(head) { [environment] in
            try SnapshotName.check(name)
            guard try await environment.copying({ try environment.scenarios.remove(namespace.name, name) }) else {
                throw environment.platforms.shippedScenarios[name] == nil
                    ? PlatformError.notFound("there is no scenario \"\(name)\"; GET /_sim/scenarios lists them")
                    : .wrongState("the scenario \"\(name)\" is shipped with the server and cannot be deleted")
            }
        }
    }

    /// Starts a scenario in a namespace, which is created or recreated for it.
    ///
    /// - Parameters:
    ///   - name: the scenario's name; `nil` if `wanted` has its text.
    ///   - deadline: see ``Namespace/advanceClock(_:_:until:)``.
    package func startScenario(
        _ name: String?, _ wanted: Result<ScenarioStart, PlatformError>, _ namespace: Namespace, _ head: RequestHead,
        until deadline: SettleDeadline
    ) async -> Completed<ScenarioRun> {
        await namespace.runLongOperation(head) { [self] () async throws -> ScenarioRun in
            let wanted = try wanted.get()
            let (document, seed) = try await read(name, wanted, in: namespace)
            if wanted.isStrict {
                let notes = try document.notes(
                    ScenarioSurroundings(seed: seed, settings: environment.settings, routes: environment.routes))
                guard notes.isEmpty else { throw PlatformError.invalid(notes) }
            }
            await environment.prepareTemplate(of: seed)
            let started: Namespace
            if let child = wanted.namespace {
                started = try await start(document, seed, in: child, wanted)
            } else {
                try await namespace.restart(document, isStored: wanted.text != nil) { [environment] old in
                    var recipe = try NamespaceRecipe(of: old)
                    recipe.seed = seed
                    recipe.frozenAt = document.frozenAt
                    recipe.settings = environment.settings.merging(document.settings ?? .object([:]))
                    return recipe
                }
                started = namespace
            }
            // A child has a use of its own, so that it does not expire while its timeline runs.
            defer { if wanted.namespace != nil { started.endUse() } }
            let control = RequestHead.background
            if wanted.runs, let last = document.timeline.map(\.at).max() {
                _ = try await started.advanceClock(.by(last), control, until: deadline).result.get()
            }
            guard
                let run = try await started.answer(.success(ShowScenarioRun(countsFaults: false)), control).result
                    .get()?
                    .run
            else {
                throw PlatformError.wrongState("another request recreated the namespace in the meantime")
            }
            return run
        }
    }

    /// The scenario that is to be started, and the seed that it begins with.
    private func read(
        _ name: String?, _ wanted: ScenarioStart, in namespace: Namespace
    ) async throws -> (ScenarioDocument, Seed) {
        let own = try await ownSeed(namespace)
        let found: FoundScenario
        if let text = wanted.text {
            found = FoundScenario(text: text, isShipped: false)
        } else {
            found = try await find(name ?? "", in: namespace)
        }
        return try await environment.offload {
            let document = try self.document(found, name ?? "scenario", own)
            return (document, try document.seed.map { try self.seed($0) } ?? own)
        }
    }

    /// Starts a scenario in the namespace of a name. Creates the namespace, or recreates it if it exists and may be
    /// replaced. A use of it has begun, which the caller ends.
    ///
    /// A recreated namespace keeps its snapshots and scenarios. All else is as if the name had been free
    /// [D scenarios].
    private func start(
        _ document: ScenarioDocument, _ seed: Seed, in name: String, _ wanted: ScenarioStart
    ) async throws -> Namespace {
        guard name != Self.defaultName || wanted.ttl == nil else {
            throw PlatformError.invalid(
                field: "ttl", "cannot be given to the namespace \"default\", which always stays")
        }
        var recipe = try self.recipe(name, NamespaceOptions(frozenAt: document.frozenAt, ttl: wanted.ttl))
        recipe.seed = seed
        recipe.settings = recipe.settings.merging(document.settings ?? .object([:]))
        while true {
            do {
                // A stored scenario is a file, which is written on a thread for that.
                return try await create(name, isLong: wanted.text != nil, isInUse: true) { [recipe] environment in
                    try environment.scenarios.saving(wanted.text, as: document.name, in: name) {
                        try recipe.make(environment, begin: { try Scenarios.begin(document, $0) })
                    }
                }
            } catch let error as PlatformError where error.details == [Self.nameTaken] {
                guard wanted.replaces else {
                    throw PlatformError.wrongState(
                        "the namespace \"\(name)\" exists already; \"replace\": true recreates it and starts the scenario",
                        [ErrorDetail("namespace", "exists already; send \"replace\": true, or another name")])
                }
                do {
                    let existing = try await use(name)
                    do {
                        try await existing.restart(document, isStored: wanted.text != nil) { [recipe] _ in recipe }
                    } catch {
                        existing.endUse()
                        throw error
                    }
                    return existing
                } catch let error as PlatformError where error.kind == .unknownNamespace {
                    // Another request has dropped the namespace, so the name is free.
                }
            }
        }
    }

    /// - Throws: ``PlatformError`` if the name is not valid, or there is no such scenario.
    private func find(_ name: String, in namespace: Namespace) async throws -> FoundScenario {
        try SnapshotName.check(name)
        guard let found = try await found(name, in: namespace) else {
            throw PlatformError.notFound("there is no scenario \"\(name)\"; GET /_sim/scenarios lists them")
        }
        return found
    }

    /// The scenario of a name, the namespace's own before a shipped one; `nil` if there is none.
    private func found(_ name: String, in namespace: Namespace) async throws -> FoundScenario? {
        let own = try await environment.readingFiles { [environment] in
            try environment.scenarios.text(namespace.name, name)
        }
        if let own { return FoundScenario(text: own, isShipped: false) }
        return environment.platforms.shippedScenarios[name].map { FoundScenario(text: $0, isShipped: true) }
    }

    /// The seed of a namespace, which applies if a scenario names none.
    private func ownSeed(_ namespace: Namespace) async throws -> Seed {
        try await namespace.run(.background, .reads) { $0.state.seed }.result.get()
    }

    /// Checks the expectations of a scenario about requests against the journal of a namespace, which need not have been started
    /// from it.
    ///
    /// - Returns: the checks, and the number of expectations about other things.
    /// - Throws: ``PlatformError`` if the text is not a valid scenario.
    package func checkRequests(
        ofScenario text: String, in namespace: Namespace
    ) async throws -> (checks: [ScenarioCheck], others: Int) {
        let own = try await ownSeed(namespace)
        let document = try await environment.offload {
            try self.document(FoundScenario(text: text, isShipped: false), "scenario", own)
        }
        let wanted = document.expectations.filter(\.isAboutRequests)
        let checks = try await namespace.run(.background, .reads) { job in try wanted.map { try $0.check(job) } }.result
            .get()
        return (checks, document.expectations.count - wanted.count)
    }

    private func document(_ found: FoundScenario, _ name: String, _ own: Seed) throws -> ScenarioDocument {
        do {
            return try ScenarioDocument(
                found.text, file: "\(name).yaml", settings: environment.settings, environment.platforms,
                seedNamed: { try $0 == nil ? own : seed($0) })
        } catch let error as SeedError {
            throw PlatformError.invalid(scenario: error)
        }
    }

    /// Sets a scenario up in a scratch namespace, so that its errors are found before anything is stored.
    private func validate(_ document: ScenarioDocument, _ own: Seed) async throws {
        let environment = environment
        try await environment.copying { [self] in
            var recipe = try self.recipe("scratch", NamespaceOptions(seed: document.seed, frozenAt: document.frozenAt))
            if document.seed == nil { recipe.seed = own }
            recipe.settings = recipe.settings.merging(document.settings ?? .object([:]))
            try recipe.make(
                environment, in: environment.scratchStore, begin: { try Scenarios.begin(document, $0) }
            ).database.close()
        }
    }
}

extension Namespace {
    /// Recreates the namespace in place and begins a scenario in it.
    ///
    /// - Parameters:
    ///   - isStored: whether the scenario is stored in the namespace too.
    ///   - recipe: returns the recipe of the new state.
    fileprivate func restart(
        _ document: ScenarioDocument, isStored: Bool,
        _ recipe: @escaping @Sendable (NamespaceState) throws -> NamespaceRecipe
    ) async throws {
        let environment = environment
        try await runExclusively(usesFiles: isStored) { state in
            guard let old = state else { throw PlatformError.unknownNamespace("the namespace was deleted") }
            state = try environment.scenarios.saving(
                isStored ? document.text : nil, as: document.name, in: old.name
            ) {
                try recipe(old).make(
                    environment, begin: { try Scenarios.begin(document, $0) }, closeOld: { try old.database.close() })
            }
            environment.journals.clear(old.name)
        }
    }
}

extension ScenarioDocument {
    package func info(_ found: FoundScenario) -> ScenarioInfo {
        ScenarioInfo(
            name: name, description: description, source: found.isShipped ? "shipped" : "namespace",
            actions: timeline.count, expectations: expectations.count)
    }
}

extension ScenarioRun {
    /// The actions and expectations that are not yet met or have failed.
    package var failures: [ErrorDetail] {
        timeline.enumerated().filter { $0.element.state != "done" }.map { index, action in
            ErrorDetail(
                "timeline[\(index)]",
                action.problem.map { "\(action.action) could not be done: \($0)" }
                    ?? "\(action.action) is still due; advance the clock past it")
        }
            + expectations.enumerated().filter { !$0.element.passed }.map { index, check in
                ErrorDetail("expect[\(index)]", "\(check.expectation): \(check.problem ?? "is not so")")
            }
    }
}
