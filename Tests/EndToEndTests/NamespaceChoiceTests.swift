import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Namespaces chosen by header or host, automatic namespaces, and namespaces with a time to live.
@Suite struct NamespaceChoiceTests {
    private let root = TestWorld(base: SimProcess.shared.baseURL)

    private func made(_ prefix: String, _ more: JSONObject = [:]) async throws -> String {
        let answer = try await root.send(
            "POST", "/_sim/namespaces", .object((["prefix": .string(prefix)] as JSONObject).merging(more) { $1 }))
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["name"].text)
    }

    private func ask(_ head: String) async throws -> String {
        let connection = try await RawConnection.open(.shared)
        return try await connection.exchange("GET /_sim/info HTTP/1.1\r\nConnection: close\r\n\(head)\r\n\r\n")
    }

    @Test func aGeneratedNameBeginsWithThePrefixAndIsUnique() async throws {
        let answer = try await root.send("POST", "/_sim/namespaces", ["prefix": "pr-12", "ttl": "30m"])
        #expect(answer.status == 201 && answer["ttl"] == 1800 && answer["id"] == answer["name"])
        let name = try #require(answer["name"].text)
        #expect(name.hasPrefix("pr-12-") && answer["url"].text == "\(root.base)/ns/\(name)")
        #expect(try await made("pr-12") != name)
        #expect(try await root.send("POST", "/_sim/namespaces", nil)["name"].text?.hasPrefix("ns-") == true)
    }

    @Test func manyControllersAtOnceGetNamesOfTheirOwn() async throws {
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<60 { group.addTask { try await made("many", ["seed": "empty"]) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names.count == 60)
        #expect(try await root.send("DELETE", "/_sim/namespaces?prefix=many-").status == 204)
        let left = try await root.send("GET", "/_sim/namespaces")["namespaces"].items.compactMap { $0["name"].text }
        #expect(names.isDisjoint(with: left))
    }

    @Test(arguments: [
        ("{\"prefix\": \"PR\"}", "prefix"), ("{\"prefix\": \"\"}", "prefix"), ("{\"prefix\": 12}", "prefix"),
        ("{\"prefix\": \"\(String(repeating: "a", count: 55))\"}", "prefix"), ("{\"ttl\": \"0s\"}", "ttl"),
        ("{\"ttl\": \"31d\"}", "ttl"), ("{\"ttl\": \"soon\"}", "ttl"), ("{\"name\": \"x\"}", "name"),
    ])
    func invalidOptionsAreRefused(body: String, field: String) async throws {
        let answer = try await root.send(
            "POST", "/_sim/namespaces", try WireJSON.decode(JSONValue.self, from: Data(body.utf8)))
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
    }

    @Test func droppingNamespacesNeedsAPrefix() async throws {
        for query in ["", "?prefix=", "?prefx=a"] {
            #expect(try await root.send("DELETE", "/_sim/namespaces\(query)").status == 400)
        }
        #expect(try await root.send("DELETE", "/_sim/namespaces?prefix=default").status == 204)
        #expect(try await root.send("GET", "/_sim/clock").status == 200)
    }

    @Test func aHeaderOrAHostNamesTheNamespaceAndThePathWins() async throws {
        let (one, two) = (try await made("one"), try await made("two"))
        let cases: [(String, String)] = [
            ("Host: localhost\r\nX-Sim-Namespace: \(one)", one), ("Host: \(one).localhost", one),
            ("Host: \(one.uppercased()).LOCALHOST:8642", one),
            ("Host: \(one).localhost\r\nX-Sim-Namespace: \(two)", two),
            ("Host: localhost:1", "default"), ("Host: 127.0.0.1", "default"),
        ]
        for (head, name) in cases {
            #expect(try await ask(head).contains("\"name\":\"\(name)\""), "\(head)")
        }
        let path = TestWorld(base: "\(root.base)/ns/\(two)")
        let answer = try await path.send("GET", "/_sim/info", headers: ["X-Sim-Namespace": one])
        #expect(answer["namespace.name"].text == two)
        #expect(try await ask("Host: localhost\r\nX-Sim-Namespace: nobody").contains("HTTP/1.1 404"))
        #expect(try await ask("Host: localhost\r\nX-Sim-Namespace: ").contains("HTTP/1.1 404"))
    }

    @Test func theTimeToLiveDropsANamespaceEvenAfterARestart() async throws {
        try await Process.withDirectory { directory in
            var server = try SimProcess(["--data-dir", directory])
            let before = TestWorld(base: server.baseURL)
            let kept = try await before.send("POST", "/_sim/namespaces", ["prefix": "kept", "ttl": "1h"])
            #expect(try await before.send("POST", "/_sim/namespaces", ["prefix": "brief", "ttl": "1s"]).status == 201)
            server.kill()
            server = try SimProcess(["--data-dir", directory])
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
}
