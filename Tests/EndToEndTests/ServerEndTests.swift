import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Servers that stop while work is under way, and what their namespaces know afterwards.
@Suite struct ServerEndTests {
    /// Not even where a namespace rests when the server starts, or where the server was killed.
    @Test(arguments: [true, false]) func anEarlierProcessIsNotDenied(isKilled: Bool) async throws {
        func nope(_ world: TestWorld, since: JSONValue = .null) async throws -> Answer {
            let match: JSONValue = since == .null ? ["route": "/nope"] : ["route": "/nope", "since": since]
            return try await world.send(
                "POST", "/_sim/requests/verify", ["match": match, "any_route": true, "times": 0])
        }
        try await Process.withDirectory { directory in
            let before = try await SimProcess(["--data-dir", directory])
            let root = TestWorld(base: before.baseURL)
            _ = try await root.send("PUT", "/_sim/namespaces/quiet")
            _ = try await root.send("GET", "/nope")
            #expect(try await nope(root.namespace("quiet")).status == 200)
            if isKilled { before.kill() } else { before.stop() }
            let after = try await SimProcess(["--data-dir", directory])
            let world = TestWorld(base: after.baseURL)
            let denied = try await nope(world)
            #expect(denied.status == 409 && denied["code"] == "forgotten", "\(denied.json)")
            let from = JSONValue.string("sequence:\(denied["sequence"].integer ?? 0)")
            #expect(try await nope(world, since: from).status == 200)
            #expect(try await nope(world.namespace("quiet")).status == 200, "it had none")
            after.stop()
        }
    }

    @Test func theTimeToLiveDropsANamespaceEvenAfterARestart() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let before = TestWorld(base: server.baseURL)
            let kept = try await before.send("POST", "/_sim/namespaces", ["prefix": "kept", "ttl": "1h"])
            #expect(try await before.send("POST", "/_sim/namespaces", ["prefix": "brief", "ttl": "1s"]).status == 201)
            server.kill()
            server = try await SimProcess(["--data-dir", directory])
            let world = TestWorld(base: server.baseURL)
            // The time to live is real time, so the test must wait. It does not check how long.
            var names: [String?] = []
            repeat {
                names = try await world.send("GET", "/_sim/namespaces")["namespaces"].items.map { $0["name"].text }
            } while names.count > 2
            #expect(names == ["default", kept["name"].text])
            #expect(FileManager.default.fileExists(atPath: "\(directory)/namespaces/\(kept["name"].text ?? "").sqlite"))
            server.stop()
        }
    }

    // The time limits only end a test that fails. No machine needs that long if the server is right.

    @Test(.timeLimit(.minutes(15))) func theServerStopsWhileAnAdvanceWaitsForAReceiver() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: server, settings: ["webhooks": ["timeout": "300s"]])
            let receiver = try await WebhookReceiver.open()
            try await world.subscribe(receiver)
            receiver.behave(.hang)
            // The delay makes the advance send the webhook, so the advance has begun when the receiver gets it.
            _ = try await world.send("POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "10m"]])
            try await world.generatedItem()
            let advancing = Task {
                try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "9m"])
            }
            while receiver.deliveries.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(await stop(server) == 0)
            // The advance gets an answer, or the connection ends before it.
            if case .success(let answer) = await advancing.result { #expect(answer["reached"] == false) }
            // The attempt was interrupted, so it is repeated. A server that waited for it would have recorded a failure.
            let next = try await SimProcess(["--data-dir", directory])
            let again = TestWorld(base: next.baseURL).namespace(world.name)
            let delivery = try #require(try await again.webhookDeliveries().first)
            #expect(delivery["status"] == "sending" && delivery["attempts"] == [], "\(delivery)")
            #expect(await stop(next) == 0)
        }
    }

    @Test(.timeLimit(.minutes(15))) func theServerStopsWhileItemsAreGenerated() async throws {
        let server = try await SimProcess(["--in-memory"])
        let world = TestWorld(base: server.baseURL)
        let making = Task { try await world.send("POST", "/_sim/authentications", ["count": 10_000_000]) }
        while try await world.counts()["authentications"] == 0 {}
        #expect(await stop(server) == 0)
        guard case .success(let answer) = await making.result else { return }
        #expect(answer.status == 503 && answer["error"].text?.contains("of 10000000 items were made") == true)
    }

    /// Stops a server without blocking one of the few threads that tests share.
    private func stop(_ server: SimProcess) async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: server.stop()) }
        }
    }

    @Test func aClosedPipeEndsACommandQuietly() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<40 { _ = try await world.send("GET", "/v1/health?\(String(repeating: "x", count: 8000))") }
        let command = "'\(SimProcess.path)' requests list --har -n \(world.name) --url \(world.root.base)"
        let shell = try await SimProcess.run(
            ["-c", "{ \(command); echo status=$? >&2; } | head -c 10"], program: "/bin/sh")
        #expect(shell.output.contains("status=141") && !shell.output.contains("Fatal"), "\(shell.output.prefix(500))")
        let full = try await SimProcess.run(["-c", "\(command) > /dev/full"], program: "/bin/sh")
        #expect(full.status == 70 && full.output.contains("cannot be written"), "\(full.output.prefix(500))")
    }
}
