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

    @Test func aMisspeltVariableIsRefusedUnlessHelpIsAskedFor() async throws {
        let environment = ["ENTRUPY_SIM_PROT": "x"]
        for command in [["clock", "show"], ["replay", "none"], ["serve", "--in-memory", "--port", "0"]] {
            let run = try await SimProcess.run(command, environment: environment)
            #expect(run.status == 64 && run.output.contains("did you mean ENTRUPY_SIM_PORT?"), "\(run.output)")
        }
        #expect(try await SimProcess.run(["--help"], environment: environment).status == 0)
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
        ["serve", "--port", "70000"], ["clock", "advance"], ["replay", "a", "b"], ["nonsense"],
        ["requests", "list", "--user", "DemoOrg-a"],
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
