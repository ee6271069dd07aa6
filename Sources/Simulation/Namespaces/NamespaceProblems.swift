import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// The namespaces with a problem of one kind, until it is over: a file that cannot be opened, or a write that failed. Each is tried again
/// at its next use, so a file that was repaired or brought back opens without a restart. Thread-safe.
package final class NamespaceProblems: Sendable {
    private struct State {
        var problems: [String: String] = [:]
        var report: (@Sendable (DamagedFile) -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Sets what is called when a namespace gets a problem, and calls it for those that have one.
    package func setReport(_ report: @escaping @Sendable (DamagedFile) -> Void) {
        state.withLockedValue { $0.report = report }
        for damaged in list { report(damaged) }
    }

    func add(_ name: String, _ problem: String) {
        let report = state.withLockedValue { state in
            // Each use finds it again.
            let isNew = state.problems.updateValue(problem, forKey: name) != problem
            return isNew ? state.report : nil
        }
        report?(DamagedFile(name: name, problem: problem))
    }

    func remove(_ name: String) { state.withLockedValue { $0.problems[name] = nil } }

    func has(_ name: String) -> Bool { state.withLockedValue { $0.problems[name] != nil } }

    /// All, sorted by name.
    package var list: [DamagedFile] {
        state.withLockedValue(\.problems).sorted { $0.key < $1.key }.map {
            DamagedFile(name: $0.key, problem: $0.value)
        }
    }
}

extension Environment {
    /// Opens a namespace on disk. Blocks.
    ///
    /// - Throws: ``StorageError`` that names the file.
    func open(_ name: String) throws -> NamespaceState {
        do {
            let database = try store.open(name)
            do {
                let state = try NamespaceState(name: name, database: database, environment: self)
                damaged.remove(name)
                return state
            } catch {
                // The error above is the one to report.
                try? database.close()
                throw StorageError.unavailable(database.text(of: error))
            }
        } catch {
            damaged.add(name, "\(error)")
            throw error
        }
    }

    /// The error for a use of a namespace that cannot be opened.
    static func cannotBeOpened(_ name: String, _ error: any Error) -> PlatformError {
        .unavailable(
            """
            the namespace \(name) cannot be opened: \(error); its file is kept: bring a copy of it back, or begin anew with \
            POST /_sim/reset, which renames it
            """)
    }
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
        for name in environment.storageHealth.list.map(\.name) {
            let written = await find(name)?.run(.background, .writes, catchingUp: false) { job in
                try job.transaction.testWriting()
            }
            if case .failure(let error)? = written?.result { return "\(error)" }
            environment.storageHealth.remove(name)
        }
        return nil
    }
}
