import ArgumentParser
import Console
import Exploration
import Foundation
import SimulationAPI

struct SweepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep", abstract: "Run a command once for each call and each fault, and say what broke.",
        discussion: """
            entrupy-sim sweep -- npm test
            entrupy-sim sweep --faults lose_answer,503 --only 'POST /sdk/search' -- pytest -q
            entrupy-sim sweep --kept .entrupy-sim/sweep -- npm test
            entrupy-sim sweep --kept .entrupy-sim/sweep --before 'cd ../main && npm test' --after 'npm test'

            Runs the command three times without a fault, each in a namespace of its own that was made alike, with the environment \
            of "entrupy-sim run". Then once for each call and fault; each fault happens once, at that call. The end of each run is \
            compared with that without a fault: nothing has to be asserted. The command must ask ENTRUPY_SIM_URL alone, and must be \
            able to run several times at once (else --jobs 1).

            recovered and gave up are right. silent (exit 0, another end), doubled (more than without the fault), hung and misuse \
            are bugs: each is run twice more, and kept as a scenario. Webhooks that reach a receiver of the command have faults too, and \
            each switch of the setting future has a run.

            Exits 0 without a bug, 1 with bugs, 2 if it is incomplete (interrupted, out of time, a fault not met, nothing repeats, no \
            request), 3 if the command fails without a fault. With --before and --after 0 says that the mend is proved: each kept bug \
            is seen before, and none after; 1 that one is still there, 2 that one was not seen before.
            """)

    @Option(help: "A scenario in which each run begins: its name, or a YAML file. (default: standard seed data)")
    var scenario: String?
    @Option(
        help:
            "The faults, with commas between: \(SweepFault.allCases.map(\.rawValue).joined(separator: ", ")). (default: all of them)"
    )
    var faults: String?
    @Option(
        parsing: .upToNextOption,
        help:
            "Only these calls and webhooks, such as 'POST /sdk/captures #1' 'webhook session.completed'; without a number, all with the name; 'every call' is the switches of the future. (default: all)"
    )
    var only: [String] = []
    @Flag(help: "After that, try a second fault at each call that the command repeated after the first one.")
    var pairs = false
    @Option(help: "The number of commands that run at the same time, 1 to 64.") var jobs = 4
    @Option(name: .customLong("for"), help: "The longest time for the sweep, such as 10m. (default: no limit)")
    var time: DurationArgument?
    @Option(help: "The folder for kept scenarios.") var out = ".entrupy-sim/sweep"
    @Option(help: "Run the kept scenarios of this folder, and nothing else. (default: a whole sweep)")
    var kept: String?
    @Option(
        help: "A command for sh that has the bugs of --kept, to prove a mend together with --after. (default: none)")
    var before: String?
    @Option(help: "A command for sh in which they are mended. (default: none)") var after: String?
    @OptionGroup var files: ResultFiles
    @Option(help: "A file to write the result to: a page that a browser opens without a server. (default: none)")
    var html: String?
    @Flag(help: "Print the result as JSON.") var json = false
    @Flag(help: "Show no progress. It is shown only on a terminal.") var quiet = false
    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.") var command: [String] = []

    func validate() throws {
        try validateProof()
        try require(
            !command.isEmpty || before != nil,
            "the command is missing; put it after --, for instance: entrupy-sim sweep -- npm test")
        try require((1...64).contains(jobs), "--jobs must be 1 to 64, got \(jobs)")
        try time?.check("--for", to: "7d")
        try require(out != "" && kept != "", "--out and --kept must be folders")
        try require(
            files.junit != "" && files.summary != "" && html != "", "--junit, --summary and --html must be files")
        try require(
            kept == nil || faults == nil && only.isEmpty && !pairs,
            "--kept runs what was kept: leave out --faults, --only and --pairs")
        _ = try chosenFaults()
    }

    private func validateProof() throws {
        guard before != nil || after != nil else { return }
        try require(before != nil && after != nil, "--before and --after belong together: a proof needs both commands")
        try require(
            html == nil, "--html shows a sweep, and --before and --after make a receipt: leave out one of the two")
        try require(before != "" && after != "", "--before and --after must be commands for sh")
        try require(
            command.isEmpty, "--before and --after are the commands of a proof: leave out -- and what follows")
        try require(
            kept != nil,
            "--before and --after run kept scenarios: name their folder, for instance --kept .entrupy-sim/sweep")
    }

    /// The faults of `--faults`, in their order.
    func chosenFaults() throws -> [SweepFault] {
        guard let faults else { return SweepFault.allCases }
        let names = faults.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let known = SweepFault.allCases.map(\.rawValue)
        for name in names where !known.contains(name) {
            let near = NearestName.nearest(to: name, among: known).map { "; did you mean \($0)? There" } ?? "; there"
            throw ValidationError(
                "--faults: there is no fault \"\(name)\"\(near) are \(known.joined(separator: ", "))")
        }
        return SweepFault.allCases.filter { names.contains($0.rawValue) }
    }

    func run() async throws {
        ChildProcess.noteInheritedDescriptors()
        let paths = [(files.junit, "--junit"), (files.summary, "--summary"), (html, "--html")]
        for case (let path?, let option) in paths {
            try OutputFile.prepare(path, option: option)
        }
        if kept == nil { try OutputFile.prepare("\(out)/.probe", option: "--out") }
        let session = SweepSession(
            options: self, scenario: try scenario.map { try ScenarioCommand.Start.parse(["--", $0]) },
            kept: try kept.map { try KeptFolder(path: $0).cells(hasScenario: scenario != nil) },
            terminal: Terminal(isJSON: json, isQuiet: quiet))
        throw ExitCode(try await session.run())
    }

    /// The command as it was written.
    var commandLine: String { command.map { Shell.quoted($0) }.joined(separator: " ") }
}

extension SweepResult {
    /// Writes the bugs into the folder, and notes their files.
    mutating func keep(in folder: KeptFolder, base: String?) throws {
        for index in bugs.indices {
            let scenario = try KeptScenario(bugs[index], bugs[index].outcome.detail.cell.setup, base: base)
            bugs[index].scenario = try folder.write(scenario)
        }
    }
}
