import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The fact behind a 403, 404 or 409: the journal has it, the caller does not.
@Suite struct RefusalTests {
    static let other = "other-api-token"
    private static let statuses = [403, 404, 409]

    /// The refusals of a namespace, with the facts that the journal has of them.
    struct Refusals {
        let world: TestWorld
        /// The refused operations with their status, `POST /sdk/login 403`.
        var met: Set<String> = []

        /// Sends a request that a rule must refuse, and checks what the journal and the answer have of the reason.
        mutating func refuse(
            _ status: Int, _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
            bytes: Data? = nil, headers: [String: String] = [:], saying text: String
        ) async throws {
            let answer =
                if let bytes {
                    try await world.send(method, path, bytes: bytes, token: token, headers: headers)
                } else { try await world.send(method, path, body, token: token, headers: headers) }
            let name = Contract.shared.operation(method, path)?.name ?? path
            try #require(answer.status == status, "\(name): \(answer.status) \(answer.json)")
            let id = try #require(answer.headers.first(name: "X-Request-Id"))
            let entry = try await world.send("GET", "/_sim/requests/\(id)")
            let because = entry["because"].text ?? ""
            #expect(because.contains(text), "\(name) \(status): because \(because)")
            #expect(because.unicodeScalars.count <= 400)
            let whole = "\(answer.text) \(answer.headers)"
            #expect(because.isEmpty || !whole.contains(because), "\(name) \(status) tells the caller: \(because)")
            #expect(answer["because"] == .null && !answer.text.contains("\"because\""))
            met.insert("\(name) \(status)")
        }
    }

    func world(_ settings: JSONObject = [:]) async throws -> TestWorld {
        try await TestWorld.make(
            settings: .object(settings.merging(["rate_limits": "off"]) { $1 }))
    }

    // MARK: Every route

    /// Each route of the platforms whose description has a 409, each whose path names an object, and each that may refuse a known
    /// caller has a fact for it. A new one fails here until it is tried.
    @Test func everyRefusalOfThePlatformsHasAFact() async throws {
        var met: Set<String> = []
        for part in [
            sessions, captures, results, partner, webhooks, certificates, componentSessions, components, componentFiles,
        ] {
            met.formUnion(try await part())
        }
        let missing = Self.expected().subtracting(met).sorted()
        #expect(missing == [], "no refusal was tried for \(missing.joined(separator: ", "))")
    }

    /// The routes that refuse a known caller, besides those of a session that the platform ended.
    private static let forbidding = [
        "POST /sdk/login", "POST /login", "POST /sdk/captures", "PUT /sdk/results/{entrupy_id}/flag",
        "POST /partner/authorize-entrupy-sdk-user", "POST /components/v1/workflows/{workflowId}/validationcode",
        "POST /components/sessions", "POST /components/sessions/{id}/document/finish",
        "POST /components/sessions/{id}/biometrics/finish",
    ]

    private static func expected() -> Set<String> {
        var wanted = Set(forbidding.map { "\($0) 403" })
        for operation in Contract.shared.operations where !operation.path.hasPrefix("/_sim") {
            let described = Set((operation.description["responses"].members ?? [:]).keys)
            if described.contains("409") { wanted.insert("\(operation.name) 409") }
            let path = operation.path
            // A session of App Components that does not exist is a 401; only the files of one may be missing.
            let isSession =
                path.hasPrefix("/components/sessions") && (operation.method != "GET" || path.hasSuffix("{id}"))
            if path.contains("{") && !isSession || path.hasSuffix("/liveness") && operation.method == "GET" {
                wanted.insert("\(operation.name) 404")
            }
            if path.hasPrefix("/sdk/"), path != "/sdk/login" { wanted.insert("\(operation.name) 403") }
        }
        return wanted
    }

    // MARK: All routes

    @Test func unknownRoutesAndFaultsHaveAFactAndOtherAnswersHaveNone() async throws {
        var tried = Refusals(world: try await world())
        let world = tried.world
        try await tried.refuse(
            404, "GET", "/sdk/sesion", saying: "no route has this path; the nearest is GET /sdk/session")
        for status in [403, 404, 409, 400, 500] {
            let rule = try await world.send(
                "POST", "/_sim/faults",
                ["match": ["route": "/sdk/session"], "effect": ["status": .number(JSONNumber(status))], "times": 1])
            guard Self.statuses.contains(status) else { continue }
            try await tried.refuse(
                status, "GET", "/sdk/session", saying: "the fault rule \(rule["id"].text ?? "?") answers \(status)")
        }
        for status in [400, 500, 401] {
            #expect(try await world.send("GET", "/sdk/session").status == status)
        }
        let list = try await world.send("GET", "/_sim/requests?route=/sdk/session")["requests"].items
        for entry in list where !Self.statuses.contains(entry["status"].integer ?? 0) {
            #expect(entry["because"] == .null && entry.members?.keys.contains("because") == true)
        }
        #expect(list.count == 6)
    }

    /// A fact may quote what a client sent. Secrets in it are masked, and it is cut.
    @Test func aFactIsMaskedAndCut() async throws {
        let world = try await world()
        let long = String(repeating: "é", count: 100)
        let names: JSONObject = ["first_name": .string(long), "last_name": "x"]
        try #require(try await world.authorize("user-of-a", names).status == 200)
        let second: JSONObject = [
            "email": .string("\(String(repeating: "e", count: 60))@example.com"), "first_name": .string("\(long)"),
            "last_name": .string(String(long.dropLast()) + "y"),
        ]
        for more in [second, ["last_name": .string(TestWorld.apiToken)]] {
            #expect(try await world.authorize("user-of-a", more).status == 409)
        }
        let entries = try await world.send("GET", "/_sim/requests?status=409")
        let facts = entries["requests"].items.compactMap { $0["because"].text }
        #expect(facts.count == 2 && facts.someAndAll { $0.contains("DemoOrg-user-of-a") })
        #expect(!"\(entries.text)".contains(TestWorld.apiToken))
        #expect(facts[0].contains("this request gives \"***\""), "\(facts)")
        #expect(facts.someAndAll { $0.unicodeScalars.count <= 400 })
    }
}
