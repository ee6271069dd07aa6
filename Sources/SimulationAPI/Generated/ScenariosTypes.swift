// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// A scenario in a list [D scenarios].
public struct ScenarioInfo: Codable, Sendable {
    public var id: String
    public var name: String
    /// The purpose of the scenario, and what a client does.
    public var description: String
    /// The source: `shipped` with the server, or stored in the `namespace`.
    public var source: String
    /// The number of actions in the timeline.
    public var actions: Int
    /// The number of expectations.
    public var expectations: Int

    public init(name: String, description: String, source: String, actions: Int, expectations: Int) {
        self.id = name
        self.name = name
        self.description = description
        self.source = source
        self.actions = actions
        self.expectations = expectations
    }
}

/// `GET /_sim/scenarios`.
public struct ScenarioList: Codable, Sendable {
    /// The scenarios, sorted by name.
    public var scenarios: [ScenarioInfo]

    public init(scenarios: [ScenarioInfo]) {
        self.scenarios = scenarios
    }
}

/// `GET /_sim/scenarios/{name}`.
public struct ScenarioDetails: Codable, Sendable {
    public var scenario: ScenarioInfo
    /// The scenario's original text.
    public var text: String
    /// The text that was started in this namespace, if the stored one is another by now; else absent.
    public var started_text: String?
    /// The state of the scenario; null if it was not started in this namespace.
    @Nullable public var run: ScenarioRun?

    public init(scenario: ScenarioInfo, text: String, started_text: String? = nil, run: ScenarioRun?) {
        self.scenario = scenario
        self.text = text
        self.started_text = started_text
        _run = Nullable(wrappedValue: run)
    }
}

/// The state of a started scenario.
public struct ScenarioRun: Codable, Sendable {
    /// The name of the scenario.
    public var name: String
    /// The namespace that the scenario was started in.
    public var namespace: String
    /// The base URL for clients.
    public var url: String
    /// The time of the start by the namespace's clock, in epoch seconds.
    public var started_at: Double
    /// The current state of the clock.
    public var clock: ClockState
    /// Whether every action is done and every expectation is met; with `strict` also that there are no `notes`.
    public var verified: Bool
    /// The actions that the simulator performs, in the order of the scenario.
    public var timeline: [Action]
    /// The expectations, in the order of the scenario.
    public var expectations: [ScenarioCheck]
    /// The parts of the scenario that nothing can match, each with its line. In answers about the scenario's state also the
    /// faults with `times` that were never met.
    public var notes: [RuleNote]

    /// The actions that the simulator performs, in the order of the scenario.
    public struct Action: Codable, Sendable {
        /// The kind of action, for instance `resolve_flag`.
        public var action: String
        /// The time by the namespace's clock, in epoch seconds.
        public var at: Double
        /// The state: `waiting`, `done` or `failed`.
        public var state: String
        /// The reason for a failure; null if the action has not failed.
        @Nullable public var problem: String?

        public init(action: String, at: Double, state: String, problem: String?) {
            self.action = action
            self.at = at
            self.state = state
            _problem = Nullable(wrappedValue: problem)
        }
    }

    public init(
        name: String, namespace: String, url: String, started_at: Double, clock: ClockState, timeline: [Action],
        expectations: [ScenarioCheck], notes: [RuleNote]
    ) {
        self.name = name
        self.namespace = namespace
        self.url = url
        self.started_at = started_at
        self.clock = clock
        self.verified = timeline.allSatisfy { $0.state == "done" } && expectations.allSatisfy(\.passed)
        self.timeline = timeline
        self.expectations = expectations
        self.notes = notes
    }
}

/// The expectations, in the order of the scenario.
public struct ScenarioCheck: Codable, Sendable {
    /// The expectation, in one line.
    public var expectation: String
    /// The line in the scenario's text.
    @Nullable public var line: Int?
    /// Whether the expectation is met.
    public var passed: Bool
    /// It cannot be told whether the expectation is met, so that the opposite is not true either: the journal has forgotten
    /// requests, a restore took something away, or it names what nobody has. Absent otherwise.
    public var unknown: Bool?
    /// The number of matches found.
    public var found: Int
    /// The problem; null if the expectation is met.
    @Nullable public var problem: String?
    /// The requests that nearly match an expected one, or the last ones of too many; absent for other expectations, and if it
    /// is met.
    public var nearest: [NearRequest]?

    public init(
        expectation: String, line: Int?, passed: Bool, found: Int, problem: String?, nearest: [NearRequest]? = nil,
        unknown: Bool? = nil
    ) {
        self.expectation = expectation
        _line = Nullable(wrappedValue: line)
        self.passed = passed
        self.unknown = unknown
        self.found = found
        _problem = Nullable(wrappedValue: problem)
        self.nearest = nearest
    }
}

/// The requests that nearly match an expected one, or the last ones of too many; absent for other expectations, and if it
/// is met.
public struct NearRequest: Codable, Sendable {
    /// The request's id.
    public var id: String
    /// The request's number in the journal; null if it is not known.
    @Nullable public var sequence: Int64?
    /// The differences from the expected request; empty if there were too many.
    public var differences: [String]

    public init(id: String, sequence: Int64?, differences: [String]) {
        self.id = id
        _sequence = Nullable(wrappedValue: sequence)
        self.differences = differences
    }
}
