import Console
import Exploration
import SimulationAPI

extension SweepReport {
    /// The result as a page that opens without a server.
    ///
    /// - Parameter command: the command line, quoted for a shell.
    func page(_ command: String) throws -> String {
        let runs = result.cells.map { cell in
            let verdict = cell.verdict
            var run = SweepPage.Run(
                call: cell.call, fault: cell.fault, mark: verdict.legend.mark, verdict: verdict.rawValue,
                style: verdict.isBug ? .bad : verdict.isPass ? .good : .warn, seconds: cell.seconds)
            run.exit = cell.exit
            run.place = (cell.detail.cell.kind?.place ?? .call).rawValue
            (run.requests, run.difference) = (cell.detail.requests, cell.difference)
            if verdict.isBug || !verdict.isPass { run.sentence = cell.detail.sentence }
            if verdict.isBug, let bug = result.bugs.first(where: { $0.call == cell.call && $0.fault == cell.fault }) {
                (run.seen, run.scenario) = (bug.seen, bug.scenario)
            }
            return run
        }
        return try SweepPage.file(
            command: command, legend: shownLegend, counts: counts, runs,
            leftOut: result.left_out, version: Release.version)
    }
}
