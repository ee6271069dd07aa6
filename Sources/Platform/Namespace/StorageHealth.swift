import NIOConcurrencyHelpers
import Storage

/// The namespaces whose storage failed, until a write to them succeeds.
final class StorageHealth: Sendable {
    private let state = NIOLockedValueBox<[String: String]>([:])

    /// Remembers that a namespace could not be written, and why.
    func failed(_ namespace: String, _ problem: String) {
        state.withLockedValue { $0[namespace] = problem }
    }

    /// Forgets that a namespace could not be written: it can be, or it is gone.
    func recovered(_ namespace: String) {
        state.withLockedValue { $0[namespace] = nil }
    }

    /// The namespaces that could not be written when last tried, by name.
    var failing: [String] { state.withLockedValue { $0.keys.sorted() } }
}

extension Namespaces {
    /// Why state cannot be stored now; nil if it can. Writes to the data directory, and to each namespace whose storage failed
    /// before.
    package func storageProblem() async -> String? {
        let environment = environment
        do {
            try await environment.threads.runIfActive { try environment.store.probe() }
        } catch {
            return "\(error)"
        }
        for name in environment.storageHealth.failing {
            if let namespace = find(name), let problem = await namespace.writeProblem() { return problem }
            environment.storageHealth.recovered(name)
        }
        return nil
    }
}

extension Namespace {
    /// Why nothing can be written to this namespace; nil if something can.
    fileprivate func writeProblem() async -> String? {
        let result = await run(RequestHead(isControl: true), .writes, catchingUp: false) {
            try $0.transaction.writeNothing()
        }.result
        guard case .failure(let error) = result else { return nil }
        return "\(error)"
    }
}
