import NIOConcurrencyHelpers

/// The namespaces whose storage failed, until a write to them succeeds.
package final class StorageHealth: Sendable {
    private let state = NIOLockedValueBox<[String: String]>([:])

    /// Records that a write to a namespace failed, and why.
    package func failed(_ namespace: String, _ problem: String) {
        state.withLockedValue { $0[namespace] = problem }
    }

    /// Removes a namespace: it can be written again, or it was deleted.
    package func recovered(_ namespace: String) {
        state.withLockedValue { $0[namespace] = nil }
    }

    /// The namespaces whose last write failed, sorted by name.
    package var failing: [String] { state.withLockedValue { $0.keys.sorted() } }
}

extension Namespaces {
    /// The reason why state cannot be stored now; `nil` if it can. Writes to the data directory, and to each
    /// namespace whose storage failed before.
    package func storageProblem() async -> String? {
        let environment = environment
        do {
            try await environment.threads.runIfActive { try environment.store.probe() }
        } catch {
            return "\(error)"
        }
        for name in environment.storageHealth.failing {
            let written = await find(name)?.run(.background, .writes, catchingUp: false) { job in
                try job.transaction.testWriting()
            }
            if case .failure(let error)? = written?.result { return "\(error)" }
            environment.storageHealth.recovered(name)
        }
        return nil
    }
}
