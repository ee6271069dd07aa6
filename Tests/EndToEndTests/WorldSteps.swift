import Foundation
import NIOHTTP1
import SimulationAPI
import TestSupport
import Testing

/// An answer of the server, whole.
struct ReceivedAnswer: Sendable {
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

/// A namespace for one test, and requests to it: over HTTP (`TestWorld`), or in this process (`HeldWorld`).
protocol WorldSteps: Sendable {
    /// The URL of the namespace.
    var base: String { get }
    /// The headers that every request has besides its own.
    var headers: [String: String] { get set }

    func send(
        _ method: String, _ path: String, bytes: Data?, token: String?, headers: [String: String]
    ) async throws -> ReceivedAnswer
}

/// The picture of the demo.
private let sneaker = try! Data(
    contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("demo/sneaker.jpg"))

extension WorldSteps {
    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> ReceivedAnswer {
        try await send(
            method, path, bytes: body.map { try WireJSON.encode($0) }, token: token,
            headers: (body == nil ? [:] : ["Content-Type": "application/json"]).merging(headers) { $1 })
    }

    // MARK: The usual steps

    static var apiToken: String { "demo-api-token" }
    static var nike: JSONValue {
        [
            "brand": "Nike", "style_name": "Air Jordan 1 Retro High OG SP", "us_size": "9.5", "upc": "00195244532483",
            "style_code": "d07097-100", "customer_item_id": "sku-xyz",
        ]
    }
    /// The image that the walk-through uploads.
    static var picture: Data { sneaker }

    func authorize(
        _ user: String = "example-user-id", token: String = Self.apiToken, _ more: JSONObject = [:]
    ) async throws -> ReceivedAnswer {
        var body: JSONObject = [
            "sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": .string(user),
            "email": "user@entrupy-customer.com",
        ]
        body = body.merging(more) { $1 }
        return try await send("POST", "/v2/integrations/authorize-user", .object(body), token: token)
    }

    /// A new signed request.
    func signedRequest(_ user: String = "example-user-id", token: String = Self.apiToken) async throws -> JSONValue {
        let answer = try await authorize(user, token: token)
        try #require(answer.status == 200)
        return answer["signed_authorization_request"]
    }

    func login(_ user: String = "example-user-id", token: String = Self.apiToken) async throws -> String {
        let signed = try await signedRequest(user, token: token)
        let answer = try await send("POST", "/sdk/login", ["signed_authorization_request": signed])
        try #require(answer.status == 200)
        return try #require(answer["token"].text)
    }

    /// Starts a capture and returns its id and its regions.
    func startCapture(
        _ session: String, item: JSONValue = Self.nike, type: String = "production"
    ) async throws -> (id: String, regions: [String]) {
        let answer = try await send(
            "POST", "/sdk/captures", ["config_type": .string(type), "item": item], token: session)
        try #require(answer.status == 201, "\(answer.json)")
        let regions = answer["steps"].items.compactMap { $0["region_id"].text }
        try #require(!regions.isEmpty, "\(answer.json)")
        return (try #require(answer["capture_id"].text), regions)
    }

    func upload(_ capture: String, _ region: String, _ session: String, _ image: Data = Self.picture) async throws
        -> ReceivedAnswer
    {
        try await send(
            "PUT", "/sdk/captures/\(capture)/images/\(region)", bytes: image, token: session,
            headers: ["Content-Type": "image/jpeg"])
    }

    /// A capture with all images, ready for submission.
    func readyCapture(_ session: String, item: JSONValue = Self.nike, type: String = "production") async throws
        -> String
    {
        let capture = try await startCapture(session, item: item, type: type)
        for region in capture.regions {
            try #require(try await upload(capture.id, region, session).status == 200)
        }
        return capture.id
    }

    /// Takes an item from capture to submission and returns its `entrupy_id`.
    func submit(_ session: String, item: JSONValue = Self.nike, type: String = "production") async throws -> String {
        let capture = try await readyCapture(session, item: item, type: type)
        let answer = try await send("POST", "/sdk/captures/\(capture)/submit", token: session)
        try #require(answer.status == 200, "\(answer.json)")
        return try #require(answer["entrupy_id"].text)
    }

    func result(_ id: String, _ session: String) async throws -> ReceivedAnswer {
        try await send("GET", "/sdk/results/\(id)", token: session)
    }

    @discardableResult func advance(_ by: String) async throws -> ReceivedAnswer {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": .string(by)])
        try #require(answer.status == 200, "\(answer.json)")
        return answer
    }

    /// The numbers of objects in the namespace, to check that nothing was stored.
    func counts() async throws -> JSONValue {
        try await send("GET", "/_sim/info")["namespace.counts"]
    }

    // MARK: What the simulator knows

    func audit(_ query: String = "") async throws -> AuditReport {
        let answer = try await send("GET", "/_sim/audit\(query)")
        try #require(answer.status == 200, "\(answer.json)")
        return try WireJSON.decode(AuditReport.self, from: answer.body)
    }

    /// The findings of a rule.
    func findings(_ rule: String) async throws -> [AuditReport.Finding] { try await audit("?rule=\(rule)").findings }

    /// The number of the newest request.
    func lastRequest() async throws -> Int64 {
        let answer = try await send("GET", "/_sim/requests?limit=1")
        return Int64(try #require(answer["requests.0.sequence"].integer))
    }

    /// The coverage of the namespace.
    func coverage() async throws -> Coverage {
        let answer = try await send("GET", "/_sim/coverage")
        try #require(answer.status == 200, "\(answer.json)")
        return try WireJSON.decode(Coverage.self, from: answer.body)
    }

    /// An edge of the namespace's coverage.
    func edge(_ axis: String, _ id: String) async throws -> Coverage.Edge {
        try #require(try await coverage().edge(axis, id), "there is no edge \(axis): \(id)")
    }

    /// The explanation of an object, in which each step must come once, and after those that it follows from.
    func explain(_ id: String) async throws -> Explanation {
        let answer = try await send("GET", "/_sim/explain/\(id)")
        try #require(answer.status == 200, "\(answer.json)")
        let explanation = try WireJSON.decode(Explanation.self, from: answer.body)
        var before: Set<String> = []
        for step in explanation.steps {
            #expect(before.isSuperset(of: step.causes), "\(step.id) comes before what it follows from")
            #expect(before.insert(step.id).inserted, "\(step.id) is there twice")
        }
        return explanation
    }

    // MARK: Webhooks and items

    @discardableResult func subscribe(
        url: String, version: String = "v2", _ more: JSONObject = [:], token: String = Self.apiToken
    ) async throws -> String {
        let plain: JSONObject = ["url": .string(url), "secret_key": "s3crét"]
        let answer = try await send(
            "POST", "/\(version)/webhooks", .object(plain.merging(more) { $1 }), token: token,
            headers: ["Api-Version": "1.3"])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    /// The id of a new item.
    @discardableResult func generatedItem(_ template: JSONObject = [:]) async throws -> String {
        let answer = try await send("POST", "/_sim/authentications", .object(template))
        return try #require(answer["entrupy_ids.0"].text)
    }
}
