import Foundation
import SimulationAPI
import Testing

@testable import EntrupySimTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Pages of the bundles of failed tests.
@Suite(.timeLimit(.minutes(10))) struct BundlePageTests {
    @Test(.entrupySim()) func aPageShowsTheRequestsAndNoSecret() async throws {
        let sim = try SimulatedNamespace.current
        _ = try await sim.insertItems()
        var request = URLRequest(url: sim.url.appendingPathComponent("v2/webhooks"))
        request.httpMethod = "POST"
        request.setValue("Token \(sim.apiToken)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(
            #"{"url": "http://127.0.0.1:9", "secret_key": "a-secret-of-mine", "events": ["session.completed"]}"#.utf8)
        _ = try await URLSession.shared.data(for: request)
        let bundle = try await sim.bundle()
        let html = try #require(try await Simulator.start().page(of: bundle, named: "mine.entrupy-bundle"))
        let text = String(decoding: html, as: UTF8.self)
        #expect(text.contains("mine.entrupy-bundle.tar") && text.contains("/v2/webhooks"))
        #expect(!text.contains("a-secret-of-mine"))
        // The page of a server that this process did not start is made by the program that it would start.
        let other = try await Simulator.connect(to: Simulator.start().url)
        #expect(other.program == nil)
        #expect(try await other.page(of: bundle, named: "mine") != nil)
    }

    @Test(arguments: [
        ("echo it is broken >&2; echo more; exit 3", "report ended with 3: it is broken"),
        ("exit 3", "report ended with 3: it printed nothing"), ("exit 0", "report wrote no page"),
        ("trap '' TERM; while :; do :; done", "report did not end within 1s"),
    ]) func aProgramThatMakesNoPageIsNamed(script: String, problem: String) async throws {
        let program = try Self.program(script)
        defer { try? FileManager.default.removeItem(atPath: program) }
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let simulator = Simulator(url: url, controlToken: nil, program: program)
        // A program that ends by itself gets the usual time: the machine may be busy.
        let seconds = script.hasPrefix("trap") ? 1.0 : 60
        await #expect { _ = try await simulator.page(of: Data(), named: "a", within: seconds) } throws: {
            "\($0)".contains(program) && "\($0)".contains(problem)
        }
    }

    @Test func aProgramThatIsMissingIsNamed() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let simulator = Simulator(url: url, controlToken: nil, program: "/nowhere/entrupy-sim")
        await #expect { _ = try await simulator.page(of: Data(), named: "a") } throws: {
            "\($0)".contains("/nowhere/entrupy-sim cannot be started")
        }
    }

    private static func program(_ script: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("program-\(UUID().uuidString)").path
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }
}
