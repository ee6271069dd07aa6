import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The fact behind a 403, 404 or 409: the journal has it, the caller does not.
@Suite struct RefusalTests {
    private static let other = "other-api-token"
    private static let statuses = [403, 404, 409]

    /// What was refused in a namespace, and what the journal says about it.
    private struct Refusals {
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

    private func world(_ settings: JSONObject = [:]) async throws -> TestWorld {
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

    // MARK: Entrupy

    private func sessions() async throws -> Set<String> {
        var tried = Refusals(world: try await world(["session_lifetime": "1h", "sdk": ["ended_session_status": 403]]))
        let world = tried.world
        for path in ["/sdk/login", "/login"] {
            let signed = try await world.signedRequest()
            let body: JSONValue = ["signed_authorization_request": signed]
            try #require(try await world.send("POST", path, body).status == 200)
            try await tried.refuse(403, "POST", path, body, saying: "used for a login at 2026-01-05T09:00:00")
            let fresh = try await world.signedRequest()
            try await tried.refuse(
                403, "POST", path, ["signed_authorization_request": fresh, "bundle_id": "com.example.none"],
                saying: "the bundles of DemoOrg in the seed data do not have com.example.none")
        }
        let session = try await world.login("user-of-a")
        try await world.advance("2h")
        for operation in Contract.shared.operations where operation.path.hasPrefix("/sdk/") {
            guard operation.path != "/sdk/login" else { continue }
            let path = operation.path.replacing(/\{\w+\}/, with: "x")
            let isUpload = path.contains("/images/")
            try await tried.refuse(
                403, operation.method, path, ["GET"].contains(operation.method) || isUpload ? nil : [:], token: session,
                bytes: isUpload ? TestWorld.picture : nil, headers: isUpload ? ["Content-Type": "image/jpeg"] : [:],
                saying: "the session of DemoOrg-user-of-a ended at 2026-01-05T10:00:00.000000Z (expired)")
        }
        return tried.met
    }

    private func captures() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let own = try await world.startCapture(a)
        let foreign = "the capture belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's"
        let image = ["Content-Type": "image/jpeg"]
        let path = "/sdk/captures/\(own.id)"
        let region = "\(path)/images/\(own.regions[0])"
        try await tried.refuse(404, "GET", path, token: b, saying: foreign)
        try await tried.refuse(404, "GET", "/sdk/captures/x", token: b, saying: "the namespace has no capture")
        try await tried.refuse(404, "PUT", region, token: b, bytes: TestWorld.picture, headers: image, saying: foreign)
        try await tried.refuse(
            404, "PUT", "\(path)/images/none", token: a, bytes: TestWorld.picture, headers: image,
            saying: "the workflow of \(own.id)")
        for end in ["submit", "cancel"] {
            try await tried.refuse(404, "POST", "\(path)/\(end)", token: b, saying: foreign)
        }
        try #require(try await world.send("POST", "\(path)/cancel", token: a).status == 200)
        let cancelled = "the capture \(own.id) was cancelled at 2026-01-05T09:00:00"
        for end in ["submit", "cancel"] {
            try await tried.refuse(409, "POST", "\(path)/\(end)", token: a, saying: cancelled)
        }
        try await tried.refuse(
            409, "PUT", region, token: a, bytes: TestWorld.picture, headers: image, saying: cancelled)
        let bag: JSONValue = ["brand": "Gucci", "item_type": "Handbag"]
        let registration = try await world.send(
            "POST", "/sdk/captures", ["item": bag, "activity": "fingerprint_register"], token: a)
        let captureID = registration["capture_id"].text ?? ""
        for step in registration["steps"].items {
            _ = try await world.upload(captureID, step["region_id"].text ?? "", a)
        }
        let item = try await world.send("POST", "/sdk/captures/\(captureID)/submit", token: a)["entrupy_id"]
        let compared: JSONValue = ["item": bag, "activity": "fingerprint_compare", "fingerprint_parent": item]
        try await tried.refuse(
            409, "POST", "/sdk/captures", compared, token: a, saying: "the result of \(item.text ?? "") is")
        try #require(try await world.send("PATCH", "/_sim/settings", ["quota": 1]).status == 200)
        try await tried.refuse(
            403, "POST", "/sdk/captures", ["item": TestWorld.nike], token: a,
            saying: "DemoOrg-user-of-a has submitted 1 items; the setting quota is 1")
        return tried.met
    }

