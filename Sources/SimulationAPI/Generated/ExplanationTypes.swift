// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/explain/{id}` [D explain].
public struct Explanation: Codable, Sendable {
    public var subject: Subject
    /// The causes and the consequences, oldest first. Steps of the same time stand in the order in which they happened.
    public var steps: [Step]
    /// What would have changed a step, noted when it was decided.
    public var would_differ: [Alternative]
    /// Whether the chain ends where the journal has forgotten a request, or at the bound of 1,000 steps.
    public var forgotten: Bool

    public struct Subject: Codable, Sendable {
        /// `request`, `item`, `capture`, `session`, `delivery`, `event`, `due_work`, `control`, or `object` for others.
        public var kind: String
        public var id: String

        public init(kind: String, id: String) {
            self.kind = kind
            self.id = id
        }
    }

    /// The causes and the consequences, oldest first. Steps of the same time stand in the order in which they happened.
    public struct Step: Codable, Sendable {
        /// Unique here. `sequence:N`, `event:N`, `due:N`, `control:N` and a delivery's id can be explained too.
        public var id: String
        public var kind: Kind
        /// The time by the namespace's clock, in epoch seconds.
        public var at: Double
        /// What happened, with secrets masked.
        public var text: String
        /// The ids of the earlier steps that it follows from.
        public var causes: [String]
        /// The path at which the control API shows more.
        @Nullable public var href: String?

        public init(id: String, kind: Kind, at: Double, text: String, causes: [String], href: String?) {
            self.id = id
            self.kind = kind
            self.at = at
            self.text = text
            self.causes = causes
            _href = Nullable(wrappedValue: href)
        }
    }

    /// What would have changed a step, noted when it was decided.
    public struct Alternative: Codable, Sendable {
        /// The id of the step.
        public var step: String
        /// What would have changed it, in words.
        public var text: String

        public init(step: String, text: String) {
            self.step = step
            self.text = text
        }
    }

    public init(subject: Subject, steps: [Step], would_differ: [Alternative], forgotten: Bool) {
        self.subject = subject
        self.steps = steps
        self.would_differ = would_differ
        self.forgotten = forgotten
    }
}
