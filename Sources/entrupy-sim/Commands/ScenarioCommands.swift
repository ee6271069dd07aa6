import ArgumentParser
import Console
import Foundation
import SimulationAPI

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "List, show, start and verify scenarios: edge cases in YAML files.",
        subcommands: [List.command, Show.command, Start.command, Verify.command, ScenarioFromCommand.self])

    static func text(_ file: String) throws -> String {
        guard let text = String(validating: try InputFile.bytes(file), as: UTF8.self) else {
            throw Refusal(.usage, "\(file) is not UTF-8", next: "save it as UTF-8; nothing was changed")
        }
        guard !text.isEmpty else {
            throw Refusal(
                .usage, "\(file) is empty", next: "docs/scenarios.md says how a scenario begins; nothing was changed")
        }
        return text
    }

    private static func isFile(_ given: String) -> Bool {
        given.hasPrefix(".") || given.hasSuffix(".yaml") || given.hasSuffix(".yml") || given.hasSuffix(".json")
            || given.contains("/")
    }

    /// The name of the scenario that was started in the namespace from the text of a file.
    ///
    /// - Throws: ``Refusal`` if none was started, or one with another text: its expectations are not those of the file.
    private static func startedName(
        _ file: String, _ client: ControlClient, _ terminal: Terminal
    ) async throws -> String {
        let wanted = try text(file)
        let start = terminal.command("scenario start \(Shell.operand(file))")
        guard let started = try await client.startedScenario() else {
            throw Refusal(.no, "no scenario was started in this namespace", next: "start it: \(start)")
        }
        let details: ScenarioDetails = try await client.get("/_sim/scenarios/\(started)")
        guard (details.started_text ?? details.text) == wanted else {
            throw Refusal(
                .no, "this namespace was started from \"\(started)\" with another text than that of \(file)",
                next: "start it from the file (\(start)), or verify it by its name")
        }
        return started
    }

    /// Writes each problem of the refusal in the format of compilers: `file:line: path: problem`.
    static func locate(_ refusal: inout Refusal, in file: String) {
        guard !refusal.details.isEmpty else { return }
        refusal = Refusal(
            .usage, refusal.details.map { located($0, $1, in: file) }.joined(separator: "\n"),
            next: "correct \(file) there; nothing was changed", answer: refusal.answer)
    }

    private static func located(_ given: String, _ problem: String, in file: String) -> String {
        // A problem with the whole body is a problem with the whole file.
        let field = ["", "body"].contains(given) ? "" : "\(given): "
        let parts = problem.split(separator: ": ", maxSplits: 1)
        guard parts.count == 2, problem.hasPrefix("line ") else { return "\(file): \(field)\(problem)" }
        let line = parts[0].dropFirst("line ".count).replacing(", column ", with: ":")
        return "\(file):\(line): \(field)\(parts[1])"
    }

    struct List: Endpoint {
        static let abstract = "List the scenarios that a namespace can start."
        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/scenarios").listing(
                \ScenarioList.scenarios, empty: "no scenarios", ["NAME", "FROM", "ACTIONS", "EXPECTS", "DESCRIPTION"]
            ) {
                let start = $0.description.split(separator: "\n").first?.prefix(80) ?? ""
                return [$0.name, $0.source, "\($0.actions)", "\($0.expectations)", String(start)]
            }
        }
    }

    struct Show: Endpoint {
        static let abstract = "Print a scenario's YAML, to read it or to change a copy."
        @Argument(help: "The scenario's name, as \"scenario list\" shows it.") var scenario: String

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/scenarios/\(scenario)").printing { (details: ScenarioDetails, terminal) in
                terminal.document(Data(details.text.utf8))
            }
        }
    }

    struct Start: Endpoint {
        static let abstract = "Replace a namespace's contents with a scenario, and print the URL for clients."
        static let discussion = """
            The namespace's old contents are deleted. With --new, a new namespace is made instead; if it exists, --replace is \
            needed. A file is stored in the namespace that it starts in, and in no other. A part of the scenario that nothing can \
            match, such as a misspelt route or brand, is printed as a note. With --strict such a part prevents the start.
            """
        @Argument(help: "The scenario's name, or a YAML file.") var scenario: String
        @Option(name: .customLong("new"), help: "Make a new namespace with this name. (default: start in --namespace)")
        var newNamespace: String?
        @Flag(help: "With --new: replace that namespace if it exists.") var replace = false
        @Option(
            help:
                "With --new: delete the namespace after this time without a request, for instance 30m. (default: never)"
        )
        var ttl: DurationArgument?
        @Flag(help: "Do not start a scenario with parts that nothing can match.") var strict = false
        @Flag(name: .customLong("run"), help: "Advance the clock through the timeline at once.") var runs = false

        func call() throws -> ControlCall {
            let text = isFile(scenario) ? try text(scenario) : nil
            let body: ControlCall.Body = [
                "run": runs, "replace": replace, "scenario": text, "namespace": newNamespace, "ttl": ttl,
            ]
            return ControlCall(
                .POST, text != nil ? "/_sim/scenarios/start" : "/_sim/scenarios/\(scenario)/start",
                [("strict", strict ? "true" : nil)], body: body, takesLong: true
            ).printing(ScenarioRun.self)
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var client = client
            // The namespace that is made does not exist yet, so another one takes the request.
            if newNamespace == client.options.named { client = client.of("default") }
            let old =
                newNamespace == nil || replace
                ? await Self.contents(client.of(newNamespace ?? client.options.named)) : nil
            let run: ScenarioRun = try await answer(client, terminal).decoded()
            if let old { terminal.note("note: replaced \(old)") }
            guard let failed = run.timeline.first(where: { $0.state == "failed" }) else { return }
            if !terminal.isJSON { terminal.note("\(failed.action) failed: \(failed.problem ?? "")") }
            throw ExitCode(Refusal.Code.no.rawValue)
        }

        /// The items and subscriptions of a namespace, in words; `nil` if it has none.
        private static func contents(_ client: ControlClient) async -> String? {
            // The namespace may be new, and what is wrong otherwise the start says.
            let info: ServerInfo? = try? await client.get("/_sim/info")
            // As above.
            let list: SubscriptionInfoList? = try? await client.get("/_sim/webhooks")
            let counts = [
                (info?.namespace.counts.authentications ?? 0, "item"), (list?.webhooks.count ?? 0, "subscription"),
            ]
            let texts = counts.filter { $0.0 > 0 }.map { Readable.count($0.0, $0.1) }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        }

        func explain(_ refusal: inout Refusal, _ terminal: Terminal) {
            if let newNamespace, refusal.details.contains(where: { $0.field == "namespace" }), refusal.code == .no {
                refusal = Refusal(
                    .no, "the namespace \"\(newNamespace)\" exists already",
                    next: "replace it with --replace, or name another with --new", answer: refusal.answer)
            } else if isFile(scenario), refusal.code == .usage, refusal.message.hasPrefix("the scenario is wrong") {
                locate(&refusal, in: scenario)
            } else if strict, refusal.details.contains(where: { $0.field.contains("[") }) {
                refusal.next = "correct the scenario, or start it without --strict; it was not started"
            }
        }
    }

    struct Verify: ControlAction {
        static let abstract = "Check what a scenario expects. Exits 1 if something differs."
        static let discussion = """
            With --bundle, the expectations of a file about requests are checked against the journal of a bundle, which need not \
            come from that scenario. No server is needed.
            """
        @Argument(help: "The scenario that was started in the namespace: its name, or its file.") var scenario: String
        @Option(
            help:
                "A bundle whose journal is checked, instead of a namespace of the server. (default: the namespace is checked)"
        ) var bundle: String?
        @Option(help: "A file to write the result to as JUnit XML, for CI servers.") var junit: String?
        @Flag(
            help:
                "Fail on notes too: parts that nothing can match, and faults with a number of times that were never met."
        )
        var strict = false

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let (moment, start) = (Date(), ContinuousClock.now)
            var (run, bytes, others): (ScenarioRun, Data, Int)
            if let bundle {
                (run, others) = try await BundleVerification.run(scenario, bundle, isStrict: strict)
                bytes = try WireJSON.encode(run)
            } else {
                let name = isFile(scenario) ? try await startedName(scenario, client, terminal) : scenario
                (run, bytes) = try await client.verify(name, isStrict: strict)
                others = 0
            }
            if strict, run.expectations.isEmpty {
                run.notes.append(RuleNote("expect", Self.nothing, may_change: false))
                run.verified = false
                bytes = try WireJSON.encode(run)
            }
            if let junit {
                let report = JUnitReport(run, isStrict: strict, at: moment, took: ContinuousClock.now - start)
                try OutputFile.write(Data(report.xml.utf8), to: junit, option: "--junit")
            }
            if terminal.isJSON { terminal.json(bytes) } else { show(run, others, terminal) }
            if others > 0 {
                terminal.note(
                    "\(Readable.count(others, "expectation")) about other things than requests: not checked against a bundle"
                )
            } else if run.expectations.isEmpty, !strict {
                terminal.note("note: \(Self.nothing)")
            }
            guard run.verified else { throw ExitCode(Refusal.Code.no.rawValue) }
        }

        private static let nothing = "no expectation was checked: the scenario has no \"expect:\""

        /// - Parameter others: the number of expectations that were not checked.
        private func show(_ run: ScenarioRun, _ others: Int, _ terminal: Terminal) {
            let actions = run.timeline.map { action in
                (action.state == "done", "\(action.action) \(action.state)", run.obstacle(to: action) ?? "")
            }
            let checks = run.expectations.map { ($0.passed, $0.expectation, $0.problem ?? "found \($0.found)") }
            let notes = strict ? run.notes.map { (false, $0.field, $0.problem) } : []
            let all = actions + checks + notes
            let rows = all.flatMap { isGood, expected, found -> [[Terminal.Piece]] in
                // The requests that came near have lines of their own.
                let lines = found.split(separator: "\n").map { Terminal.Piece(String($0)) }
                let mark = isGood ? Terminal.Piece("ok", .green) : Terminal.Piece("FAILED", .red)
                return [[mark, .init(expected), lines.first ?? ""]] + lines.dropFirst().map { ["", "", $0] }
            }
            terminal.table(["", "EXPECTED", "FOUND"], rows, empty: "the scenario expects nothing")
            if !strict { for note in run.notes { terminal.note("note: \(note.field): \(note.problem)") } }
            let failed = all.count { !$0.0 }
            let unchecked = others > 0 ? ", \(Readable.count(others, "expectation")) not checked" : ""
            let verified = others > 0 ? ": \(all.count) verified" : all.isEmpty ? ": nothing was checked" : " verified"
            terminal.line(
                run.name + (run.verified ? verified : ": \(failed) of \(all.count) failed") + unchecked)
            if run.timeline.contains(where: { $0.state == "waiting" }) {
                terminal.note("the timeline is not over: \(terminal.command("clock advance --to next"))")
            }
        }
    }
}

