import Exploration
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

extension SweepSession {
    /// Runs the kept scenarios with the commands of `--before` and `--after`.
    ///
    /// - Parameter server: that of the first command. The second one gets another, so that neither sees what the other left.
    /// - Returns: the exit code.
    func prove(
        before: String, after: String, with server: OwnServer, _ resetting: [Int32], _ end: NIOLockedValueBox<End?>
    ) async throws -> Int32 {
        let cells = kept ?? []
        let other = try await OwnServer.start(recording: nil)
        var made: [[RepeatedRuns]] = []
        for (script, option, server) in [(before, "--before", server), (after, "--after", other)] {
            do {
                made.append(try await runs(of: script, option, cells, with: server, resetting))
            } catch {
                await other.stop()
                guard let problem = error as? SweepProblem else { throw error }
                return tell(problem, "the command of \(option)")
            }
        }
        await other.stop()
        let entries = cells.indices.map { SweepProof.Entry(cells[$0], before: made[0][$0], after: made[1][$0]) }
        let proof = SweepProof(before: before, after: after, kept: entries)
        if terminal.isJSON { try terminal.json(of: proof) } else { proof.show(on: terminal) }
        let isWritten = telling { try options.files.write(JUnitReport(proof), proof.markdown) }
        if let end = end.withLockedValue({ $0 }) { terminal.note("error: \(end.text)") }
        if proof.hasBug { return Refusal.Code.no.rawValue }
        return proof.isProved && isWritten ? 0 : Refusal.Code.incomplete.rawValue
    }

    /// The runs of each cell with one command. All are missing if the sweep ended before the runs without a fault were over.
    private func runs(
        of script: String, _ option: String, _ cells: [SweepCell], with server: OwnServer, _ resetting: [Int32]
    ) async throws -> [RepeatedRuns] {
        terminal.note("\(option) \(script)")
        do {
            let words = ["sh", "-c", script].map { ChildProcess.RawText($0.utf8CString) }
            let (sweep, baseline) = try await begin(words, with: server, resetting)
            let all = Sweep.runsOfProof * cells.count
            announce(cells.flatMap { Array(repeating: $0, count: Sweep.runsOfProof) }, baseline)
            return await showing(all, "running \(option)") {
                await sweep.repeated(cells, baseline, jobs: options.jobs, done: $0)
            }
        } catch  where Task.isCancelled {
            return cells.map { _ in RepeatedRuns([]) }
        }
    }
}

/// A proof for people: a line for each kept bug, with its verdict before and after.
extension SweepProof {
    private static let headings = ["KEPT", "BEFORE", "AFTER", "RESULT"]

    private var rows: [[String]] {
        kept.map {
            [
                "\($0.call) \($0.fault)", "\($0.before.verdict.rawValue) (\($0.before.seen))",
                "\($0.after.verdict.rawValue) (\($0.after.seen))", $0.result.rawValue,
            ]
        }
    }

    /// The bugs and reasons of both commands, a line each.
    private var sentences: [String] {
        kept.flatMap { entry in
            [("before", entry.before), ("after", entry.after)].compactMap { name, runs in
                runs.sentence.map { "\(name): \($0)" }
            }
        }
    }

    /// Counts of the results, as `2 kept: 1 mended, 1 still there`.
    private var counts: String { "\(kept.count) kept: \(Readable.counts(kept.map(\.result)))" }

    func show(on terminal: Terminal) {
        terminal.table(Self.headings, rows, empty: "nothing kept")
        terminal.line("")
        for sentence in sentences { terminal.line(sentence) }
        if !sentences.isEmpty { terminal.line("") }
        terminal.line(counts)
    }

    /// For the summary of a job.
    var markdown: String {
        func row(_ cells: [String]) -> String { "| \(cells.map { Markdown.escaped($0) }.joined(separator: " | ")) |" }
        var lines = ["## entrupy-sim sweep: before and after", ""]
        lines += ["- before: \(Markdown.escaped(before))", "- after: \(Markdown.escaped(after))", ""]
        lines += [row(Self.headings), "|" + Self.headings.map { _ in " --- |" }.joined()] + rows.map(row)
        lines += [""] + sentences.map { "- \(Markdown.escaped($0))" }
        return lines.joined(separator: "\n") + "\n\n\(Markdown.escaped(counts))\n\n"
    }
}
