/// A scenario in a list [D scenarios].
public struct ScenarioInfo: Codable, Sendable {
    public var id: String
    public var name: String
    /// The description: the purpose of the scenario, and what a client does.
    public var description: String
    /// The source: `shipped` with the server, or stored in the `namespace`.
    public var source: String
    /// The number of actions in the timeline.
    public var actions: Int
    /// The number of expectations.
    public var expectations: Int

    public init(
        name: String, description: String, source: String, actions: Int, expectations: Int
    ) {
        id = name
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
    /// The scenario's original text, in YAML.
    public var text: String
    /// The text that was started in this namespace, if the stored one is another by now. Otherwise absent.
    public var started_text: String?
    /// The state of the scenario; null if it was not started in this namespace.
    @Nullable public var run: ScenarioRun?

    public init(scenario: ScenarioInfo, text: String, startedText: String? = nil, run: ScenarioRun?) {
        self.scenario = scenario
        self.text = text
        started_text = startedText
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
    /// The time by the namespace's clock, in epoch seconds.
    public var started_at: Double
    /// The current state of the clock.
    public var clock: ClockState
    /// Whether every action is done and every expectation is met; under `strict` also that there is no note.
    public var verified: Bool
    /// The actions that the simulator performs, in the order of the scenario.
    public var timeline: [Action]
    /// The expectations, in the order of the scenario.
    public var expectations: [ScenarioCheck]
    /// The parts of the scenario that nothing can match, such as a misspelt route or brand, and in answers about its state the
    /// faults with `times` that were never met.
    public var notes: [RuleNote]

    public init(
        name: String, namespace: String, url: String, started_at: Double, clock: ClockState, timeline: [Action],
        expectations: [ScenarioCheck], notes: [RuleNote]
    ) {
        self.name = name
        self.namespace = namespace
        self.url = url
        self.started_at = started_at
        self.clock = clock
        verified = timeline.allSatisfy { $0.state == "done" } && expectations.allSatisfy(\.passed)
        self.timeline = timeline
        self.expectations = expectations
        self.notes = notes
    }

    /// One action of a scenario's timeline.
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

    /// What keeps an action from being done, in words: its problem, or the time that it waits for; `nil` if it is done.
    package func obstacle(to action: Action) -> String? {
        guard action.state == "waiting" else { return action.problem }
        let (left, whole) = (action.at - clock.epoch, action.at - started_at)
        let standing = clock.mode == "frozen" ? "; the clock is frozen: advance it" : ""
        return "is still due: in \(DurationText.text(seconds: max(0, left))), "
            + "\(DurationText.text(seconds: max(0, whole))) after the start\(standing)"
    }
}

/// One expectation of a scenario, and whether it is met.
public struct ScenarioCheck: Codable, Sendable {
    /// The expectation, in one line.
    public var expectation: String
    /// The line of the expectation in the scenario's text, or null.
    @Nullable public var line: Int?
    /// Whether the expectation is met.
    public var passed: Bool
    /// True where it cannot be told whether the expectation is met, so that the opposite is not true either: the journal has forgotten
    /// requests, a restore took something away, or the expectation names what nobody has. Absent otherwise.
    public var unknown: Bool?
    /// The number of matches found.
    public var found: Int
    /// The problem; null if the expectation is met.
    @Nullable public var problem: String?
    /// The requests that nearly match an expected one, or the last ones of too many. Absent for other expectations, and if it is
    /// met.
    public var nearest: [NearRequest]?

    public init(
        expectation: String, line: Int?, passed: Bool, found: Int, problem: String?, nearest: [NearRequest]? = nil,
        isUnknown: Bool = false
    ) {
        self.nearest = nearest
        unknown = isUnknown ? true : nil
        self.expectation = expectation
        _line = Nullable(wrappedValue: line)
        self.passed = passed
        self.found = found
        _problem = Nullable(wrappedValue: problem)
    }
}
