import Foundation
import TestSupport
import Testing

@Suite struct DeterminismTests {
    /// The described operations whose answers are not compared.
    private static let leftOut = [
        // The pages hold a random secret of the process.
        "GET /_sim/console", "GET /_sim/console/{section}", "GET /_sim/console/{section}/{name}",
        "GET /_sim/console/{section}/{name}/{id}",
        // Needs a server with a control token.
        "POST /_sim/console/token",
        // The archives hold the real time at which they were made.
        "GET /_sim/bundle", "GET /_sim/snapshots/{name}",
        // The stream does not end, and the ids of its events name the process.
        "GET /_sim/events",
        // Needs a server with HTTPS, whose keys are random.
        "GET /_sim/authority.pem",
        // Tells of all namespaces of the server, and judges by real times.
        "GET /_sim/audits",
        // Measures the process.
        "GET /_sim/metrics",
    ]

    /// Two processes with one seed and a frozen clock answer the same requests with the same bytes, on every surface,
    /// and send the same webhooks.
    @Test func equalRequestsGiveEqualBytesInTwoProcesses() async throws {
        let receiver = try await WebhookReceiver.open()
        var transcripts: [Transcript] = []
        for _ in 0..<2 {
            let server = try await SimProcess(["--in-memory", "--random-seed", "42", "--public-url", "http://sim.test"])
            defer { server.stop() }
            transcripts.append(try await Transcript(server, receiver))
        }
        let (left, right) = (transcripts[0], transcripts[1])
        #expect(left.lines.count > 250)
        #expect(left.lines.count == right.lines.count)
        for (one, other) in zip(left.lines, right.lines) { #expect(one == other) }
        #expect(left.deliveries.count > 10)
        #expect(left.deliveries == right.deliveries)
        let missing = Set(Contract.shared.operations.map(\.name)).subtracting(left.called)
        #expect(missing.sorted() == Self.leftOut.sorted(), "the walk calls every other operation, with success")
    }

    @Test func anotherSeedGivesOtherTokens() async throws {
        let server = try await SimProcess(["--in-memory", "--random-seed", "43"])
        defer { server.stop() }
        let root = TestWorld(base: server.baseURL)
        let ours = try await root.authorize()
        let shared = try await TestWorld(base: SimProcess.shared.baseURL).authorize()
        #expect(ours["signed_authorization_request"] != shared["signed_authorization_request"])
    }
}
