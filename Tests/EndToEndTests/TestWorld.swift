import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import Synchronization
import TestSupport
import Testing

/// An answer of the server.
struct Answer: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: Data
    /// The body as JSON, `.null` if it is not JSON.
    let json: JSONValue

    init(status: Int, headers: HTTPHeaders, body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
        json = (try? WireJSON.decode(JSONValue.self, from: body)) ?? .null
    }

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(path: String) -> JSONValue { json[path] }
}

extension JSONValue {
    /// The value as a whole number; `nil` if it is not one.
    var integer: Int? { if case .number(let number) = self { number.integer } else { nil } }
}

extension OutgoingClient {
    /// A client for tests. A test on a busy machine may not read for a while, and does not check how long an answer takes.
    static let patient = OutgoingClient(connectTimeout: .minutes(10))

    /// The whole answer, from a server that is slow because the machine is busy.
    func whole(
        _ request: OutgoingRequest, within time: TimeAmount = .minutes(10)
    ) async throws -> (status: Int, headers: HTTPHeaders, body: Data) {
        let answer = try await fetch(request, deadline: .now() + time, upTo: 100_000_000)
        return (answer.status, answer.headers, Data(answer.body.readableBytesView))
    }
}

/// A namespace for one test, with a frozen clock, and requests to it.
struct TestWorld: Sendable {
    let base: String
    /// The headers that every request has besides its own.
    var headers: [String: String] = [:]

    static let morning = "2026-01-05T09:00:00Z"
    /// `morning` in epoch seconds.
    static let epoch = 1_767_603_600.0
    private static let made = Mutex(0)

    /// Makes a namespace in a server, by default the shared one.
    static func make(
        in server: SimProcess = .shared, seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        let number = made.withLock { count in
            count += 1
            return count
        }
        let name = "t\(number)-\(getpid())"
        let root = TestWorld(base: server.baseURL)
        let answer = try await root.send(
            "PUT", "/_sim/namespaces/\(name)",
            [
                "seed": seed, "random_seed": .number(JSONNumber(randomSeed)), "clock": ["freeze": .string(morning)],
            ])
        try #require(answer.status == 201)
        let world = TestWorld(base: "\(server.baseURL)/ns/\(name)")
        if let settings {
            try #require(try await world.send("PATCH", "/_sim/settings", settings).status == 200)
        }
        return world
    }

    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method, path, bytes: body.map { try WireJSON.encode($0) }, token: token,
            headers: (body == nil ? [:] : ["Content-Type": "application/json"]).merging(headers) { $1 })
    }

    func send(
        _ method: String, _ path: String, bytes: Data?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = try OutgoingRequest(HTTPMethod(rawValue: method), base + path)
        for (name, value) in self.headers.merging(headers, uniquingKeysWith: { $1 }) {
            request.headers.add(name: name, value: value)
        }
        if let token { request.headers.add(name: "Authorization", value: "Token \(token)") }
        if let bytes { request.body = .bytes(ByteBuffer(bytes: bytes)) }
        let response = try await OutgoingClient.patient.whole(request)
        let answer = Answer(status: response.status, headers: response.headers, body: response.body)
        let target = String(base.dropFirst("http://".count).drop { $0 != "/" }) + path
        for problem in Contract.shared.problems(method, target, request: bytes, answer) {
            Issue.record("\(method) \(target) \(answer.status) departs from openapi/entrupy-sim.yaml: \(problem)")
        }
        return answer
    }

    // MARK: The usual steps

    static let apiToken = "demo-api-token"
    static let nike: JSONValue = [
        "brand": "Nike", "style_name": "Air Jordan 1 Retro High OG SP", "us_size": "9.5", "upc": "00195244532483",
        "style_code": "d07097-100", "customer_item_id": "sku-xyz",
    ]

    func authorize(
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
    func signedRequest(_ user: String = "example-user-id", token: String = apiToken) async throws -> JSONValue {
        let answer = try await authorize(user, token: token)
        try #require(answer.status == 200)
        return answer["signed_authorization_request"]
    }

    func login(_ user: String = "example-user-id", token: String = apiToken) async throws -> String {
        let signed = try await signedRequest(user, token: token)
        let answer = try await send("POST", "/sdk/login", ["signed_authorization_request": signed])
        try #require(answer.status == 200)
        return try #require(answer["token"].text)
    }

    /// Starts a capture and returns its id and its regions.
    func startCapture(
        _ session: String, item: JSONValue = nike, type: String = "production"
    ) async throws -> (id: String, regions: [String]) {
        let answer = try await send(
            "POST", "/sdk/captures", ["config_type": .string(type), "item": item], token: session)
        try #require(answer.status == 201, "\(answer.json)")
        let regions = answer["steps"].items.compactMap { $0["region_id"].text }
        try #require(!regions.isEmpty, "\(answer.json)")
        return (try #require(answer["capture_id"].text), regions)
    }

    func upload(_ capture: String, _ region: String, _ session: String, _ image: Data = picture) async throws -> Answer
    {
        try await send(
            "PUT", "/sdk/captures/\(capture)/images/\(region)", bytes: image, token: session,
            headers: ["Content-Type": "image/jpeg"])
    }

    /// A capture with all images, ready for submission.
    func readyCapture(_ session: String, item: JSONValue = nike, type: String = "production") async throws -> String {
        let capture = try await startCapture(session, item: item, type: type)
        for region in capture.regions {
            try #require(try await upload(capture.id, region, session).status == 200)
        }
        return capture.id
    }

    /// Takes an item from capture to submission and returns its `entrupy_id`.
    func submit(_ session: String, item: JSONValue = nike, type: String = "production") async throws -> String {
        let capture = try await readyCapture(session, item: item, type: type)
        let answer = try await send("POST", "/sdk/captures/\(capture)/submit", token: session)
        try #require(answer.status == 200, "\(answer.json)")
        return try #require(answer["entrupy_id"].text)
    }

    func result(_ id: String, _ session: String) async throws -> Answer {
        try await send("GET", "/sdk/results/\(id)", token: session)
    }

    @discardableResult func advance(_ by: String) async throws -> Answer {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": .string(by)])
        try #require(answer.status == 200, "\(answer.json)")
        return answer
    }

    /// The numbers of objects in the namespace, to check that nothing was stored.
    func counts() async throws -> JSONValue {
        try await send("GET", "/_sim/info")["namespace.counts"]
    }

    /// The root of the repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The image that the walk-through uploads.
    static let picture = try! Data(contentsOf: root.appendingPathComponent("demo/sneaker.jpg"))
}
