import ArgumentParser
import Console
import Foundation
import SimulationAPI

struct ScenarioFromCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from",
        abstract: "Write a scenario of what a bundle has: clock, rules, items, webhooks, actions, the last requests.",
        discussion: """
            What the run's scenario expected is expected again, and so are its last requests. Lines with CHOOSE need a decision: a \
            request that was refused is expected to succeed, until you say otherwise. What a fault or a limit decided is never expected. \
            Tokens, passwords and secrets are not written. No server is needed.
            """)

    @Argument(help: "The bundle, as \"entrupy-sim bundle\" or a test writes it.")
    var bundle: String
    @Option(
        help: ArgumentHelp(
            "The last request: its id, or sequence:N, its number in the journal. (default: the last one of the journal)",
            valueName: "request"))
    var until: String?
    @Option(name: [.short, .long], help: "The scenario to write, or - for standard output.")
    var output: String
    @Flag(help: "Replace the file if it exists.") var force = false

    /// The number of parts that are left out before the scenario counts as impossible.
    private static let maxAttempts = 50

    func validate() throws {
        guard let until, until.hasPrefix("sequence:") else { return }
        try require(
            Int64(until.dropFirst("sequence:".count)).map { $0 > 0 } ?? false,
            "--until must be a request's id or sequence:N with a number from 1, got \(until)")
    }

    func run() async throws {
        let terminal = Terminal(isJSON: false)
        guard output == "-" || !InputFile.isSame(output, bundle) else {
            throw Refusal(
                .usage, "the scenario would replace the bundle \(bundle)", next: "name another file with --output")
        }
        guard force || output == "-" || !FileManager.default.fileExists(atPath: output) else {
            throw Refusal(.usage, "\(output) exists already", next: "replace it with --force, or name another file")
        }
        let (bundle, until, output) = (bundle, until, output)
        let made = try await OpenedBundle.with(bundle) { opened in
            let file = URL(fileURLWithPath: bundle).lastPathComponent
            let facts = try await BundleFacts(opened, path: bundle, until: until)
            var maker = ScenarioOfBundle(facts, name: ScenarioOfBundle.name(for: bundle, output), file: file) {
                try await opened.server.masked($0)
            }
            var draft = try await maker.made()
            try await Self.check(&draft, opened.client)
            return (text: try draft.text(), expectations: draft["expect"].parts.count, facts: facts)
        }
        let data = Data(made.text.utf8)
        guard output != "-" else { return terminal.document(data) }
        try OutputFile.write(data, to: output, option: "--output")
        let last = made.facts.last
        let request = "\(last.sequence.map { "#\($0) " } ?? "")\(last.method) \(last.path) \(last.answerText)"
        terminal.line("\(output): \(Readable.count(made.expectations, "expectation")), up to \(request)")
        for note in made.facts.gaps { terminal.note("note: \(note)") }
        let choices = made.text.split(separator: "\n").count { $0.contains("# CHOOSE") }
        if choices > 0 { terminal.note("to decide: \(Readable.count(choices, "line")) with CHOOSE") }
        terminal.line(
            "then: entrupy-sim scenario verify \(Shell.operand(output)) \(Shell.option("--bundle", bundle))")
    }

    /// Whether a note is about a request of the run that the platforms do not have. A corrected client does not make it.
    private static func isOfUnknownRoute(_ note: RuleNote, _ draft: ScenarioDraft) -> Bool {
        note.field.wholeMatch(of: #/expect\[\d+\]\.(route|method)/#) != nil && draft.isOfRun(note.field)
    }

    /// Starts the draft in a namespace of its own. Parts that cannot start are left out, and those that `--strict` would refuse get
    /// a comment.
    private static func check(_ draft: inout ScenarioDraft, _ client: ControlClient) async throws {
        for _ in 0..<maxAttempts {
            let call = ControlCall(
                .POST, "/_sim/scenarios/start",
                body: ["scenario": try draft.text(), "namespace": "entrupy-sim-draft", "replace": true], takesLong: true
            )
            do {
                let run: ScenarioRun = try await client.send(call).decoded()
                for note in run.notes where !isOfUnknownRoute(note, draft) {
                    draft.comment(note.field, "--strict refuses this: \(note.problem).")
                }
                // The last one first, so that the places of the others stay.
                for note in run.notes.reversed() where isOfUnknownRoute(note, draft) {
                    draft.removeRequest(note.field, because: note.problem)
                }
                return
            } catch let refusal as Refusal {
                let isSmaller = refusal.details.contains { field, problem in
                    draft.remove(field, because: problem.replacing(#/^line \d+: /#, with: ""))
                }
                guard isSmaller else { throw refusal }
            }
        }
        throw Refusal(.internalError, "the bundle has too many parts that no scenario can have")
    }
}