    private func results() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let item = try await world.submit(a)
        let path = "/sdk/results/\(item)"
        try await tried.refuse(
            409, "GET", "\(path)/market-edge", token: a, saying: "the result of \(item) is needs_review, not final")
        let foreign = "the item belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's"
        for part in ["", "/market-edge", "/flag", "/support-messages"] {
            try await tried.refuse(404, "GET", path + part, token: b, saying: foreign)
        }
        try await tried.refuse(404, "GET", "/sdk/results/NONE", token: b, saying: "the namespace has no item")
        try await tried.refuse(404, "PUT", "\(path)/flag", ["flag": true], token: b, saying: foreign)
        try await tried.refuse(404, "POST", "\(path)/retake", token: b, saying: foreign)
        let message: JSONValue = ["message": "yes"]
        try await tried.refuse(404, "POST", "\(path)/support-messages", message, token: b, saying: foreign)
        try await tried.refuse(
            409, "POST", "\(path)/support-messages", message, token: a, saying: "\(item) has no message from support")
        try await tried.refuse(409, "POST", "\(path)/retake", token: a, saying: "support has not asked for new images")
        try await world.advance("1h")
        let flag: JSONValue = ["flag": true]
        try #require(try await world.send("PUT", "\(path)/flag", flag, token: a).status == 200)
        try await tried.refuse(
            409, "PUT", "\(path)/flag", flag, token: a, saying: "the flag of \(item) is flagged since 2026-01-05T10:00")
        let off: JSONValue = ["flagging": ["sdk": false]]
        try #require(try await world.send("PATCH", "/_sim/settings", off).status == 200)
        try await tried.refuse(
            403, "PUT", "\(path)/flag", flag, token: a, saying: "the setting flagging.sdk is false")
        return tried.met
    }

