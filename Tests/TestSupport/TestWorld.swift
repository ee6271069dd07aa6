import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import Synchronization
import Testing

extension JSONValue {
    /// The value as a whole number; `nil` if it is not one.
    package var integer: Int? { if case .number(let number) = self { number.integer } else { nil } }
}

extension OutgoingClient {
    /// A client for tests. A test on a busy machine may not read for a while, and does not check how long an answer takes.
    package static let patient = OutgoingClient(connectTimeout: .minutes(10))

    /// The whole answer, from a server that is slow because the machine is busy.
    package func whole(
        _ request: OutgoingRequest, within time: TimeAmount = .minutes(10)
    ) async throws -> (status: Int, headers: HTTPHeaders, body: Data) {
        let answer = try await fetch(request, deadline: .now() + time, upTo: 100_000_000)
        return (answer.status, answer.headers, Data(answer.body.readableBytesView))
    }
}

/// A namespace for one test, with a frozen clock, and requests to it: over HTTP, or to a server in this process.
package struct TestWorld: Sendable {
    /// An answer of the server.
    package struct Answer: Sendable {
        package let status: Int
        package let headers: HTTPHeaders
        package let body: Data
        /// The body as JSON, `.null` if it is not JSON.
        package let json: JSONValue

        package init(status: Int, headers: HTTPHeaders, body: Data) {
            self.status = status
            self.headers = headers
            self.body = body
            json = (try? WireJSON.decode(JSONValue.self, from: body)) ?? .null
        }

        /// The body as text.
        package var text: String { String(decoding: body, as: UTF8.self) }

        package subscript(path: String) -> JSONValue { json[path] }
    }

    /// Makes a request to a whole URL.
    package typealias Transport =
        @Sendable (
            _ method: String, _ url: String, _ headers: HTTPHeaders, _ body: Data?
        ) async throws -> Answer

    package let base: String
    /// The headers that every request has besides its own.
    package var headers: [String: String]
    private let transport: Transport

    package init(
        base: String, headers: [String: String] = [:], over transport: @escaping Transport = TestWorld.network
    ) {
        self.base = base
        self.headers = headers
        self.transport = transport
    }

    /// Requests over HTTP.
    package static let network: Transport = { method, url, headers, body in
        var request = try OutgoingRequest(HTTPMethod(rawValue: method), url)
        request.headers = headers
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await OutgoingClient.patient.whole(request)
        return Answer(status: response.status, headers: response.headers, body: response.body)
    }

    package static let morning = "2026-01-05T09:00:00Z"
    /// `morning` in epoch seconds.
    package static let epoch = 1_767_603_600.0
    private static let made = Mutex(0)

    /// Another namespace of the same server.
    package func namespace(_ name: String) -> TestWorld {
        TestWorld(base: "\(root.base)/ns/\(name)", headers: headers, over: transport)
    }

    /// The server's own routes, and the namespace "default".
    package var root: TestWorld {
        TestWorld(base: base.components(separatedBy: "/ns/")[0], headers: headers, over: transport)
    }

    /// The part of the address that the paths of requests follow.
    package var path: String { String(base.dropFirst("http://".count).drop { $0 != "/" }) }

    /// The name of the namespace.
    package var name: String { String(base.split(separator: "/").last ?? "") }

    /// Makes a namespace in this server.
    package func made(
        seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        let number = Self.made.withLock { count in
            count += 1
            return count
        }
        let world = namespace("t\(number)-\(getpid())")
        let answer = try await root.send(
            "PUT", "/_sim/namespaces/\(world.name)",
            [
                "seed": seed, "random_seed": .number(JSONNumber(randomSeed)),
                "clock": ["freeze": .string(Self.morning)],
            ])
        try #require(answer.status == 201)
        if let settings {
            try #require(try await world.send("PATCH", "/_sim/settings", settings).status == 200)
        }
        return world
    }

    package func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method, path, bytes: body.map { try WireJSON.encode($0) }, token: token,
            headers: (body == nil ? [:] : ["Content-Type": "application/json"]).merging(headers) { $1 })
    }

    package func send(
        _ method: String, _ path: String, bytes: Data?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        let answer = try await sendUnchecked(method, path, bytes: bytes, token: token, headers: headers)
        let target = self.path + path
        for problem in Contract.shared.problems(method, target, request: bytes, answer) {
            Issue.record("\(method) \(target) \(answer.status) departs from openapi/entrupy-sim.yaml: \(problem)")
        }
        return answer
    }

    /// Sends a request whose answer need not fit the description.
    package func sendUnchecked(
        _ method: String, _ path: String, bytes: Data? = nil, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var fields = HTTPHeaders(self.headers.merging(headers) { $1 }.map { ($0.key, $0.value) })
        if let token { fields.add(name: "Authorization", value: "Token \(token)") }
        return try await transport(method, base + path, fields, bytes)
    }

    /// Sends a text in YAML.
    package func send(_ method: String, _ path: String, yaml: String) async throws -> Answer {
        try await send(
            method, path, bytes: Data(yaml.utf8), headers: ["Content-Type": "application/yaml"])
    }

    // MARK: The usual steps

    package static let apiToken = "demo-api-token"
    package static let nike: JSONValue = [
        "brand": "Nike", "style_name": "Air Jordan 1 Retro High OG SP", "us_size": "9.5", "upc": "00195244532483",
        "style_code": "d07097-100", "customer_item_id": "sku-xyz",
    ]

    package func authorize(
        _ user: String = "example-user-id", token: String = apiToken, _ more: JSONObject = [:]
    ) async throws -> Answer {
        var body: JSONObject = [
            "sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": .string(user),
            "email": "user@entrupy-customer.com",
        ]
        body = body.merging(more) { $1 }
        return try await send("POST", "/v2/integrations/authorize-user", .object(body), token: token)
    }

    /// A new signed request.
    package func signedRequest(_ user: String = "example-user-id", token: String = apiToken) async throws -> JSONValue {
        let answer = try await authorize(user, token: token)
        try #require(answer.status == 200)
        return answer["signed_authorization_request"]
    }

    package func login(_ user: String = "example-user-id", token: String = apiToken) async throws -> String {
        let signed = try await signedRequest(user, token: token)
        let answer = try await send("POST", "/sdk/login", ["signed_authorization_request": signed])
        try #require(answer.status == 200)
        return try #require(answer["token"].text)
    }

    /// Starts a capture and returns its id and its regions.
    package func startCapture(
        _ session: String, item: JSONValue = nike, type: String = "production"
    ) async throws -> (id: String, regions: [String]) {
        let answer = try await send(
            "POST", "/sdk/captures", ["config_type": .string(type), "item": item], token: session)
        try #require(answer.status == 201, "\(answer.json)")
        let regions = answer["steps"].items.compactMap { $0["region_id"].text }
        try #require(!regions.isEmpty, "\(answer.json)")
        return (try #require(answer["capture_id"].text), regions)
    }

    package func upload(_ capture: String, _ region: String, _ session: String, _ image: Data = picture) async throws
        -> Answer
    {
        try await send(
            "PUT", "/sdk/captures/\(capture)/images/\(region)", bytes: image, token: session,
            headers: ["Content-Type": "image/jpeg"])
    }

    /// A capture with all images, ready for submission.
    package func readyCapture(_ session: String, item: JSONValue = nike, type: String = "production") async throws
        -> String
    {
        let capture = try await startCapture(session, item: item, type: type)
        for region in capture.regions {
            try #require(try await upload(capture.id, region, session).status == 200)
        }
        return capture.id
    }

    /// Takes an item from capture to submission and returns its `entrupy_id`.
    package func submit(_ session: String, item: JSONValue = nike, type: String = "production") async throws -> String {
        let capture = try await readyCapture(session, item: item, type: type)
        let answer = try await send("POST", "/sdk/captures/\(capture)/submit", token: session)
        try #require(answer.status == 200, "\(answer.json)")
        return try #require(answer["entrupy_id"].text)
    }

    package func result(_ id: String, _ session: String) async throws -> Answer {
        try await send("GET", "/sdk/results/\(id)", token: session)
    }

    @discardableResult package func advance(_ by: String) async throws -> Answer {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": .string(by)])
        try #require(answer.status == 200, "\(answer.json)")
        return answer
    }

    /// The numbers of objects in the namespace, to check that nothing was stored.
    package func counts() async throws -> JSONValue {
        try await send("GET", "/_sim/info")["namespace.counts"]
    }

    /// The root of the repository.
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The image that the walk-through uploads.
    package static let picture = try! Data(contentsOf: root.appendingPathComponent("demo/sneaker.jpg"))

    // MARK: Webhooks

    @discardableResult package func subscribe(
        url: String, version: String = "v2", _ more: JSONObject = [:], token: String = TestWorld.apiToken
    ) async throws -> String {
        let plain: JSONObject = ["url": .string(url), "secret_key": "s3crét"]
        let answer = try await send(
            "POST", "/\(version)/webhooks", .object(plain.merging(more) { $1 }), token: token,
            headers: ["Api-Version": "1.3"])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    /// The id of a new item.
    @discardableResult package func generatedItem(_ template: JSONObject = [:]) async throws -> String {
        let answer = try await send("POST", "/_sim/authentications", .object(template))
        return try #require(answer["entrupy_ids.0"].text)
    }

    /// Waits until no attempt is in progress.
    package func settleWebhooks() async throws {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": "0s", "max_wall": "10m"])
        try #require(answer["reached"] == true, "\(answer.json)")
    }

    /// The deliveries, the oldest first.
    package func webhookDeliveries() async throws -> [JSONValue] {
        try await send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items.reversed()
    }
}
