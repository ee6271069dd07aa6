import Foundation
import SimulationAPI

/// The baseline of a run's coverage: what it has met must be met again [D coverage].
struct CoverageGate {
    /// The result of a comparison.
    struct Result: Codable {
        /// Whether the file did not exist, and was written.
        let written: Bool
        /// The edges of the baseline that are not met, such as `answers: POST /sdk/login 429`.
        let lost: [String]
        /// The edges of the baseline that this version does not have.
        let unknown: [String]
    }

    private let path: String
    /// `nil` if there is no such file yet.
    private let baseline: Coverage?

    /// - Throws: ``Refusal`` if there is a file that is not one of coverage.
    init(_ path: String) throws {
        self.path = path
        baseline = FileManager.default.fileExists(atPath: path) ? try Coverage.read(path) : nil
    }

    /// Compares the coverage of the run's server, or writes the file where there was none. A run never changes a baseline: what it
    /// does not meet any more would be forgotten.
    ///
    /// - Parameter hasFailed: whether the run has failed. It then writes no baseline: the next one would be compared with less.
    /// - Returns: `nil` if the server cannot be asked, or the file is not written.
    func check(_ client: ControlClient, hasFailed: Bool, _ terminal: Terminal) async -> Result? {
        do {
            let coverage: Coverage = try await client.of("default").get("/_sim/coverage")
            guard let baseline else {
                guard !hasFailed else {
                    terminal.note("coverage: \(path) is not written, because the run failed")
                    return nil
                }
                try coverage.save(to: path, option: "--coverage")
                if !terminal.isJSON { terminal.note("coverage: \(path) is new") }
                return Result(written: true, lost: [], unknown: [])
            }
            let difference = coverage.difference(from: baseline)
            if !terminal.isJSON { difference.show(on: terminal) }
            return Result(
                written: false, lost: difference.lost.map(\.description), unknown: difference.unknown.map(\.description)
            )
        } catch {
            terminal.note("error: the coverage cannot be compared: \(error)")
            return nil
        }
    }
}