    private func partner() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let item = try await world.submit(try await world.login("user-of-a"))
        let foreign = "the item belongs to DemoOrg; the API token is OtherOrg's"
        let minor = ["Api-Version": "1.4"]
        for version in ["v1", "v2"] {
            try await tried.refuse(
                404, "GET", "/\(version)/authentications/\(item)", token: Self.other, headers: minor, saying: foreign)
            for (value, text) in [
                ("sku-xyz", "the item with this customer_item_id belongs to DemoOrg; the API token is OtherOrg's"),
                (item, "this is the entrupy_id of an item of DemoOrg"), ("none", "no item of the namespace"),
            ] {
                try await tried.refuse(
                    404, "GET", "/\(version)/lookup/authentications/\(value)", token: Self.other, headers: minor,
                    saying: text)
            }
            try await tried.refuse(
                409, "POST", "/\(version)/integrations/authorize-user",
                [
                    "sdk_authorization_request": "x", "unique_user_id": "user-of-a", "email": "second@example.com",
                    "first_name": "Ann",
                ], token: TestWorld.apiToken, headers: minor,
                saying: "DemoOrg-user-of-a was first authorized with email \"user@entrupy-customer.com\"")
        }
        let path = "/v2/authentications/\(item)"
        let reason: JSONValue = ["reason": "r"]
        try await tried.refuse(404, "POST", "\(path)/flag", reason, token: Self.other, saying: foreign)
        try await tried.refuse(404, "DELETE", "\(path)/flag", token: Self.other, saying: foreign)
        let message: JSONValue = ["message": "yes"]
        try await tried.refuse(404, "GET", "\(path)/support-messages", token: Self.other, saying: foreign)
        try await tried.refuse(404, "POST", "\(path)/support-messages", message, token: Self.other, saying: foreign)
        try await tried.refuse(
            409, "POST", "\(path)/support-messages", message, token: TestWorld.apiToken,
            saying: "no message from support")
        try await flags(&tried, item)
        return tried.met
    }

    private func flags(_ tried: inout Refusals, _ item: String) async throws {
        let (world, path) = (tried.world, "/v2/authentications/\(item)/flag")
        try await world.advance("1h")
        let body: JSONValue = ["reason": "r"]
        try #require(try await world.send("POST", path, body, token: TestWorld.apiToken).status == 200)
        try await tried.refuse(
            409, "POST", path, body, token: TestWorld.apiToken, saying: "the flag of \(item) is flagged since")
        _ = try await world.send("DELETE", path, token: TestWorld.apiToken)
        try await tried.refuse(
            409, "DELETE", path, token: TestWorld.apiToken, saying: "the flag of \(item) is none")
        let login = try await world.send("POST", "/partner/login", ["username": "demo", "password": "demo"])
        let token = login["token"].text
        let signed: JSONObject = ["sdk_authorization_request": "x"]
        let authorize = "/partner/authorize-entrupy-sdk-user"
        _ = try await world.send("POST", authorize, .object(signed), token: token)
        try await tried.refuse(
            409, "POST", authorize, .object(signed.merging(["email": "x@example.com"]) { $1 }), token: token,
            saying: "DemoOrg-demo-user was first authorized with email \"demo@example.com\"")
    }

    private func webhooks() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let body: JSONValue = ["url": "http://127.0.0.1:9/hooks", "secret_key": "secret"]
        let made = try await tried.world.send("POST", "/v2/webhooks", body, token: TestWorld.apiToken)
        let id = try #require(made["id"].text)
        for version in ["v1", "v2"] {
            for (method, end, body) in [
                ("GET", "", nil), ("PATCH", "", ["events": ["session.completed"]]), ("POST", "/verify", nil),
                ("DELETE", "", nil),
            ] as [(String, String, JSONValue?)] {
                try await tried.refuse(
                    404, method, "/\(version)/webhooks/\(id)\(end)", body, token: Self.other,
                    headers: ["Api-Version": "1.4"],
                    saying: "the webhook belongs to DemoOrg; the API token is OtherOrg's")
            }
        }
        return tried.met
    }

    private func certificates() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let item = try await world.submit(try await world.login("user-of-a"))
        let path = "/v2/authentications/\(item)/certificate/transfers"
        let to: JSONValue = ["to": ["email": "x@example.com"]]
        let foreign = "the item belongs to DemoOrg; the API token is OtherOrg's"
        try await tried.refuse(404, "GET", path, token: Self.other, saying: foreign)
        try await tried.refuse(404, "POST", path, to, token: Self.other, saying: foreign)
        try await tried.refuse(409, "POST", path, to, token: TestWorld.apiToken, saying: "the result of \(item) is")
        try await world.advance("1h")
        let shown = try await world.send("GET", "/_sim/authentications/\(item)")
        let certificate = try #require(shown["certificate_id"].text)
        _ = try await world.send("PATCH", "/_sim/authentications/\(item)", ["result": "unknown"])
        try await tried.refuse(
            404, "GET", "/certificates/\(certificate)", saying: "withdrawn: the result of \(item) is unknown")
        try await tried.refuse(404, "GET", "/certificates/none", saying: "the namespace has no certificate")
        for size in ["original", "scale_micro"] {
            try await tried.refuse(
                404, "GET", "/images/\(String(repeating: "0", count: 64))/\(size)",
                saying: "has an image with this hash")
        }
        try await withoutToken(&tried)
        return tried.met
    }

    /// An organization without an API token.
    private func withoutToken(_ tried: inout Refusals) async throws {
        let seed = """
            organizations:
              - {name: Mute, api_tokens: [], bundles: [com.example.mute], partner_users: [{username: m, password: m, unique_user_id: member-m, email: m@example.com}]}
            """
        let added = try await tried.world.send(
            "POST", "/_sim/seed", bytes: Data(seed.utf8), token: nil, headers: ["Content-Type": "application/yaml"])
        try #require(added.status < 300, "\(added.json)")
        let login = try await tried.world.send("POST", "/partner/login", ["username": "m", "password": "m"])
        try await tried.refuse(
            403, "POST", "/partner/authorize-entrupy-sdk-user", ["sdk_authorization_request": "x"],
            token: login["token"].text, saying: "belongs to Mute, which has no API token")
    }

    // MARK: App Components

    private func componentSessions() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let code = "/components/v1/workflows/onboarding/validationcode"
        try await tried.refuse(
            404, "POST", "/components/v1/workflows/none/validationcode", [:], token: TestWorld.apiToken,
            saying: "the workflows of the seed data are")
        let early = try await world.validationCode(client: ["client_id": "bad"])
        let rejected = try await world.workflowSession(client: [
            "client_id": "bad", "document_number": "sim-ClientRejected",
        ])
        try #require(try await world.runDocument(rejected).status == 403)
        try await tried.refuse(
            403, "POST", code, ["client": ["client_id": "bad"]], token: TestWorld.apiToken,
            saying: "DemoOrg's client bad was rejected at 2026-01-05T09:00:00")
        let start: JSONObject = ["networkEnvironment": "sandbox"]
        try await tried.refuse(
            403, "POST", "/components/sessions",
            .object(start.merging(["validationCode": early["validationCode"]]) { $1 }),
            saying: "the client bad was rejected at")
        let rule = try await world.send(
            "POST", "/_sim/outcomes", ["match": ["component": "session"], "result": "ConfigurationNotSupported"])
        let fresh = try await world.validationCode()
        try await tried.refuse(
            409, "POST", "/components/sessions",
            .object(start.merging(["validationCode": fresh["validationCode"]]) { $1 }),
            saying: "the outcome rule \(rule["id"].text ?? "?") decided ConfigurationNotSupported")
        return tried.met
    }

    private func components() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let world = tried.world
        let document: JSONValue = ["documentType": "passport", "issuingCountry": "NLD"]
        for (component, body) in [("document", document), ("biometrics", [:])] {
            let session = try await world.workflowSession()
            let path = "/components/sessions/\(session)/\(component)"
            try await tried.refuse(
                409, "POST", "\(path)/finish", saying: "the session \(session) has no \(component) component")
            let begun = try await world.send("POST", path, body)
            try #require(begun.status == 201, "\(begun.json)")
            try await tried.refuse(
                409, "POST", path, body, saying: "the \(component) component of \(session) was started at 2026-01-05")
            try await tried.refuse(
                409, "POST", "\(path)/cancel", saying: "the client closed the \(component) component")
            try await tried.refuse(
                409, "POST", "\(path)/finish", saying: "the \(component) component of \(session) ended at 2026-01-05")
            _ = try await world.send(
                "POST", "/_sim/outcomes",
                ["match": ["component": .string(component)], "result": "ClientRejected", "times": 1])
            let again = try await world.workflowSession(
                client: ["client_id": .string("client-\(component)")])
            let ended =
                component == "document" ? try await world.runDocument(again) : try await world.runBiometrics(again)
            try #require(ended.status == 403, "\(ended.json)")
            let entry = try await world.send("GET", "/_sim/requests?route=*/\(component)/finish&status=403")
            #expect(
                entry["requests.0.because"].text?.contains("decided ClientRejected") == true, "\(entry["requests.0"])")
            tried.met.insert("POST /components/sessions/{id}/\(component)/finish 403")
        }
        return tried.met
    }

    private func componentFiles() async throws -> Set<String> {
        var tried = Refusals(world: try await world())
        let session = try await tried.world.workflowSession()
        let files = [
            ("document/images/front", "image/jpeg"), ("document/video", "video/mp4"),
            ("biometrics/selfie", "image/jpeg"), ("biometrics/images/selfie", "image/jpeg"),
            ("biometrics/liveness", "video/mp4"),
        ]
        for (file, type) in files {
            let (component, path) = (file.prefix { $0 != "/" }, "/components/sessions/\(session)/\(file)")
            try await tried.refuse(404, "GET", path, saying: "the \(component) component of \(session) has no files")
            try await tried.refuse(
                409, "PUT", path, bytes: type == "video/mp4" ? TestWorld.video : TestWorld.picture,
                headers: ["Content-Type": type], saying: "the session \(session) has no \(component) component")
        }
        return tried.met
    }

    // MARK: What all have in common

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
        #expect(facts.count == 2 && facts.allSatisfy { $0.contains("DemoOrg-user-of-a") })
        #expect(!"\(entries.text)".contains(TestWorld.apiToken))
        #expect(facts[0].contains("this request gives \"***\""), "\(facts)")
        #expect(facts.allSatisfy { $0.unicodeScalars.count <= 400 })
    }

    @Test func aBundleKeepsTheFactAndOneWithoutItOpens() async throws {
        let world = try await world()
        let a = try await world.login("user-of-a")
        _ = try await world.send("GET", "/sdk/results/NONE", token: a)
        var archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        let text = String(decoding: archive.entries[index].bytes, as: UTF8.self)
        let fact = "the namespace has no item with this id"
        try #require(text.contains(#""because":"\#(fact)""#))
        let older = text.replacing(/"because":("[^"]*"|null),/, with: "")
        try #require(!older.contains("because"))
        for (journal, because) in [(text, .string(fact)), (older, .null)] as [(String, JSONValue)] {
            archive.entries[index].bytes = Data(journal.utf8)
            let bytes = archive.bytes
            try await Process.withDirectory { directory in
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                try bytes.write(to: URL(fileURLWithPath: directory + "/failure.tar"))
                let server = try SimProcess(["--bundle", directory + "/failure.tar"])
                defer { server.stop() }
                let opened = TestWorld(base: server.baseURL)
                let entry = try await opened.send("GET", "/_sim/requests?status=404")["requests.0"]
                #expect(entry["because"] == because, "\(entry)")
            }
        }
    }
}
