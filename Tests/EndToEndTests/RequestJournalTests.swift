import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Commands about the journal. `RequestJournalRuleTests` and `RequestVerificationTests` have the rules.
@Suite struct RequestJournalTests {
    private func run(_ words: [String], _ world: TestWorld) async throws -> (status: Int32, output: String) {
        let name = String(world.base.split(separator: "/").last!)
        return try await SimProcess.run(words + ["-n", name, "--url", SimProcess.shared.baseURL])
    }

    @Test func theCommandRefusesARouteThatNoRouteCanMatch() async throws {
        let world = try await TestWorld.make()
        let words = ["requests", "verify", "--route", "/sdk/serch", "--times", "0"]
        let refused = try await run(words, world)
        #expect(
            refused.status == 64 && refused.output.contains("the nearest is POST /sdk/search")
                && refused.output.contains("--any-route"), "\(refused.output)")
        #expect(try await run(words + ["--any-route"], world).status == 0)
        let set = try await run(["settings", "set", "journal.body_bytes", "2kB"], world)
        #expect(set.status == 0 && set.output.contains("\"body_bytes\":2000"), "\(set.output)")
    }

    @Test func theCommandVerifiesASequence() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        let (login, session) = ("post /sdk/login 200", "GET /sdk/session 2xx")
        for (arguments, status, words) in [
            (
                ["--step", login, "--step", session, "--max-gap", "10m"], 0,
                "verified: requests 2, 3 of the journal, in this order"
            ),
            (["--step", login, "--step", session, "--min-gap", "600"], 1, "min_gap is 10m"),
            (["--step", session, "--step", "*", "--username", "DemoOrg-example-user-id"], 1, "did not follow"),
            (["--step", "GET /a 200 x"], 64, "--step must be a route"),
            (["--step", login, "--times", "1"], 64, "--times cannot be combined with --step"),
            (["--step", login, "--route", "/a"], 64, "--route cannot be combined with --step"),
            (["--step", login, "--min-gap", "2s"], 64, "--min-gap needs at least two --step"),
            (["--route", "/sdk/login", "--max-gap", "2s"], 64, "--max-gap needs at least two --step"),
            (["--step", login, "--step", "/sdk/logn"], 64, "--any-route allows others"),
            (["--step", login, "--step", session, "--min-gap", "soon"], 64, "min_gap"),
        ] as [([String], Int32, String)] {
            let run = try await run(["requests", "verify"] + arguments, world)
            #expect(run.status == status && run.output.contains(words), "\(arguments): \(run.output)")
        }
        let json = try await run(["requests", "verify", "--step", login, "--step", session, "--json"], world)
        let printed = try WireJSON.decode(JSONValue.self, from: Data(json.output.utf8))
        #expect(json.status == 0 && printed["requests.1.sequence"] == 3, "\(json.output)")
    }
}
