import Exploration
import Foundation
import NIOConcurrencyHelpers

/// The command of a sweep, as it runs side by side with others: without a terminal and standard input. Its process group ends with it.
struct SweptCommand: SweptClient {
    let words: [ChildProcess.RawText]
    let server: OwnServer
    let token: String?
    /// The signals that this program ignores and the command does not.
    let resetting: [Int32]
    /// The file for the output of the runs without a fault; others print nowhere.
    let output: OutputOfRuns

    /// The time between SIGTERM and SIGKILL.
    private static let grace = Duration.seconds(1)

    func run(in namespace: String, fault: String?, limit: Double?) async throws -> ClientEnding {
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nowhere >= 0 else { throw Refusal(.internalError, "/dev/null cannot be opened") }
        defer { close(nowhere) }
        let sink = fault == nil ? output.descriptor : nowhere
        let start = ContinuousClock.now
        let child = try ChildProcess(
            words, environment: server.environment(namespace, token, ["ENTRUPY_SIM_SWEEP": fault]),
            files: [(nowhere, 0), (sink, 1), (sink, 2)], resetting: resetting)
        let isLate = NIOLockedValueBox(false)
        let clock = limit.map { limit in
            Task {
                try await Task.sleep(for: .seconds(limit))
                isLate.withLockedValue { $0 = true }
                child.signal(SIGTERM)
                // A stopped process gets the signal when it goes on.
                child.signal(SIGCONT)
                try await Task.sleep(for: Self.grace)
                child.signal(SIGKILL)
            }
        }
        var ending: ChildProcess.Ending?
        for await change in child.changes { if case .ended(let code) = change { ending = code } }
        clock?.cancel()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        child.signal(SIGKILL)
        // Daemons have left the group. Those of this run alone have its address in their environment.
        if let left = await Leftovers.find(ofGroup: child.id, mark: "ENTRUPY_SIM_URL=\(server.url)/ns/\(namespace)") {
            for process in left.processes { kill(process.id, SIGKILL) }
        }
        // The stream of a cancelled task ends before the command.
        guard let ending else { throw CancellationError() }
        return ClientEnding(code: ending.code, isLate: isLate.withLockedValue(\.self), seconds: seconds)
    }
}
