import Foundation
import NIOHTTP1
import SimulationAPI
import Testing

/// The checkout that the tests were compiled in.
package enum Checkout {
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}

/// A client of a namespace of its own, with the steps that most tests take. Tests of HTTP ask a process over sockets; the others ask a server
/// in their own process, without a connection.
package protocol PlatformClient: Sendable {
    /// Sends a request as it is.
    func exchange(_ method: String, _ path: String, bytes: Data?, headers: [(name: String, value: String)]) async throws
        -> HTTPAnswer

    /// The part of the path in front of that of each request, such as `/ns/t1`.
    var prefix: String { get }

    /// The headers that every request has besides its own.
    var headers: [String: String] { get }
}

extension PlatformClient {
    package func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        try await send(
            method, path, bytes: body.map { try WireJSON.encode($0) }, token: token,
            headers: (body == nil ? [:] : ["Content-Type": "application/json"]).merging(headers) { $1 })
    }

    /// Sends a request, and records each departure of its answer from the description.
    package func send(
        _ method: String, _ path: String, bytes: Data?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        var fields = self.headers.merging(headers, uniquingKeysWith: { $1 }).map { (name: $0.key, value: $0.value) }
        if let token { fields.append((name: "Authorization", value: "Token \(token)")) }
        let answer = try await exchange(method, path, bytes: bytes, headers: fields)
        let target = prefix + path
        for problem in Contract.shared.problems(method, target, request: bytes, answer) {
            Issue.record("\(method) \(target) \(answer.status) departs from openapi/entrupy-sim.yaml: \(problem)")
        }
        return answer
    }

    // MARK: A namespace for one test

    /// The moment at which the clocks of tests are frozen, as text and in epoch seconds.
    package static var morning: String { "2026-01-05T09:00:00Z" }
    package static var epoch: Double { 1_767_603_600 }

    /// Makes a namespace with a frozen clock, and changes its settings; this client asks the server's root.
    package func makeNamespace(
        _ name: String, seed: JSONValue, randomSeed: Int, settings: JSONValue?
    ) async throws {
        let made = try await send(
            "PUT", "/_sim/namespaces/\(name)",
            [
                "seed": seed, "random_seed": .number(JSONNumber(randomSeed)),
                "clock": ["freeze": .string(Self.morning)],
            ])
        try #require(made.status == 201)
        guard let settings else { return }
        try #require(try await send("PATCH", "/ns/\(name)/_sim/settings", settings).status == 200)
    }

    // MARK: The usual steps

    package static var apiToken: String { "demo-api-token" }
    package static var nike: JSONValue {
        [
            "brand": "Nike", "style_name": "Air Jordan 1 Retro High OG SP", "us_size": "9.5", "upc": "00195244532483",
            "style_code": "d07097-100", "customer_item_id": "sku-xyz",
        ]
    }

    package func authorize(
        _ user: String = "example-user-id", token: String = apiToken, _ more: JSONObject = [:]
    ) async throws -> HTTPAnswer {
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
        -> HTTPAnswer
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

    package func result(_ id: String, _ session: String) async throws -> HTTPAnswer {
        try await send("GET", "/sdk/results/\(id)", token: session)
    }

    @discardableResult package func advance(_ by: String) async throws -> HTTPAnswer {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": .string(by)])
        try #require(answer.status == 200, "\(answer.json)")
        return answer
    }

    /// The numbers of objects in the namespace, to check that nothing was stored.
    package func counts() async throws -> JSONValue {
        try await send("GET", "/_sim/info")["namespace.counts"]
    }

    /// The image that the walk-through uploads.
    package static var picture: Data { Pictures.walkThrough }
}

private enum Pictures {
    package static let walkThrough = try! Data(contentsOf: Checkout.root.appendingPathComponent("demo/sneaker.jpg"))
}
