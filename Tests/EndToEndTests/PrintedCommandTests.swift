import Foundation
import TestSupport
import Testing

/// Command lines that the program prints for readers to paste, with hostile values from files and flags.
@Suite(.enabled(if: PasteShell.isWanted, "make test-shells runs these")) struct PrintedCommandTests {
    @Test(
        .enabled(if: SimProcess.hasHTTPS, SimProcess.needsHTTPS),
        arguments: [PasteShell.bash, .zsh].filter(\.isInstalled))
    func theExamplesOfTheStartRunAsTheyStand(shell: PasteShell) async throws {
        let token = "it's$(:>\"$CANARY\")`:>$CANARY`;:>$CANARY;!x"
        try await Process.withDirectory { directory in
            let folder = directory + "/a '; : > $CANARY; '"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let seed = folder + "/seed.yaml"
            let quoted = token.replacingOccurrences(of: "\"", with: "\\\"")
            let standard = try String(
                contentsOf: TestWorld.root.appendingPathComponent("seed-data/standard.yaml"), encoding: .utf8)
            try standard.replacing("[demo-api-token]", with: "[\"\(quoted)\"]")
                .write(toFile: seed, atomically: true, encoding: .utf8)
            let server = try await SimProcess(["--data-dir", folder + "/data", "--seed", seed, "--tls-port", "0"])
            defer { server.stop() }
            let printed = server.greeting.components(separatedBy: "\n").map { $0.drop { $0 == " " } }
            let start = try #require(printed.firstIndex { $0 == "Try it:" })
            let calls = printed[start...].dropFirst().prefix { !$0.isEmpty }
            let trust = printed.filter { $0.hasPrefix("curl --cacert") }
            try #require(trust.count == 1)
            let outcome = try await shell.paste((trust + calls).joined(separator: "\n"))
            #expect(!outcome.ranOther, "\(outcome.shown)")
            let secure = try #require(server.greeting.firstMatch(of: /https:\/\/[^\s]+/)).0
            let header = ["-H", "Authorization: Token \(token)"]
            #expect(
                outcome.calls.map { $0.filter { !$0.hasPrefix("{") } } == [
                    ["curl", "--cacert", folder + "/data/authority/authority.pem", "\(secure)/_sim/health"],
                    ["curl", "\(server.baseURL)/_sim/health"],
                    ["curl"] + header + ["-H", "Api-Version: 1.3", "\(server.baseURL)/v1/health"],
                    ["curl", "-X", "POST"] + header + [
                        "-H", "Content-Type: application/json", "-d",
                        "\(server.baseURL)/v2/integrations/authorize-user",
                    ],
                ], "\(outcome.shown)")
        }
    }

    @Test func aHintNamesANamespaceAsOneArgument() async throws {
        let base = SimProcess.shared.baseURL
        let (status, output) = try await SimProcess.run(["requests", "list", "--url", base, "--namespace=-x"])
        #expect(status != 0 && output.contains("\"entrupy-sim namespace make --url \(base) -- -x\""), "\(output)")
    }
}
