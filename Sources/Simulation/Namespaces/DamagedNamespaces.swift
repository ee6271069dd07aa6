import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// The namespaces whose files cannot be opened. Their files stay as they are, and the other namespaces work.
///
/// A file is tried again at each use, so one that was repaired or brought back opens without a restart.
package final class DamagedNamespaces: Sendable {
    private struct State {
        var problems: [String: String] = [:]
        var report: (@Sendable (DamagedFile) -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Sets what is called when a namespace is found damaged, and calls it for those that are.
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

    /// All damaged namespaces, sorted by name.
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
