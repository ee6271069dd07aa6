import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Sends every mutation of every parameter. Each must get a 4xx that names the field, and store nothing.
@Suite struct BadInputTests {
    /// A JSON route, a body that it accepts, and wrong values for each of its parameters.
    struct Route: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let good: JSONValue
        let parameters: [Parameter]
        var caller = Caller.session

        enum Caller: Sendable {
            case organization, session, nobody
        }

        var testDescription: String { "\(method) \(path)" }
    }

    struct Parameter: Sendable {
        let path: String
        let isRequired: Bool
        /// Values of a wrong type or outside the parameter's range.
        let wrong: [JSONValue]
    }

    private static func text(
        _ path: String, required: Bool = false, limit: String? = nil, emptyIsFine: Bool = false, wrong: [JSONValue] = []
    ) -> Parameter {
        var values: [JSONValue] = [1, true, [], [:], ["x"], "a\u{0}b"] + wrong
        if let limit { values.append(.string(limit)) }
        if !emptyIsFine { values.append("") }
        return Parameter(path: path, isRequired: required, wrong: values)
    }

    private static let long = String(repeating: "é", count: 5001)

    static let routes: [Route] = [
        Route(
            method: "POST", path: "/v2/integrations/authorize-user",
            good: ["sdk_authorization_request": "r", "unique_user_id": "bad-input-user", "email": "a@b"],
            parameters: [
                text("sdk_authorization_request", required: true, limit: long),
                text(
                    "unique_user_id", required: true, limit: String(repeating: "a", count: 41),
                    wrong: ["short", "with space 1"]),
                text(
                    "email", required: true, limit: String(repeating: "é", count: 127) + "@b",
                    wrong: ["ab", "@b", "a@"]),
                text("first_name", limit: String(repeating: "é", count: 128), emptyIsFine: true),
                text("last_name", limit: String(repeating: "é", count: 128), emptyIsFine: true),
            ], caller: .organization),
        Route(
            method: "POST", path: "/sdk/login", good: ["signed_authorization_request": "x"],
            parameters: [text("signed_authorization_request", required: true), text("bundle_id", limit: long)],
            caller: .nobody),
        Route(
            method: "POST", path: "/sdk/captures", good: ["item": TestWorld.nike],
            parameters: [
                Parameter(path: "item", isRequired: true, wrong: [1, "x", [], true]),
                text("config_type", limit: "prod", wrong: ["PRODUCTION"]),
                text("item.brand", required: true, limit: long), text("item.style_name", required: true, limit: long),
                text("item.product_category", limit: "cars", emptyIsFine: true),
                text("item.style_code", limit: long, emptyIsFine: true),
                text("item.item_type", limit: long, emptyIsFine: true),
                text("item.material", limit: long, emptyIsFine: true),
                text(
                    "item.customer_item_id", limit: String(repeating: "é", count: 257), emptyIsFine: true,
                    wrong: ["sim-unknown-after-1.2.3h"]),
                Parameter(path: "item.us_size", isRequired: false, wrong: [true, [], [:], .string(long), "a\u{0}b"]),
                Parameter(path: "item.upc", isRequired: false, wrong: [true, [], [:], .string(long), "a\u{0}b"]),
            ]),
        Route(
            method: "PUT", path: "/sdk/results/ITEM/flag", good: ["flag": true],
            parameters: [
                Parameter(path: "flag", isRequired: true, wrong: [1, "true", [], [:]]),
                text("flag_reason_id", limit: "nonsense"), text("message", limit: long, emptyIsFine: true),
            ]),
        Route(
            method: "PATCH", path: "/_sim/authentications/ITEM", good: ["result": "unknown"],
            parameters: [
                text("result", limit: "real"), text("reason", limit: "nonsense"),
                text("flag", limit: long, wrong: ["A B"]),
            ], caller: .nobody),
        Route(
            method: "POST", path: "/_sim/authentications/ITEM/flag/resolve", good: ["note": "n"],
            parameters: [text("note", required: true, limit: long), text("result", limit: "real")], caller: .nobody),
        Route(
            method: "PATCH", path: "/_sim/settings", good: ["quota": 1],
            parameters: [
                Parameter(path: "quota", isRequired: false, wrong: [-1, 1.5, "1", true, []]),
                Parameter(path: "capture_timeout", isRequired: false, wrong: ["2", "-1s", 0, true, [], "101d1"]),
                Parameter(path: "rate_limits", isRequired: false, wrong: ["fast", 1, true, []]),
                Parameter(path: "result.delay", isRequired: false, wrong: ["2h30", -1, true]),
                Parameter(path: "result.default", isRequired: false, wrong: ["real", 1]),
            ], caller: .nobody),
    ]

    /// A namespace with a user, a session and an item that can be flagged.
    private func prepared() async throws -> (world: TestWorld, session: String, item: String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        var item = TestWorld.nike.members!
        item["customer_item_id"] = "sim-authentic-after-0s"
        return (world, session, try await world.submit(session, item: .object(item)))
    }

    private func token(_ route: Route, _ session: String) -> String? {
        switch route.caller {
        case .organization: TestWorld.apiToken
        case .session: session
        case .nobody: nil
        }
    }

    @Test(arguments: routes) func everyMutationOfEveryParameterIsNamedAndStoresNothing(route: Route) async throws {
        let (world, session, item) = try await prepared()
        let path = route.path.replacingOccurrences(of: "ITEM", with: item)
        let before = try await world.counts()
        let settings = try await world.send("GET", "/_sim/settings").body
        for parameter in route.parameters {
            var bodies = parameter.wrong.map { route.good.setting(parameter.path, to: $0) }
            if parameter.isRequired {
                bodies.append(route.good.setting(parameter.path, to: nil))
                bodies.append(route.good.setting(parameter.path, to: .null))
            }
            for body in bodies {
                let answer = try await world.send(route.method, path, body, token: token(route, session))
                #expect(answer.status == 400, "\(parameter.path): \(body)")
                let fields = answer["details"].items.compactMap { $0["field"].text }
                #expect(fields.contains(parameter.path), "\(parameter.path): \(answer.json)")
                #expect(answer["code"] == "bad_request")
                #expect(answer["error"].text?.isEmpty == false)
            }
        }
        #expect(try await world.counts() == before)
        #expect(try await world.send("GET", "/_sim/settings").body == settings)
    }

    @Test(arguments: routes) func aBodyThatIsNotAJSONObjectIsRefusedAndExplained(route: Route) async throws {
        let (world, session, item) = try await prepared()
        let path = route.path.replacingOccurrences(of: "ITEM", with: item)
        let before = try await world.counts()
        let good = String(decoding: try WireJSON.encode(route.good), as: UTF8.self)
        let key = route.good.members!.keys.min()!
        let bodies: [(Data, String)] = [
            (Data(), "empty"), (Data("[]".utf8), "object"), (Data("null".utf8), "object"),
            (Data("\"x\"".utf8), "object"),
            (Data(good.dropLast().utf8), "line 1"), (Data((good.dropLast() + ",}").utf8), "line 1"),
            (Data("{\"\(key)\": 1, \"\(key)\": 1}".utf8), "twice"), (Data("{\"\(key)\": 1e400}".utf8), "line 1"),
            (Data((String(repeating: "[", count: 100_000)).utf8), "64"),
            (Data("{\n\"\(key)\": \"".utf8) + [0xff, 0xfe] + Data("\"}".utf8), "line 2"),
            (Data([0xef, 0xbb, 0xbf]) + Data(good.utf8), "byte order mark"), (Data([0, 1, 2, 0xff]), "UTF-8"),
        ]
        for (body, words) in bodies {
            let answer = try await world.send(
                route.method, path, bytes: body, token: token(route, session),
                headers: ["Content-Type": "application/json"])
            #expect(answer.status == 400, "\(words)")
            #expect(answer["error"].text?.contains(words) == true, "\(words): \(answer.json)")
        }
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "x"] {
            let answer = try await world.send(
                route.method, path, bytes: Data(good.utf8), token: token(route, session),
                headers: ["Content-Type": type])
            #expect(answer.status == 415, "\(type)")
        }
        #expect(try await world.counts() == before)
    }

    @Test(arguments: routes) func aBodyOfFiftyMegabytesIsRefused(route: Route) async throws {
        let (world, session, item) = try await prepared()
        let path = route.path.replacingOccurrences(of: "ITEM", with: item)
        let large = Data(repeating: UInt8(ascii: " "), count: 50_000_000)
        let answer = try await world.send(
            route.method, path, bytes: large, token: token(route, session),
            headers: ["Content-Type": "application/json"])
        #expect(answer.status == 413)
        #expect(answer["code"] == "payload_too_large")
    }

    @Test func aBodyThatIsNotNeededMayNotBeTooLarge() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let large = Data(repeating: UInt8(ascii: " "), count: 1_000_001)
        let refused = try await world.send("POST", "/sdk/logout", bytes: large, token: token)
        #expect(refused.status == 413 && refused["code"] == "payload_too_large")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200, "nobody was logged out")
        #expect(try await world.send("POST", "/sdk/logout", bytes: large.dropLast(), token: token).status == 204)
    }

    @Test func theVersionIsCheckedBeforeTheBody() async throws {
        let world = try await TestWorld.make()
        let large = Data(repeating: UInt8(ascii: " "), count: 1_100_000)
        for (type, body, status) in [
            ("text/plain", Data("{}".utf8), 415), ("application/json", Data("{".utf8), 400),
            ("application/json", large, 413),
        ] {
            for version in [nil, "1.4"] {
                var headers = ["Content-Type": type]
                headers["Api-Version"] = version
                let answer = try await world.send(
                    "POST", "/v1/search/authentications", bytes: body, token: TestWorld.apiToken, headers: headers)
                #expect(answer.status == (version == nil ? 400 : status))
                #expect((answer["details.0.field"] == "Api-Version") == (version == nil), "\(answer.json)")
            }
        }
    }

    /// Routes, each with the kind of token that it requires.
    static let guarded: [(method: String, path: String, isPartner: Bool)] = [
        ("POST", "/v1/integrations/authorize-user", true), ("POST", "/v2/integrations/authorize-user", true),
        ("GET", "/v1/health", true), ("POST", "/sdk/logout", false), ("GET", "/sdk/session", false),
        ("GET", "/sdk/config", false), ("POST", "/sdk/captures", false), ("GET", "/sdk/captures", false),
        ("GET", "/sdk/captures/x", false), ("PUT", "/sdk/captures/x/images/heel", false),
        ("POST", "/sdk/captures/x/submit", false), ("POST", "/sdk/captures/x/cancel", false),
        ("GET", "/sdk/results/x", false), ("GET", "/sdk/results/x/flag", false), ("PUT", "/sdk/results/x/flag", false),
    ]

    @Test func everyGuardedRouteRefusesEveryWrongToken() async throws {
        let (world, session, _) = try await prepared()
        let elsewhere = try await TestWorld.make(seed: "empty").login("somebody-else")
        let before = try await world.counts()
        for route in Self.guarded {
            let wrong: [String?] = [
                nil, "Token", "Token ", "nope", "Basic ZGVtbzpkZW1v", "Token a b", "Token nope", "Token \(elsewhere)x",
                "Token " + (route.isPartner ? session : TestWorld.apiToken),
                "Token " + String(repeating: "a", count: 10_000),
            ]
            for header in wrong {
                let answer = try await world.send(
                    route.method, route.path, bytes: Data("{broken".utf8),
                    headers: header.map { ["Authorization": $0] } ?? [:])
                #expect(answer.status == 401, "\(route.path) with \(header ?? "no token")")
                #expect(answer["sdk_error"] == "ErrorCodeUnauthorizedAccess")
                #expect(answer["request_id"].text == answer.headers["X-Request-Id"].first)
            }
        }
        #expect(try await world.counts() == before)
    }

    @Test func aWrongMethodIs405WithWhatIsAllowedAndAnUnknownPath404() async throws {
        let world = try await TestWorld.make()
        for route in Self.guarded {
            let answer = try await world.send("DELETE", route.path)
            #expect(answer.status == 405, "\(route.path)")
            #expect(answer.headers["Allow"].first?.contains(route.method) == true)
            #expect(answer["code"] == "method_not_allowed")
        }
        for path in [
            "/start", "/sdk", "/sdk/captures/x/y", "/v3/health", "/sdk/Session", "/images/x/huge", "/_sim/nothing",
        ] {
            let answer = try await world.send("GET", path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer["code"] == "unknown_route" && answer["sdk_error"] == "ErrorCodeSearchItemNotFound")
        }
    }

    @Test func headAnswersWhereverGetDoes() async throws {
        let (world, session, item) = try await prepared()
        for path in [
            "/sdk/session", "/sdk/config", "/sdk/captures", "/sdk/results/\(item)", "/_sim/clock", "/sdk/results/none",
            "/none",
        ] {
            let plain = ["Accept-Encoding": "identity"]
            let get = try await world.send("GET", path, token: session, headers: plain)
            let head = try await world.send("HEAD", path, token: session, headers: plain)
            #expect(head.status == get.status)
            #expect(head.body.isEmpty)
            #expect(head.headers["Content-Length"] == ["\(get.body.count)"], "\(path)")
        }
    }

    @Test func aBodyThatIsNotNeededMayBeAnythingOnThePlatformsRoutes() async throws {
        let (world, session, _) = try await prepared()
        let capture = try await world.readyCapture(session)
        let answer = try await world.send(
            "POST", "/sdk/captures/\(capture)/submit", bytes: Data("a=b".utf8), token: session,
            headers: ["Content-Type": "application/x-www-form-urlencoded"])
        #expect(answer.status == 200)
        #expect(try await world.send("POST", "/_sim/clock/resume", bytes: Data("{".utf8)).status == 400)
    }

    @Test func requestIDsAreEchoedOrGenerated() async throws {
        let world = try await TestWorld.make()
        #expect(
            try await world.send("GET", "/nope", headers: ["X-Request-Id": "run-1.a_B"])["request_id"] == "run-1.a_B")
        for bad in ["a b", String(repeating: "a", count: 129), "a/b"] {
            let id = try await world.send("GET", "/nope", headers: ["X-Request-Id": bad])["request_id"].text
            #expect(id?.hasPrefix("req_") == true)
        }
    }
}

extension JSONValue {
    /// A copy with the value at a path replaced, or removed where `value` is nil.
    fileprivate func setting(_ path: String, to value: JSONValue?) -> JSONValue {
        let keys = path.split(separator: ".", maxSplits: 1).map(String.init)
        var members = self.members ?? [:]
        if keys.count == 1 {
            members[keys[0]] = value
        } else {
            members[keys[0]] = (members[keys[0]] ?? .object([:])).setting(keys[1], to: value)
        }
        return .object(members)
    }
}
