import SimulationAPI

/// The current state of the scenario that was started in a namespace.
package struct ShowScenarioRun: Operation, Reads {
    /// Whether notes name the faults that were never met.
    let countsFaults: Bool

    package init(countsFaults: Bool = true) {
        self.countsFaults = countsFaults
    }

    /// The state, and the text that was started.
    package typealias Answer = (run: ScenarioRun, text: String)

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer? {
        try Scenarios.run(job, countsFaults: countsFaults)
    }
}

/// `POST /_sim/scenarios/{name}/verify`: whether every expectation is met.
package struct VerifyScenario: Operation, Reads {
    package static let isLong = true
    package let name: String
    /// Whether notes make the verification fail.
    package let isStrict: Bool

    /// The verified scenario, and whether it is a shipped one that expects something, as it was shipped.
    package typealias Verified = (run: ScenarioRun, isShipped: Bool)

    package func perform(_ job: JobContext, as caller: Control) throws -> Verified {
        guard case (var run, let text)? = try Scenarios.run(job, countsFaults: true) else {
            throw PlatformError.wrongState(
                "no scenario was started in this namespace; POST /_sim/scenarios/\(name)/start starts one")
        }
        guard run.name.isIdentical(to: name) else {
            throw PlatformError.wrongState("this namespace was started from the scenario \"\(run.name)\"")
        }
        if isStrict, !run.notes.isEmpty { run.verified = false }
        guard run.verified else { throw PlatformError.scenarioFailed(run, isStrict: isStrict) }
        let shipped = job.state.environment.platforms.shippedScenarios[name]
        return (run, isShipped: text == shipped && !run.expectations.isEmpty)
    }
}

extension VerifyScenario {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        self.init(name: input.path("name"), isStrict: query.optionalBool("strict") ?? false)
        try query.finish()
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
}

extension ScenarioStart {
    /// - Parameter maxTextBytes: the longest text of a scenario that the body may hold; `nil` if it holds none.
    package init(_ input: some RequestInput, maxTextBytes: Int? = nil) throws {
        var query = input.query
        isStrict = query.optionalBool("strict") ?? false
        try query.finish()
        var fields = input.fields(
            known: (maxTextBytes == nil ? [] : ["scenario"]) + ["namespace", "replace", "ttl", "run"])
        text = maxTextBytes.map { fields.requiredText("scenario", maxBytes: $0) }
        namespace = fields.optionalString("namespace")
        ttl = fields.timeToLive()
        replaces = fields.optionalBool("replace") ?? false
        runs = fields.optionalBool("run") ?? false
        if ttl != nil, namespace == nil { fields.report("ttl", "is for a new namespace: give \"namespace\" too") }
        try fields.finish()
    }
}
