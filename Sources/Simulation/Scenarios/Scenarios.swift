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
    /// The fault rules that the scenario made.
    package var faults: [MadeFault]
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
            throw PlatformError.wrongState("the scenario cannot be read with the current seed data: \(error.summary)")
        }
    }
}

/// The scenarios of namespaces [D scenarios].
package enum Scenarios {
    /// Sets up a new namespace as the scenario says, and schedules its timeline. Writes.
    ///
    /// - Parameter head: the head of the call that starts the scenario; `nil` if it is only checked.
    package static func begin(_ document: ScenarioDocument, _ job: JobContext, _ head: RequestHead? = nil) throws {
        job.state.cause = JobCause(ofCall: head)
        let place = document.place
        var faults: [MadeFault] = []
        // Rules apply to everything that is set up after them.
        for rules in [true, false] {
            for (section, parts) in document.parts where section.hasRules == rules {
                for (index, part) in parts.enumerated() {
                    let path = "\(section.key)[\(index)]"
                    let added = try addedFault(job) { try place.locate(path) { try part.perform(job) } }
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
        let event = document.timeline[index]
        let mark = job.state.mark
        var problem = ""
        do {
            let added = try job.transaction.savepoint { try addedFault(job) { try event.action.perform(job) } }
            // The action may have changed the stored state: removed rules are remembered there.
            guard let changed = try ScenarioState.load(job) else { return }
            state = changed
            if let added {
                state.faults.append(MadeFault(path: "timeline[\(index)]", id: added))
            }
        } catch  where !job.isStorageFailure(error) {
            job.state.undo(to: mark)
            job.state.cause.undone()
            job.state.invalidateRules()
            problem = "\(error)"
        }
        try note(problem, of: index, event.name, &state, job)
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

    /// The current state of the scenario, and the text that was started; `nil` if none was started.
    ///
    /// - Parameter countsFaults: whether notes name the faults that were never met, as all are when a scenario starts.
    package static func run(_ job: JobContext, countsFaults: Bool) throws -> ShowScenarioRun.Answer? {
        guard let state = try ScenarioState.load(job) else { return nil }
        let document = try state.document(job)
        let start = Instant(microseconds: state.startedAt)
        let run = ScenarioRun(
            name: state.name, namespace: job.state.name, url: job.publicURL, started_at: start.epoch,
            clock: ClockState(job.state.clock, job.now),
            timeline: document.timeline.enumerated().map { index, event in
                let problem = state.outcomes[index]
                return .init(
                    action: event.name, at: (start + event.at).epoch,
                    state: problem == nil ? "waiting" : problem == "" ? "done" : "failed",
                    problem: problem == "" ? nil : problem)
            },
            expectations: try document.expectations.map { try $0.check(job) },
            notes: try document.notes(
                ScenarioSurroundings(
                    seed: job.state.seed, settings: job.state.environment.settings,
                    routes: job.state.environment.routes.all)
            ).map { RuleNote($0) } + (countsFaults ? state.unmetFaults(document, job) : []))
        return (run, state.text)
    }
}
