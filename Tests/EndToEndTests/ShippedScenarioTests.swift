import Foundation
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Runs every scenario in `seed-data` with a client that follows its description, and with one that makes one mistake.
@Suite struct ShippedScenarioTests {
    @Test func everyFileIsShipped() async throws {
        let files = try ["scenarios", "component-scenarios"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                atPath: TestWorld.root.appendingPathComponent("seed-data/\(folder)").path)
        }.filter { $0.hasSuffix(".yaml") }
        let world = try await TestWorld.make()
        let listed = try await world.send("GET", "/_sim/scenarios")["scenarios"].items
        #expect(listed.compactMap { $0["name"].text } == files.map { String($0.dropLast(5)) }.sorted())
        #expect(listed.someAndAll { $0["source"] == "shipped" && $0["expectations"].double ?? 0 > 0 })
        #expect(Set(Player.all.keys) == Set(listed.compactMap { $0["name"].text }))
    }

    @Test(arguments: Player.all.keys.sorted(), [false, true])
    func aCorrectClientIsVerifiedAndOneWithAMistakeIsNot(name: String, isWrong: Bool) async throws {
        let player = try await Player.started(name)
        let script = try #require(Player.all[name])
        try await script(player, isWrong)
        let answer = try await player.world.send("POST", "/_sim/scenarios/\(name)/verify")
        #expect(answer.status == (isWrong ? 409 : 200), "\(answer.json)")
        #expect(answer[isWrong ? "scenario.verified" : "verified"] == .bool(!isWrong))
        #expect(!isWrong || !answer["details"].items.isEmpty)
    }
}

/// A scripted client.
struct Player: Sendable {
    typealias Script = @Sendable (_ player: Player, _ isWrong: Bool) async throws -> Void

    let world: TestWorld

    /// A client of a namespace that was started from a scenario.
    static func started(_ name: String) async throws -> Player {
        let namespace = "sc-\(UUID().uuidString.lowercased())"
        let root = TestWorld(base: SimProcess.shared.baseURL)
        let run = try await root.send("POST", "/_sim/scenarios/\(name)/start", ["namespace": .string(namespace)])
        try #require(run.status == 200 && run["verified"] == false, "\(run.json)")
        return Player(world: TestWorld(base: try #require(run["url"].text)))
    }

    private func status(_ method: String, _ path: String, _ token: String, _ body: JSONValue? = nil) async throws -> Int
    {
        try await world.send(method, path, body, token: token).status
    }

    /// Logs in with a signed request and returns the status and the token.
    private func login(_ signed: JSONValue) async throws -> (status: Int, token: String) {
        let answer = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed])
        return (answer.status, answer["token"].text ?? "")
    }

    private func item(_ id: String) -> JSONValue {
        .object((TestWorld.nike.members ?? [:]).merging(["customer_item_id": .string(id)]) { $1 })
    }

    /// The user's `entrupy_id`s by `customer_item_id`.
    private func items(_ session: String) async throws -> [String: String] {
        let page = try await world.send("POST", "/sdk/search", [:], token: session)
        return Dictionary(
            page["items"].items.map { item in
                let fields = item["text_fields"].items
                return (
                    fields.first { $0["is_identifier"] == true }?["content"].text ?? "",
                    item["entrupy_id"].text ?? ""
                )
            }
        ) { $1 }
    }

    private func flag(_ entrupyID: String, _ isSet: Bool, _ session: String) async throws {
        _ = try await world.send("PUT", "/sdk/results/\(entrupyID)/flag", ["flag": .bool(isSet)], token: session)
    }

    private func uploadAll(_ capture: (id: String, regions: [String]), _ session: String) async throws {
        for region in capture.regions {
            for _ in 1...5 {
                // Retries after a broken connection.
                if let answer = try? await world.upload(capture.id, region, session), answer.status == 200 { break }
            }
        }
    }

    static let all = ofEntrupy.merging(ofComponents) { first, _ in first }

