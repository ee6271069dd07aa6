/// Serializes the advances of a namespace's clock, or the comparisons of a server: one at a time, in order of arrival.
package actor AdvanceLine {
    private let sequencer: JobSequencer
    private var last: Task<Void, Never>?

    package init(_ sequencer: JobSequencer) {
        self.sequencer = sequencer
    }

    /// Runs `body` after all earlier ones.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        // In a replay the recording decides the order, which may differ from the order of arrival.
        if sequencer.isReplaying { return await body() }
        let before = last
        let task = Task {
            await before?.value
            return await body()
        }
        last = Task { _ = await task.value }
        return await task.value
    }
}
