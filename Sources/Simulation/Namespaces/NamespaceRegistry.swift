import NIOConcurrencyHelpers

/// The names of a server's namespaces, and whether each is open. Thread-safe.
final class NamespaceRegistry: Sendable {
    enum Entry: Sendable {
        case open(Namespace)
        /// Being created; requests for it wait.
        case opening(SequencedTask<Namespace>)
        /// Being deleted; the name is free when the task ends.
        case closing(SequencedTask<Void>)

        /// The namespace, if it is open.
        var namespace: Namespace? { if case .open(let namespace) = self { namespace } else { nil } }
    }

    private let entries = NIOLockedValueBox<[String: Entry]>([:])
    private let sequencer: JobSequencer

    init(_ sequencer: JobSequencer) {
        self.sequencer = sequencer
    }

    /// Reads or changes the list at once.
    func now<Value>(_ body: (inout [String: Entry]) throws -> Value) rethrows -> Value {
        try entries.withLockedValue(body)
    }

    /// Reads or changes the list when it is this task's turn among all jobs. What a request finds depends on it.
    ///
    /// - Throws: ``PlatformError`` if a replay ends before this, or the error of `body`.
    func inOrder<Value>(_ body: @Sendable (inout [String: Entry]) throws -> Value) async throws -> Value {
        try await sequencer.inOrder { [entries] in try entries.withLockedValue(body) }
    }

    /// Changes the list if a condition holds, in one step. Only then does it take a place among all jobs.
    ///
    /// - Returns: `nil` if the condition does not hold.
    /// - Throws: ``PlatformError`` if a replay ends before this, or the error of `body`.
    func inOrder<Value>(
        if condition: @Sendable ([String: Entry]) -> Bool, _ body: @Sendable (inout [String: Entry]) throws -> Value
    ) async throws -> Value? {
        try await sequencer.inList { [entries] turn in
            try entries.withLockedValue { entries in
                guard condition(entries) else { return nil }
                return try turn.run { try body(&entries) }
            }
        }
    }
}
