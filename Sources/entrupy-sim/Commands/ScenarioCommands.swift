import ArgumentParser
import Console
import Foundation
import SimulationAPI

/// `entrupy-sim scenario`.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "List, start and verify scenarios: edge cases in YAML files.",
        subcommands: [List.self, Start.self, Verify.self])

    private static func path(_ name: String) -> String { "/_sim/scenarios/\(ControlClient.escaped(name))" }

    /// The text of a scenario's file.
    private static func text(_ file: String) throws -> String {
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
        given.hasSuffix(".yaml") || given.hasSuffix(".yml") || given.hasSuffix(".json") || given.contains("/")
    }

    /// The name of the scenario that was started in the namespace from the text of a file.
    ///
    /// - Throws: ``Refusal`` if none was started, or one with another text: its expectations are not those of the file.
    private static func name(ofStarted file: String, _ client: ControlClient) async throws -> String {
        let wanted = try text(file)
        let start = "entrupy-sim scenario start \(Shell.operand(file))"
        guard let started = try await client.startedScenario() else {
            throw Refusal(.no, "no scenario was started in this namespace", next: "start it: \(start)")
        }
        let details = try await client.send("GET", path(started)).decoded(ScenarioDetails.self)
        guard (details.started_text ?? details.text) == wanted else {
            throw Refusal(
                .no, "this namespace was started from \"\(started)\" with another text than that of \(file)",
                next: "start it from the file (\(start)), or verify it by its name")
        }
        return started
    }

    /// The refusal in the format of compilers: `file:line: path: problem`.
    private static func located(_ refusal: inout Refusal, in file: String) -> Refusal {
        if let (given, problem) = refusal.details.first {
            // A problem with the whole body is a problem with the whole file.
            let field = given == "body" ? "" : given
            let parts = problem.split(separator: ": ", maxSplits: 1)
            let isPlaced = parts.count == 2 && problem.hasPrefix("line ")
            let place = isPlaced ? "\(file):\(parts[0].dropFirst("line ".count))" : file
            let text = isPlaced ? String(parts[1]) : problem
            refusal = Refusal(
                .usage, "\(place): \(field.isEmpty ? "" : "\(field): ")\(text)",
                next: "correct \(file) there; nothing was changed",
                answer: refusal.answer)
        }
        return refusal
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the scenarios that a namespace can start.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/scenarios")
            try terminal.show(answer) {
                let rows = try answer.decoded(ScenarioList.self).scenarios.map { info in
                    [
                        info.name, info.source, "\(info.actions)", "\(info.expectations)",
                        String(info.description.split(separator: "\n").first?.prefix(80) ?? ""),
                    ]
                }
                terminal.table(["NAME", "FROM", "ACTIONS", "EXPECTS", "DESCRIPTION"], rows, empty: "no scenarios")
            }
        }
    }

    struct Start: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Replace a namespace's contents with a scenario, and print the URL for clients.",
            discussion: """
                The namespace's old contents are deleted. With --new, a new namespace is made instead; if it exists, --replace is \
                needed. A file is stored in the namespace that it starts in, and in no other. A part of the scenario that nothing can \
                match, such as a misspelt route or brand, is printed as a note. With --strict such a part prevents the start.
                """)

        @OptionGroup var control: ControlOptions

        @Argument(help: "The scenario's name, or a YAML file.")
        var scenario: String

        @Option(name: .customLong("new"), help: "Make a new namespace with this name.")
        var newNamespace: String?

        @Flag(help: "With --new: replace that namespace if it exists.")
        var replace = false

        @Option(help: "With --new: delete the namespace after this time without a request, for instance 30m.")
        var ttl: String?

        @Flag(help: "Do not start a scenario with parts that nothing can match.")
        var strict = false

        @Flag(name: .customLong("run"), help: "Advance the clock through the timeline at once.")
        var runs = false

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await start(client)
            try terminal.show(answer) {
                let run = try answer.decoded(ScenarioRun.self)
                terminal.line("\(run.name) started in \(run.namespace), at \(run.clock.now)")
                terminal.line("point the client at \(run.url)")
                for action in run.timeline {
                    let delay = Int(action.at - run.started_at)
                    terminal.line("  after \(delay) s  \(action.action)  \(action.state)")
                }
                for note in run.notes { terminal.note("note: \(note.field): \(note.problem)\n") }
                let place = run.namespace == "default" ? "" : " " + Shell.option("--namespace", run.namespace)
                terminal.line("then: entrupy-sim scenario verify \(Shell.quoted(run.name))\(place)")
            }
            let run = try answer.decoded(ScenarioRun.self)
            if let failed = run.timeline.first(where: { $0.state == "failed" }) {
                if !terminal.isJSON { terminal.note("\(failed.action) failed: \(failed.problem ?? "")\n") }
                throw ExitCode(Refusal.Code.no.rawValue)
            }
        }

        private func start(_ client: ControlClient) async throws -> ControlClient.Answer {
            let isFile = ScenarioCommand.isFile(scenario)
            var body: JSONObject = ["run": .bool(runs), "replace": .bool(replace)]
            if isFile { body["scenario"] = .string(try ScenarioCommand.text(scenario)) }
            body["namespace"] = newNamespace.map { .string($0) }
            body["ttl"] = ttl.map { .string($0) }
            do {
                return try await client.send(
                    "POST", isFile ? "/_sim/scenarios/start" : path(scenario) + "/start",
                    query: [("strict", strict ? "true" : nil)], .object(body),
                    takesLong: true)
            } catch var refusal as Refusal {
                if let newNamespace, refusal.details.contains(where: { $0.field == "namespace" }), refusal.code == .no {
                    refusal = Refusal(
                        .no, "the namespace \"\(newNamespace)\" exists already",
                        next:
                            "replace it with --replace, or name another with --new",
                        answer: refusal.answer)
                } else if isFile, refusal.code == .usage, refusal.message.hasPrefix("the scenario is wrong") {
                    refusal = located(&refusal, in: scenario)
                } else if strict, refusal.details.contains(where: { $0.field.contains("[") }) {
                    refusal.next = "correct the scenario, or start it without --strict; it was not started"
                }
                throw refusal
            }
        }
    }

    struct Verify: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check what a scenario expects. Exits 1 if something differs.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The scenario that was started in the namespace: its name, or its file.")
        var scenario: String

        @Option(help: "A file to write the result to as JUnit XML, for CI servers.")
        var junit: String?

        @Flag(
            help:
                "Fail on notes too: parts that nothing can match, and faults with a number of times that were never met."
        )
        var strict = false

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let (moment, start) = (Date(), ContinuousClock.now)
            let (run, bytes) = try await verify(client)
            if let junit {
                try write(JUnitReport(run, isStrict: strict, at: moment, took: ContinuousClock.now - start), junit)
            }
            if terminal.isJSON { terminal.json(bytes) } else { show(run, terminal) }
            guard run.verified else { throw ExitCode(Refusal.Code.no.rawValue) }
        }

        /// The state of the scenario, verified or not, and the JSON to print.
        private func verify(_ client: ControlClient) async throws -> (ScenarioRun, Data) {
            do {
                let name = isFile(scenario) ? try await name(ofStarted: scenario, client) : scenario
                let answer = try await client.send(
                    "POST", path(name) + "/verify", query: [("strict", strict ? "true" : nil)],
                    takesLong: true)
                return (try answer.decoded(ScenarioRun.self), answer.bytes)
            } catch let refusal as Refusal {
                guard let bytes = refusal.answer, let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: bytes),
                    let run = envelope.scenario
                else { throw refusal }
                return (run, try WireJSON.encode(run))
            }
        }

        private func show(_ run: ScenarioRun, _ terminal: Terminal) {
            let actions = run.timeline.map { action in
                (action.state == "done", "\(action.action) \(action.state)", action.problem ?? "")
            }
            let checks = run.expectations.map { ($0.passed, $0.expectation, $0.problem ?? "found \($0.found)") }
            let notes = strict ? run.notes.map { (false, $0.field, $0.problem) } : []
            let all = actions + checks + notes
            let rows = all.map { isGood, expected, found -> [Terminal.Piece] in
                [isGood ? .init("ok", .green) : .init("FAILED", .red), .init(expected), .init(found)]
            }
            terminal.table(["", "EXPECTED", "FOUND"], rows, empty: "the scenario expects nothing")
            if !strict { for note in run.notes { terminal.note("note: \(note.field): \(note.problem)\n") } }
            let failed = all.count { !$0.0 }
            terminal.line(
                run.verified ? "\(run.name) verified" : "\(run.name): \(failed) of \(all.count) failed")
            if run.timeline.contains(where: { $0.state == "waiting" }) {
                terminal.note("the timeline is not over: entrupy-sim clock advance --to next\n")
            }
        }

        private func write(_ report: JUnitReport, _ path: String) throws {
            do {
                try Data(report.xml.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch {
                throw Refusal(
                    .usage, "\(path) cannot be written: \(error.localizedDescription)",
                    next: "name another place with --junit")
            }
        }
    }
}
