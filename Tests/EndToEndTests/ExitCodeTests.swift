import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Messages and exit codes of the program without a server.
@Suite struct ExitCodeTests {
    @Test func withoutACommandItPrintsHelp() async throws {
        let bare = try await SimProcess.run([], environment: ["ENTRUPY_SIM_PORT": "1"])
        #expect(bare.status == 0 && bare.output.contains("USAGE: entrupy-sim") && bare.output.contains("serve"))
        let flags = try await SimProcess.run(["--in-memory"])
        #expect(flags.status == 64 && flags.output.contains("entrupy-sim serve"), "\(flags.output)")
    }

    @Test(arguments: [
        ("ENTRUPY_SIM_PROT", "ENTRUPY_SIM_PORT"), ("ENTRUPY_SIM_DATADIR", "ENTRUPY_SIM_DATA_DIR"),
        ("ENTRUPY_SIM_NAMESPACES", "ENTRUPY_SIM_NAMESPACE"), ("ENTRUPY_SIM_CONTROL_TOKN", "ENTRUPY_SIM_CONTROL_TOKEN"),
        ("ENTRUPY_SIM_READY-JSON", "ENTRUPY_SIM_READY_JSON"), ("ENTRUPY_SIM_UR", "ENTRUPY_SIM_URL"),
    ])
    func aMisspeltVariableIsRefusedWithASuggestion(name: String, near: String) async throws {
        for command in [["clock", "show"], ["replay", "none"], ["serve", "--in-memory", "--port", "0"]] {
            let run = try await SimProcess.run(command, environment: [name: "x"])
            try #require(
                run.status == 64 && run.output.hasPrefix("error: ") && run.output.contains(name), "\(run.output)")
            #expect(run.output.contains("did you mean \(near)?"), "\(run.output)")
        }
        #expect(try await SimProcess.run(["--help"], environment: [name: "x"]).status == 0)
        #expect(try await SimProcess.run(["fidelity"], environment: [name: ""]).status == 0, "an empty one is absent")
    }

    @Test func knownAndUnrelatedVariablesAreAccepted() async throws {
        let environment = [
            "ENTRUPY_SIM_BINARY": "x", "ENTRUPY_SIM_URL": "x", "ENTRUPY_SIM_NAMESPACE": "x", "ENTRUPY_SIM_PORT": "1",
            "ENTRUPY_SIM_CONTROL_TOKEN": "x", "ENTRUPY_SIM_MY_OWN_THING": "x", "ENTRUPY_PROT": "x",
        ]
        #expect(try await SimProcess.run(["fidelity"], environment: environment).status == 0)
    }

    @Test func everyCommandExits64IfItsFileDoesNotExist() async throws {
        for command in [
            ["serve", "--in-memory", "--port", "0", "--seed", "/nowhere"],
            ["serve", "--in-memory", "--port", "0", "--bundle", "/nowhere"], ["replay", "/nowhere"],
            ["seed", "load", "/nowhere"], ["snapshot", "import", "x", "/nowhere"],
            ["scenario", "start", "/nowhere.yaml"],
        ] {
            let run = try await SimProcess.run(command, environment: ["ENTRUPY_SIM_URL": SimProcess.shared.baseURL])
            #expect(run.status == 64, "\(command): \(run.output)")
            #expect(run.output.hasPrefix("error: ") && run.output.contains("/nowhere"), "\(command): \(run.output)")
        }
    }

    @Test(arguments: [
        ["serve", "--port", "70000"], ["serve", "--prot", "1"], ["serve", "--port", "x"], ["clock", "advance"],
        ["clock", "advance", "1h", "--too"], ["replay"], ["replay", "a", "b"], ["nonsense"], ["namespace", "nonsense"],
        ["serve", "--random-seed", "-1"], ["settle", "--timeout", "0"],
    ])
    func usageErrorsHaveOneForm(arguments: [String]) async throws {
        let run = try await SimProcess.run(arguments)
        #expect(run.status == 64, "\(run.output)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("error: ") == true && lines.count > 1, "\(run.output)")
        #expect(lines.dropFirst().someAndAll { $0.hasPrefix("  ") }, "\(run.output)")
        #expect(lines.first.map { !$0.dropFirst(7).prefix(1).contains { $0.isUppercase } } == true, "\(run.output)")
    }

    @Test func aServerThatCannotStartIs1() async throws {
        let port = SimProcess.shared.baseURL.split(separator: ":").last!
        let run = try await SimProcess.run(["serve", "--in-memory", "--port", String(port)])
        #expect(
            run.status == 1 && run.output.hasPrefix("error: port \(port) is in use\n  entrupy-sim "), "\(run.output)")
    }

    /// An address of the documentation's network, which no machine has (RFC 5737).
    @Test func aHostOfAnotherMachineIs64() async throws {
        let run = try await SimProcess.run(["serve", "--in-memory", "--host", "203.0.113.9", "--port", "0"])
        #expect(run.status == 64 && run.output.contains("error: --host is not an address of this machine\n  127.0.0.1"))
    }

    #if os(Linux)
        private static let canLeaveRoot = DataDirectoryLinkTests.canBecomeNobody
    #else
        private static let canLeaveRoot = false
    #endif

    @Test(.enabled(if: canLeaveRoot, "needs root and setpriv, to start the server as another user"))
    func aPortThatNeedsRootIs1() async throws {
        let run = try await SimProcess.run(
            ["--reuid", "65534", "--clear-groups", SimProcess.path, "serve", "--in-memory", "--port", "1"],
            program: "/usr/bin/setpriv")
        #expect(run.status == 1 && run.output.contains("error: port 1 needs the rights of root\n  pick a port"))
    }
}
