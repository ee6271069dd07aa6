/// A scenario as it is listed [D].
public struct ScenarioInfo: Codable, Sendable {
    /// The same as `name`.
    public var id: String
    /// What it is called.
    public var name: String
    /// What it is about, and what a client is pointed at.
    public var description: String
    /// `shipped` with the server, or `namespace`: it was put there.
    public var source: String
    /// How much happens by itself.
    public var actions: Int
    /// How much is expected.
    public var expectations: Int

    /// Makes one from its members.
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
    /// By name.
    public var scenarios: [ScenarioInfo]

    /// Makes one from its members.
    public init(scenarios: [ScenarioInfo]) {
        self.scenarios = scenarios
    }
}

/// `GET /_sim/scenarios/{name}`.
public struct ScenarioDetails: Codable, Sendable {
    /// What it is.
    public var scenario: ScenarioInfo
    /// As it was written, in YAML.
    public var text: String
    /// How it stands, where it was started in this namespace; null else.
    @Nullable public var run: ScenarioRun?

    /// Makes one from its members.
    public init(scenario: ScenarioInfo, text: String, run: ScenarioRun?) {
        self.scenario = scenario
        self.text = text
        _run = Nullable(wrappedValue: run)
    }
}

/// A scenario that was started, and how it stands.
public struct ScenarioRun: Codable, Sendable {
    /// The scenario.
    public var name: String
    /// The namespace it was started in.
    public var namespace: String
    /// What a client is pointed at.
    public var url: String
    /// When, in epoch seconds of the namespace's clock.
    public var started_at: Double
    /// The clock, now.
    public var clock: ClockState
    /// Whether all was done that was to be done, and all is as expected.
    public var verified: Bool
    /// What happens by itself, in the order of the scenario.
    public var timeline: [Action]
    /// What is expected, in the order of the scenario.
    public var expectations: [ScenarioCheck]
    /// The parts that nothing can match, such as a misspelt route or brand.
    public var notes: [ErrorDetail]

    /// Makes one from its members.
    public init(
        name: String, namespace: String, url: String, started_at: Double, clock: ClockState, timeline: [Action],
        expectations: [ScenarioCheck], notes: [ErrorDetail]
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

    /// Something that happens by itself.
    public struct Action: Codable, Sendable {
        /// What is done, for instance `resolve_flag`.
        public var action: String
        /// When, in epoch seconds of the namespace's clock.
        public var at: Double
        /// `waiting`, `done` or `failed`.
        public var state: String
        /// Why it could not be done; null where it could.
        @Nullable public var problem: String?

        /// Makes one from its members.
        public init(action: String, at: Double, state: String, problem: String?) {
            self.action = action
            self.at = at
            self.state = state
            _problem = Nullable(wrappedValue: problem)
        }
    }
}

/// One expectation of a scenario, and whether it is so.
public struct ScenarioCheck: Codable, Sendable {
    /// What is expected, in one line.
    public var expectation: String
    /// Where it stands in the scenario.
    @Nullable public var line: Int?
    /// Whether it is so.
    public var passed: Bool
    /// How many there are of what is expected.
    public var found: Int
    /// What is wrong; null where nothing is.
    @Nullable public var problem: String?

    /// Makes one from its members.
    public init(expectation: String, line: Int?, passed: Bool, found: Int, problem: String?) {
        self.expectation = expectation
        _line = Nullable(wrappedValue: line)
        self.passed = passed
        self.found = found
        _problem = Nullable(wrappedValue: problem)
    }
}