extension ScenarioRun: Printable {
    func show(on terminal: Terminal) {
        terminal.line("\(name) started in \(namespace), at \(clock.now)")
        terminal.line("point the client at \(url)")
        for action in timeline {
            terminal.line(
                "  after \(DurationText.text(seconds: action.at - started_at))  \(action.action)  \(action.state)")
        }
        for note in notes { terminal.note("note: \(note.field): \(note.problem)") }
        // With --new the scenario is in another namespace than the one that was asked.
        let isNamed = namespace == "default" || terminal.place.contains(" " + Shell.option("-n", namespace))
        let place = isNamed ? "" : " " + Shell.option("-n", namespace)
        terminal.line("then: \(terminal.command("scenario verify \(Shell.quoted(name))\(place)"))")
    }
}

extension ControlClient {
    /// Verifies the scenario that was started in the namespace.
    ///
    /// - Returns: the state of the scenario, verified or not, and its JSON.
    func verify(_ scenario: String, isStrict: Bool) async throws -> (run: ScenarioRun, bytes: Data) {
        let call = ControlCall(
            .POST, "/_sim/scenarios/\(scenario)/verify", [("strict", isStrict ? "true" : nil)], takesLong: true)
        do {
            let answer = try await send(call)
            return (try answer.decoded(), answer.bytes)
        } catch let refusal as Refusal {
            guard let bytes = refusal.answer, let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: bytes),
                let run = envelope.scenario
            else { throw refusal }
            return (run, try WireJSON.encode(run))
        }
    }
}