    private static let ofEntrupy: [String: Script] = [
        "same-sku-twice": { player, isWrong in
            let receiver = try await WebhookReceiver.open()
            _ = try await player.world.send(
                "POST", "/v2/webhooks",
                ["url": .string(receiver.url), "secret_key": "s", "events": ["session.completed"]],
                token: TestWorld.apiToken)
            let session = try await player.world.login()
            let older = try await player.world.submit(session, item: player.item("twice-1"))
            try await player.world.advance("10m")
            let newer = try await player.world.submit(session, item: player.item("twice-1"))
            try await player.world.advance("4h")
            let completed = receiver.deliveries.compactMap { $0.item["entrupy_id"].text }
            #expect(completed == [newer, older])
            // The wrong backend has the item whose webhook came last.
            try await player.flag(isWrong ? try #require(completed.last) : newer, true, session)
        },
        "submit-answer-lost": { player, isWrong in
            let session = try await player.world.login()
            let capture = try await player.world.readyCapture(session, item: player.item("lost-1"))
            let lost = try? await player.world.send("POST", "/sdk/captures/\(capture)/submit", token: session)
            #expect(lost == nil)
            let id: String
            if isWrong {
                // Captures again.
                id = try await player.world.submit(session, item: player.item("lost-1"))
            } else {
                let again = try await player.world.send("POST", "/sdk/captures/\(capture)/submit", token: session)
                #expect(again.status == 409)
                id = try #require(again["entrupy_id"].text)
            }
            try await player.world.advance("1m")
            _ = try await player.world.result(id, session)
        },
        "vendor-changes-tomorrow": { player, isWrong in
            let receiver = try await WebhookReceiver.open()
            // The wrong receiver knows one event only.
            if isWrong { receiver.behave(.decide { $0.event == "session.completed" ? 200 : 400 }) }
            _ = try await player.world.send(
                "POST", "/v2/webhooks",
                ["url": .string(receiver.url), "secret_key": "s", "events": ["session.completed"]],
                token: TestWorld.apiToken)
            let session = try await player.world.login()
            let item = try await player.world.submit(session, item: player.item("tomorrow-1"))
            try await player.world.advance("1h")
            _ = try await player.world.result(item, session)
        },
        "capture-times-out": { player, isWrong in
            let session = try await player.world.login()
            let capture = try await player.world.readyCapture(session)
            if !isWrong { try await player.world.advance("2h") }
            _ = try await player.status("POST", "/sdk/captures/\(capture)/submit", session)
        },
        "debug-configuration": { player, isWrong in
            let session = try await player.world.login()
            let type = isWrong ? "production" : "debug"
            _ = try await player.status("GET", "/sdk/config?config_type=\(type)", session)
            let item = try await player.world.submit(session, type: type)
            try await player.world.advance("1m")
            _ = try await player.world.result(item, session)
        },
        "login-limit": { player, isWrong in
            let requests = [0, 0, 0, 0, 0, 0]
            var last = JSONValue.null
            for _ in requests {
                last = try await player.world.signedRequest()
                _ = try await player.login(last)
            }
            if !isWrong { try await player.world.advance("60s") }
            _ = try await player.login(last)
        },
        "burst-limit": { player, isWrong in
            let session = try await player.world.login()
            while try await player.status("GET", "/sdk/session", session) == 200 {}
            if !isWrong { try await player.world.advance("1s") }
            _ = try await player.status("GET", "/sdk/session", session)
        },
        "expired-session": { player, isWrong in
            let session = try await player.world.login()
            _ = try await player.status("GET", "/sdk/session", session)
            try await player.world.advance("1h")
            _ = try await player.status("GET", "/sdk/session", session)
            let next = isWrong ? session : try await player.world.login()
            _ = try await player.status("GET", "/sdk/session", next)
        },
        "revoked-session": { player, isWrong in
            var session = try await player.world.login()
            var capture = try await player.world.startCapture(session)
            try await player.world.advance("10m")
            _ = try await player.world.upload(capture.id, capture.regions[0], session)
            session = try await player.world.login()
            if isWrong { capture = try await player.world.startCapture(session) }
            try await player.uploadAll(capture, session)
            _ = try await player.status("POST", "/sdk/captures/\(capture.id)/submit", session)
        },
        "signed-request-used-twice": { player, isWrong in
            let signed = try await player.world.signedRequest()
            _ = try await player.login(signed)
            if !isWrong { _ = try await player.login(signed) }
            _ = try await player.login(player.world.signedRequest())
        },
        "conflicting-user-data": { player, isWrong in
            _ = try await player.world.authorize()
            let conflict = try await player.world.authorize(
                "example-user-id", token: TestWorld.apiToken, ["email": "another@entrupy-customer.com"])
            if !isWrong { _ = try await player.login(conflict["signed_authorization_request"]) }
        },
        "upload-failure": { player, isWrong in
            let session = try await player.world.login()
            let capture = try await player.world.startCapture(session)
            if isWrong {
                // Ignores the results of the uploads.
                for region in capture.regions { _ = try? await player.world.upload(capture.id, region, session) }
            } else {
                try await player.uploadAll(capture, session)
            }
            _ = try await player.status("POST", "/sdk/captures/\(capture.id)/submit", session)
        },
        "each-result": { player, isWrong in
            let session = try await player.world.login()
            var items: [String] = []
            for name in ["authentic", "unknown", "not-supported", "invalid", "review"] {
                let id = isWrong && name == "invalid" ? "result_invalid" : "result-\(name)"
                items.append(try await player.world.submit(session, item: player.item(id)))
            }
            try await player.world.advance("1m")
            for item in items { _ = try await player.world.result(item, session) }
        },
        "late-result": { player, isWrong in
            let session = try await player.world.login()
            let item = try await player.world.submit(session, item: player.item("late-1"))
            _ = try await player.world.result(item, session)
            try await player.world.advance(isWrong ? "2h" : "3h")
            _ = try await player.world.result(item, session)
        },
        "flag-and-clear": { player, isWrong in
            let session = try await player.world.login()
            let item = try #require(try await player.items(session)["flag-1"])
            try await player.flag(item, true, session)
            if !isWrong { try await player.flag(item, false, session) }
        },
        "late-result-then-disputed": { player, isWrong in
            let session = try await player.world.login()
            let item = try await player.world.submit(session, item: player.item("late-1"))
            try await player.world.advance("3h")
            while try await player.status("POST", "/sdk/search", session, [:]) != 200 {}
            if !isWrong { try await player.flag(item, true, session) }
            try await player.world.advance("1h")
            _ = try await player.world.result(item, session)
        },
        "flag-ineligible-item": { player, isWrong in
            let session = try await player.world.login()
            for item in try await player.items(session).values.sorted() {
                let result = try await player.world.result(item, session)
                if isWrong || result["status.flag.is_flaggable"] == true { try await player.flag(item, true, session) }
            }
        },
        "webhook-receiver-down-then-up": { player, isWrong in
            let receiver = try await WebhookReceiver.open()
            let events: JSONValue = isWrong ? ["session.updated"] : ["session.updated", "session.completed"]
            _ = try await player.world.send(
                "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s", "events": events],
                token: TestWorld.apiToken)
            _ = try await player.world.submit(player.world.login())
            try await player.world.advance("1h")
            let completed = receiver.deliveries.count { $0.event == "session.completed" }
            #expect(completed == (isWrong ? 0 : 1))
        },
        "cursor-under-concurrent-inserts": { player, isWrong in
            let session = try await player.world.login()
            var seen: [JSONValue] = []
            var cursor: JSONValue = []
            repeat {
                let page = try await player.world.send(
                    "POST", "/sdk/search", ["limit": 25, "cursor": cursor], token: session)
                seen += page["items"].items
                cursor = page["next_cursor"]
                if seen.count == 25 {
                    try await player.world.advance("1m")
                    // Starts again, because the number of items has changed.
                    if isWrong { cursor = [] }
                }
            } while cursor != []
            #expect((seen.count == 60) == !isWrong)
        },
        "server-errors-and-time-outs": { player, isWrong in
            let session = try await player.world.login()
            var request = try OutgoingRequest(.GET, player.world.base + "/sdk/session")
            request.headers.add(name: "Authorization", value: "Token \(session)")
            for _ in 1...100 {
                // The client's own timeout. The answer is read to its end. On a busy machine the timeout may come late, so that the
                // delayed answer arrives; its fault header shows this.
                let response = try? await OutgoingClient().whole(request, within: .seconds(2))
                let isLate = response?.headers["X-Sim-Fault"].isEmpty == false
                if isWrong || (response?.status == 200 && !isLate) { break }
            }
        },
    ]
}
