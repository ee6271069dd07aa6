import Foundation
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Each command that `meet_with` names meets its edge, in a namespace of its own [D coverage].
@Suite struct CoverageLineTests {
    private struct Line: Sendable, CustomTestStringConvertible {
        let axis: String
        let edge: Coverage.Edge
        var testDescription: String { "\(axis): \(edge.id)" }
    }

    private static let axes = [
        "sdk_errors", "results", "captures", "flags", "limits", "components", "webhooks", "scenarios",
    ]
    private static let isPossible = WalkThroughTests.isPossible && PasteShell.bash.isInstalled

    /// The commands of an axis that wait for no time-out of a body.
    private func lines(_ axis: String) async throws -> [Line] {
        // A server of its own has met nothing, and lists the edges that no namespace has.
        let server = try await SimProcess(["--in-memory"])
        defer { server.stop() }
        let coverage = try await TestWorld(base: server.baseURL).coverage()
        let edges = coverage.axes.first { $0.id == axis }?.edges ?? []
        return edges.filter { !($0.meet_with ?? "").contains("sleep 40") }.map { Line(axis: axis, edge: $0) }
    }

    @Test(.enabled(if: isPossible, "needs bash and curl"), arguments: axes)
    func everyCommandMeetsItsEdge(axis: String) async throws {
        let lines = try await lines(axis)
        #expect(!lines.isEmpty)
        try await run(lines)
    }

    /// Those of answers that are made from the status alone differ in their path; one of each kind is run.
    @Test(.enabled(if: isPossible, "needs bash and curl")) func commandsMeetTheirAnswers() async throws {
        let ofStatus = Set([400, 401, 403, 404, 413, 415, 429, 503].map(String.init))
        var kinds: Set<[String]> = []
        let lines = try await lines("answers").filter { line in
            let words = line.edge.id.split(separator: " ").map(String.init)
            guard ofStatus.contains(words[2]) else { return true }
            let surface = words[1].split(separator: "/").first.map(String.init) ?? ""
            return kinds.insert([words[0], surface, words[2]]).inserted
        }
        #expect(lines.count > 150)
        try await run(lines)
    }

    /// Runs some at a time.
    private func run(_ lines: [Line]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = lines[...]
            for _ in 0..<3 { if let line = rest.popFirst() { group.addTask { try await run(line) } } }
            while try await group.next() != nil {
                if let line = rest.popFirst() { group.addTask { try await run(line) } }
            }
        }
    }

    private func run(_ line: Line) async throws {
        let server = SimProcess.shared
        let root = TestWorld(base: server.baseURL)
        let name = "line-\(UUID().uuidString.lowercased())"
        try #require(try await root.send("PUT", "/_sim/namespaces/\(name)", [:]).status == 201)
        let world = TestWorld(base: "\(root.base)/ns/\(name)")
        let command = line.edge.meet_with ?? ""
        let folder = URL(fileURLWithPath: SimProcess.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let result = try await SimProcess.run(
            ["-c", command],
            environment: [
                "ENTRUPY_SIM_URL": world.base, "ENTRUPY_SIM_NAMESPACE": name, "PATH": "\(folder):\(path)",
                "ENTRUPY_SIM_API_TOKEN": TestWorld.apiToken,
            ], program: "/bin/bash")
        let isMet = try await isMet(line, world, root)
        #expect(isMet, "\(line.testDescription)\n\(command)\n\(result.output.suffix(1000))")
        _ = try await root.send("DELETE", "/_sim/namespaces/\(name)")
    }

    /// Whether the edge of a line is met, by its namespace, or by the server where no namespace can meet it. These answers are large and many:
    /// the tests of coverage compare them with the description.
    private func isMet(_ line: Line, _ world: TestWorld, _ root: TestWorld) async throws -> Bool {
        for asked in [world, root] {
            let answer = try await OutgoingClient.patient.whole(
                try OutgoingRequest(.GET, "\(asked.base)/_sim/coverage"))
            let axes = try WireJSON.decode(JSONValue.self, from: answer.body)["axes"].items
            let edges = axes.first { $0["id"].text == line.axis }?["edges"].items ?? []
            if let edge = edges.first(where: { $0["id"].text == line.edge.id }) {
                return try WireJSON.decode(Coverage.Edge.self, from: WireJSON.encode(edge)).isMet
            }
        }
        return false
    }
}
