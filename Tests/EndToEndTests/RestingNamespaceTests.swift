import Foundation
import SimulationAPI
import TestSupport
import Testing

/// At start, a server does not open the databases of namespaces without due work.
@Suite struct RestingNamespaceTests {
    private func openDatabases(_ root: TestWorld) async throws -> String {
        let text = String(decoding: try await root.send("GET", "/_sim/metrics").body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix("entrupy_sim_open_databases ") }.map(String.init) ?? ""
    }

    /// The list of namespaces, without the members that a restart may change.
    private func list(_ root: TestWorld) async throws -> [JSONValue] {
        try await root.send("GET", "/_sim/namespaces")["namespaces"].items.filter { $0["name"] != "default" }.map {
            $0.merging(["database_bytes": nil, "url": nil])
        }
    }

    @Test(arguments: [true, false]) func namespacesAreListedAndContinueAfterARestart(killed: Bool) async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: server)
            let other = try await TestWorld.make(in: server)
            let token = try await world.login()
            let item = try await world.submit(token)
            let path = world.base.dropFirst(server.baseURL.count)
            let before = try await list(TestWorld(base: server.baseURL))
            if killed { server.kill() } else { server.stop() }

            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let root = TestWorld(base: server.baseURL)
            if !killed { #expect(try await openDatabases(root) == "entrupy_sim_open_databases 0") }
            #expect(try await list(root) == before)
            if !killed {
                #expect(try await openDatabases(root) == "entrupy_sim_open_databases 1", "the default one answered")
            }
            let again = TestWorld(base: server.baseURL + path)
            #expect(try await again.send("GET", "/sdk/session", token: token).status == 200)
            #expect(try await list(root) == before)
            try await again.advance("5s")
            #expect(try await again.result(item, token)["status.result.id"] == "authentic")
            #expect(try await list(root) != before)
            #expect(try await root.send("DELETE", "/_sim/namespaces?prefix=t").status == 204)
            #expect(try await list(root).isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory + "/namespaces")
            #expect(left.someAndAll { $0.hasPrefix("default.") }, "\(left)")
            _ = other
        }
    }

    @Test func dueWorkRunsInAnIdleNamespace() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: server)
            let path = world.base.dropFirst(server.baseURL.count)
            let token = try await world.login()
            _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "1s"]])
            let item = try await world.submit(token)
            _ = try await world.send("POST", "/_sim/clock/resume")
            server.stop()
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let root = TestWorld(base: server.baseURL)
            let again = TestWorld(base: server.baseURL + path)
            // Listing does not send a request to a namespace, so the due work must run on its own.
            let before = try await list(root)
            while try await list(root).map({ $0["counts.events"] }) == before.map({ $0["counts.events"] }) {
                if try await again.result(item, token)["status.result.final"] == true { break }
            }
            #expect(try await again.result(item, token)["status.result.final"] == true)
        }
    }

    @Test func aDamagedNoteOfAnIdleNamespaceIsIgnored() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: server)
            let path = world.base.dropFirst(server.baseURL.count)
            let token = try await world.login()
            server.stop()
            let note = "\(directory)/namespaces/\(path.split(separator: "/").last!).sqlite.rest"
            let good = try Data(contentsOf: URL(fileURLWithPath: note))
            for bad in [Data(), Data("x".utf8), good.dropLast(5), Data("1 2 3 4\n".utf8) + good, Data(good.reversed())]
            {
                try bad.write(to: URL(fileURLWithPath: note))
                server = try await SimProcess(["--data-dir", directory])
                let again = TestWorld(base: server.baseURL + path)
                #expect(try await again.send("GET", "/sdk/session", token: token).status == 200)
                server.stop()
            }
        }
    }
}
