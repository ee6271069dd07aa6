import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Namespaces chosen by header or host, automatic namespaces, and namespaces with a time to live.
@Suite struct NamespaceChoiceTests {
    private let root: TestWorld

    init() async throws { root = try await TestWorld.server }

    private func made(_ prefix: String, _ more: JSONObject = [:]) async throws -> String {
        let answer = try await root.send(
            "POST", "/_sim/namespaces", .object((["prefix": .string(prefix)] as JSONObject).merging(more) { $1 }))
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["name"].text)
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
        func asked(_ host: String, _ header: String? = nil, at world: TestWorld? = nil) async throws -> JSONValue {
            let headers = header.map { ["Host": host, "X-Sim-Namespace": $0] } ?? ["Host": host]
            let answer = try await (world ?? root).send("GET", "/_sim/info", headers: headers)
            return answer.status == 404 ? "404" : answer["namespace.name"]
        }
        for (host, header, name) in [
            ("localhost", one, one), ("\(one).localhost", nil, one),
            ("\(one.uppercased()).LOCALHOST:8642", nil, one), ("\(one).localhost", two, two),
            ("localhost:1", nil, "default"), ("127.0.0.1", nil, "default"), ("localhost", "nobody", "404"),
            ("localhost", "", "404"),
        ] as [(String, String?, String)] {
            #expect(try await asked(host, header).text == name, "\(host) \(header ?? "")")
        }
        #expect(try await asked("localhost", one, at: root.namespace(two)).text == two)
    }

    @Test func aClientThatAlwaysNamesItsNamespaceCanCreateIt() async throws {
        let name = "self-made-\(getpid())"
        let headers = ["X-Sim-Namespace": name]
        #expect(try await root.send("GET", "/_sim/health", headers: headers).status == 200)
        #expect(try await root.send("GET", "/_sim/clock", headers: headers).status == 404)
        let made = try await root.send("PUT", "/_sim/namespaces/\(name)", ["random_seed": 9], headers: headers)
        #expect(made.status == 201 && made["random_seed"] == 9)
        #expect(try await root.send("GET", "/_sim/info", headers: headers)["namespace.name"].text == name)
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)", headers: headers).status == 204)
    }
}
