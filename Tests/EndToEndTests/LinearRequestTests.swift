import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// The server's time for a request grows linearly with the request's length. The test measures the CPU time of the real binary, so
/// other load does not count.
@Suite(.serialized) struct LinearRequestTests {
    private static let server = Task {
        try await SimProcess(["--in-memory", "--ready-json", "--rate-limits", "off"])
    }

    private let server: SimProcess

    init() async throws {
        server = try await Self.server.value
    }

    /// The largest allowed ratio of times for ten times the length. Quadratic code has a ratio of 100.
    private static let most = 30.0
    /// The shortest time that counts, in seconds. Shorter ones are lost in the other work of the process.
    private static let least = 0.01

    /// The shorter length of a body, in bytes.
    private static let length = 20_000

    private func isLinear(
        _ what: String, from length: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ send: (Int) async throws -> Void
    ) async throws {
        try await Self.isLinear(what, from: length, on: server, sourceLocation: sourceLocation, send)
    }

    static func isLinear(
        _ what: String, from length: Int, on server: SimProcess, sourceLocation: SourceLocation = #_sourceLocation,
        _ send: (Int) async throws -> Void
    ) async throws {
        // A server of a debug build takes several times as long for a byte.
        let length = SimProcess.isNamed ? length : max(length / 4, 16)
        func seconds(_ length: Int) async throws -> Double {
            let before = try server.processorTime()
            try await send(length)
            return try server.processorTime() - before
        }
        let first = max(try await seconds(length), try await seconds(length), least)
        var second = try await seconds(length * 10)
        if second > first * most { second = min(second, try await seconds(length * 10)) }
        #expect(
            second <= first * most, "\(what): \(length) took \(first) s, \(length * 10) took \(second) s",
            sourceLocation: sourceLocation)
    }

    /// A letter and many combining marks, alternating between two classes.
    static func marks(_ length: Int) -> String { "c" + String(repeating: "\u{301}\u{323}", count: length / 4) }

    private func send(
        _ method: String, _ path: String, _ body: Data?, type: String = "application/json", token: String? = nil
    ) async throws -> (status: Int, body: Data) {
        var request = try OutgoingRequest(HTTPMethod(rawValue: method), server.baseURL + path)
        request.headers.add(name: "Content-Type", value: type)
        if let token { request.headers.add(name: "Authorization", value: "Token \(token)") }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let answer = try await OutgoingClient.patient.whole(request)
        return (answer.status, answer.body)
    }

    // MARK: Bodies

    struct Route: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        /// The names of the members with text values.
        let members: [String]
        var token: String?
        var testDescription: String { "\(method) \(path)" }
    }

    static let routes: [Route] = [
        Route(method: "POST", path: "/sdk/login", members: ["signed_authorization_request", "bundle_id"]),
        Route(method: "POST", path: "/partner/login", members: ["username", "password"]),
        Route(
            method: "POST", path: "/v2/integrations/authorize-user",
            members: ["sdk_authorization_request", "unique_user_id", "email", "first_name"], token: TestWorld.apiToken),
        Route(
            method: "POST", path: "/v2/search/authentications", members: ["cursor", "limit"], token: TestWorld.apiToken),
        Route(method: "POST", path: "/v2/webhooks", members: ["url", "secret_key"], token: TestWorld.apiToken),
        Route(method: "POST", path: "/_sim/outcomes", members: ["result", "after", "reason"]),
        Route(method: "POST", path: "/_sim/faults", members: ["match", "effect"]),
        Route(method: "PATCH", path: "/_sim/settings", members: ["rate_limits", "capture_timeout"]),
        Route(method: "POST", path: "/_sim/namespaces", members: ["prefix", "seed", "ttl"]),
        Route(method: "PUT", path: "/_sim/namespaces/x", members: ["seed", "ttl"]),
        Route(
            method: "POST", path: "/components/sessions/x/document",
            members: ["documentType", "issuingCountry", "configuration", "customization", "location"]),
        Route(method: "POST", path: "/_sim/clock/advance", members: ["by", "to"]),
        Route(method: "POST", path: "/_sim/clock/freeze", members: ["at"]),
        Route(method: "POST", path: "/_sim/settle", members: ["within"]),
        Route(method: "POST", path: "/_sim/requests/verify", members: ["match", "sequence", "min_gap"]),
        Route(method: "POST", path: "/_sim/authentications", members: ["username", "result", "flag", "brand"]),
        Route(method: "PATCH", path: "/_sim/users/x", members: ["email", "first_name"]),
        Route(method: "POST", path: "/_sim/webhooks", members: ["organization", "url", "secret_key", "username"]),
        Route(method: "PATCH", path: "/_sim/webhooks/x", members: ["url", "secret_key"]),
        Route(method: "POST", path: "/_sim/webhooks/trigger", members: ["event", "entrupy_id"]),
        Route(method: "POST", path: "/_sim/snapshots/x/fork", members: ["namespace", "ttl"]),
        Route(method: "POST", path: "/_sim/scenarios/flag-and-clear/start", members: ["namespace", "ttl"]),
        Route(method: "POST", path: "/_sim/scenarios/start", members: ["scenario", "namespace", "ttl"]),
        Route(method: "POST", path: "/_sim/seed", members: ["organizations"]),
        Route(method: "PUT", path: "/sdk/results/x/flag", members: ["flag", "flag_reason_id"]),
        Route(method: "PATCH", path: "/_sim/authentications/x", members: ["result", "flag", "reason"]),
        Route(method: "POST", path: "/_sim/authentications/x/flag/resolve", members: ["note", "result"]),
    ]

    @Test(arguments: routes) func marksInNamesAndValues(route: Route) async throws {
        for shape in 0..<3 {
            try await isLinear("\(route.testDescription) \(shape)", from: Self.length) { length in
                let text = Self.marks(length)
                // A value that begins with a mark is compared with a constant to its end, one that begins with a letter is not.
                let body: JSONObject =
                    shape == 0
                    ? [text: .string("x"), text + "y": .object([text: .null])]
                    : JSONObject(
                        route.members.map { name in
                            let value = Self.marks(length / route.members.count)
                            return (name, .string(shape == 1 ? value : String(Substring(value.utf8.dropFirst()))))
                        })
                let answer = try await send(
                    route.method, route.path, WireJSON.encode(JSONValue.object(body)), token: route.token)
                #expect((200..<500).contains(answer.status), "\(answer.status)")
            }
        }
    }

    @Test func marksInMetadataAreKeptAndEchoed() async throws {
        let world = TestWorld(base: server.baseURL)
        let token = try await world.login()
        try await isLinear("POST /sdk/captures", from: Self.length) { length in
            var item = try #require(TestWorld.nike.members)
            let name = Self.marks(length / 2)
            item[name] = .object([name + "x": .string("1"), name + "y": .string("2")])
            item["\u{e9}"] = .string("composed")
            item["e\u{301}"] = .string("decomposed")
            let body = try WireJSON.encode(JSONValue.object(["item": .object(item)]))
            let answer = try await send("POST", "/sdk/captures", body, token: token)
            #expect(answer.status == 201)
            let capture = try WireJSON.decode(JSONValue.self, from: answer.body)
            #expect(capture["item"] == .object(item))
            let id = try #require(capture["capture_id"].text)
            let shown = try await send("GET", "/sdk/captures/\(id)", nil, token: token)
            #expect(try WireJSON.decode(JSONValue.self, from: shown.body)["item"] == .object(item))
        }
    }

    @Test(arguments: ["PUT /_sim/scenarios/x", "POST /_sim/seed"]) func marksInYAML(route: String) async throws {
        let parts = route.split(separator: " ").map(String.init)
        try await isLinear(route, from: Self.length) { length in
            let text = "name: x\n\"\(Self.marks(length))\": \"\(Self.marks(length))\"\n"
            let answer = try await send(parts[0], parts[1], Data(text.utf8), type: "application/yaml")
            #expect(answer.status == 400)
        }
    }

    // MARK: Heads

    private func raw(_ head: String) async throws -> String {
        try await RawConnection.open(server).exchange(head + "Connection: close\r\n\r\n")
    }

    static let fields = [
        "Accept-Language", "Authorization", "Cookie", "Content-Type", "Content-Digest", "Content-Encoding",
        "Api-Version", "X-Request-Id", "X-Sim-Namespace", "X-Sim-Test", "X-Sim-Control-Token", "Origin",
        "Last-Event-ID",
        "Expect", "If-None-Match", "Connection", "Host", "Transfer-Encoding", "User-Agent", "Accept", "Accept-Encoding",
        "X-Sim-Console",
    ]

    /// A `GET` of events would not end.
    @Test(arguments: fields) func marksInHeaders(field: String) async throws {
        for (method, path) in [
            ("GET", "/sdk/session"), ("PUT", "/_sim/events"), ("GET", "/v1/health"), ("GET", "/_sim/console/nowhere"),
        ] {
            try await isLinear("\(field) at \(path)", from: 6000) { length in
                let host = field == "Host" ? "" : "Host: localhost\r\n"
                let answer = try await raw("\(method) \(path) HTTP/1.1\r\n\(host)\(field): \(Self.marks(length))\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 4"))
            }
        }
    }

    /// Fields whose values repeat what one look at each part would answer for all.
    @Test func manyPartsInHeaders() async throws {
        for (field, part, end) in [
            ("Accept-Language", "*,", "en;q=0,ja;q=0"), ("Content-Digest", "sha-512=:AAAA:,", "sha-256=:AAAA:"),
        ] {
            for path in ["/sdk/session", "/sdk/captures/x/images/y"] {
                try await isLinear("\(field) at \(path)", from: 6000) { length in
                    let value = String(repeating: part, count: length / part.utf8.count) + end
                    let answer = try await raw("PUT \(path) HTTP/1.1\r\nHost: localhost\r\n\(field): \(value)\r\n")
                    #expect(answer.hasPrefix("HTTP/1.1 4"))
                }
            }
        }
    }

    static let targets = [
        "/X", "/sdk/captures/X", "/sdk/captures/X/images/X", "/ns/X/sdk/session", "/_sim/users/X", "/_sim/X",
        "/_sim/requests?route=X", "/_sim/requests?X=1", "/_sim/events?types=X", "/sdk/config?config_type=X", "//X//",
        "/_sim/namespaces/X", "/_sim/snapshots/X", "http://X/", "http://localhost/X", "/_sim/console/items/X",
        "/_sim/console/X", "/_sim/console?X=1", "/_sim/console?q=X", "/_sim/console?selected=X",
        "/_sim/console/news?since=X", "/_sim/console?older=X", "/_sim/console/items?text=X",
        "/_sim/console/items?brand=X", "/_sim/console/items?cursor=X", "/_sim/console/rules?route=X",
        "/_sim/console/rules?effect=X", "/_sim/console/rules?item=X", "/_sim/console/webhooks?status=X",
        "/_sim/console/webhooks?item=X", "/_sim/console/captures?status=X", "/_sim/console/timeline?span=X",
        "/_sim/console/namespaces?find=X", "/_sim/console/requests/x?sequence=X", "/_sim/console/users/X",
        "/_sim/console/scenarios/X", "/_sim/console/webhooks/deliveries/X",
    ]

    /// A target whose text is made of marks.
    static func target(_ shape: String, _ length: Int, isEncoded: Bool) -> String {
        let marks = marks(length / (isEncoded ? 3 : 1))
        let text = isEncoded ? marks.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined() : marks
        return shape.replacingOccurrences(of: "X", with: text)
    }

    @Test(arguments: targets) func marksInTargets(shape: String) async throws {
        for isEncoded in [false, true] {
            try await isLinear("\(shape) \(isEncoded)", from: 4000) { length in
                let target = Self.target(shape, length, isEncoded: isEncoded)
                // Pages are read; what else there is would be changed, if it were there.
                let isPage = shape.hasPrefix("/_sim/console")
                let answer = try await raw("\(isPage ? "GET" : "DELETE") \(target) HTTP/1.1\r\nHost: localhost\r\n")
                #expect(
                    answer.hasPrefix("HTTP/1.1 4") || isPage && answer.hasPrefix("HTTP/1.1 2"), "\(answer.prefix(30))")
            }
        }
    }

    /// This test would take minutes if one slow request blocked the others.
    @Test(.timeLimit(.minutes(15))) func othersAreAnsweredMeanwhile() async throws {
        let key = Data("{\"\(Self.marks(200_000))\":1,\"\(Self.marks(199_000))\":2}".utf8)
        let marks = Self.marks(60_000)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    number % 2 == 0
                        ? try await send("POST", "/sdk/login", key).status
                        : try await raw("GET /sdk/session HTTP/1.1\r\nHost: a\r\nAccept-Language: \(marks)\r\n")
                            .hasPrefix("HTTP/1.1 401") ? 400 : 0
                }
                group.addTask { try await send("GET", "/_sim/health", nil).status }
            }
            let statuses = try await group.reduce(into: []) { $0.append($1) }
            #expect(statuses.sorted() == Array(repeating: 200, count: 8) + Array(repeating: 400, count: 8))
        }
    }
}
