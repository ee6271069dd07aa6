/// `GET /_sim/explain/{id}`: why something happened, and what followed from it [D explain].
public struct Explanation: Codable, Sendable {
    /// What is explained.
    public struct Subject: Codable, Sendable {
        /// `request`, `item`, `capture`, `session`, `delivery`, `event`, `due_work`, `control`, or `object` for others.
        public var kind: String
        public var id: String

        public init(kind: String, id: String) {
            self.kind = kind
            self.id = id
        }
    }

    /// One step of the chain.
    public struct Step: Codable, Sendable {
        /// The kind of a step.
        public enum Kind: String, Codable, Sendable, CaseIterable {
            case request, event
            case dueWork = "due_work"
            case delivery, attempt, rule, limit, setting, control, scenario
        }

        /// Unique in the explanation. Those of requests, events, due work, control calls and deliveries can be explained too.
        public var id: String
        public var kind: Kind
        /// The time by the namespace's clock, in epoch seconds.
        public var at: Double
        /// What happened, in words.
        public var text: String
        /// The ids of the steps that it follows from. They come before it.
        public var causes: [String]
        /// The path at which the control API shows more; null if there is none.
        @Nullable public var href: String?

        public init(id: String, kind: Kind, at: Double, text: String, causes: [String], href: String?) {
            self.id = id
            self.kind = kind
            self.at = at
            self.text = text
            self.causes = causes
            self._href = Nullable(wrappedValue: href)
        }
    }

    /// What would have changed a step.
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

    public var subject: Subject
    /// The steps, oldest first.
    public var steps: [Step]
    /// What would have changed the steps, as it was noted when they were decided. Decisions of version 0.2.0 and older have none.
    public var would_differ: [Alternative]
    /// Whether the chain ends where the journal has forgotten a request, where an older version noted no cause, or at the bound of
    /// 1,000 steps.
    public var forgotten: Bool

    public init(subject: Subject, steps: [Step], would_differ: [Alternative], forgotten: Bool) {
        self.subject = subject
        self.steps = steps
        self.would_differ = would_differ
        self.forgotten = forgotten
    }
}
