import EntrupyAPI
import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// The difference of two states [D diff]: of two servers here, whose ids, tokens and times all differ.
@Suite struct DifferenceRuleTests {
    private let control = RequestHead(isControl: true)

    /// Compares the states of two servers.
    private func difference(
        _ one: RuleBench, _ other: RuleBench, maxObjects: Int? = nil
    ) async throws -> StateDifference {
        let (from, to) = (try await one.namespace.copied().0, try await other.namespace.copied().0)
        var comparison = StateComparison(
            platforms: one.namespaces.environment.platforms, secrets: one.namespaces.environment.secrets)
        if let maxObjects { comparison.maxObjects = maxObjects }
        return try comparison.difference(from: .copy(from), to: .copy(to))
    }

    /// Two servers with other random seeds, at other times. The right client has run in both.
    private func twins() async throws -> (one: RuleBench, other: RuleBench, ids: [String], users: [Credential]) {
        let benches = [try await RuleBench(), try await RuleBench(randomSeed: 99)]
        await benches[1].wait("30h")
        var (ids, users): ([String], [Credential]) = ([], [])
        for bench in benches {
            _ = try await bench.subscribe()
            users.append(try await bench.login())
            ids.append(try await bench.submit(users.last!, "sku-1"))
            await bench.wait("10s")
            _ = try await bench.deliverAll()
        }
        return (benches[0], benches[1], ids, users)
    }

    /// Each object that differs, in a line: its change, kind and key, and the members that differ.
    private func lines(_ difference: StateDifference) throws -> [String] {
        try difference.objects.map { object in
            let key = try StoredJSON.encode(object.key)
            let names = object.change == .changed ? " " + object.members.map(\.name).joined(separator: " ") : ""
            return "\(object.change) \(object.kind) \(key)\(names)"
        }
    }

    @Test func oneClientLeavesEqualStatesWithOtherIDsTokensAndTimes() async throws {
        let (one, other, ids, users) = try await twins()
        #expect(ids[0] != ids[1])
        for (bench, user, id) in [(one, users[0], ids[0]), (other, users[1], ids[1])] {
            _ = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user)
            _ = try await bench.control(AskForRetake(entrupyID: id, request: RetakeRequest(regions: ["heel"])))
            _ = try await bench.control(AddOutcome(["match": ["customer_item_id": "late-*"], "result": "unknown"]))
            _ = try await bench.capture(user, "open")
        }
        let found = try await difference(one, other)
        #expect(try lines(found) == [])
        #expect(found.equal && !found.truncated)
        for name in ["id", "token", "created_at", "entrupy_id"] { #expect(found.ignored.contains(name), "\(name)") }
    }

    @Test func aRetryThatMadeASecondItemIsOneMore() async throws {
        let (one, other, _, users) = try await twins()
        _ = try await other.submit(users[1], "sku-1")
        await other.wait("10s")
        let found = try await lines(difference(one, other))
        let key = #"{"customer_item_id":"sku-1","nth":2,"username":"DemoOrg-bench-user"}"#
        #expect(found.filter { $0.contains(" item ") } == ["added item \(key)"])
        #expect(found.filter { $0.contains(" capture ") } == ["added capture \(key)"])
        #expect(found.contains(#"changed user {"username":"DemoOrg-bench-user"} submissions"#))
        // The deliveries are about the second item, not about the first.
        let deliveries = found.filter { $0.contains(" delivery ") }
        #expect(
            !deliveries.isEmpty && deliveries.someAndAll { $0.contains("added") && $0.contains(key) }, "\(deliveries)")
        let back = try await difference(other, one)
        #expect(back.objects.filter { $0.kind == "item" }.map(\.change) == [.removed])
        let brand = back.objects.first { $0.kind == "item" }?.members.first { $0.name == "brand" }
        #expect(brand?.from == "nike" && brand?.to == nil)
    }

    /// Something that changes one state, and the line that it makes.
    enum Change: String, CaseIterable {
        case result, flag, region, email, message, session, setting, subscription, rule, metadata, pending
    }

    private func make(_ change: Change, in bench: RuleBench, _ id: String, _ user: Credential) async throws {
        switch change {
        case .result: _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .unknown))
        case .flag: _ = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user)
        case .region:
            try await bench.job {
                try $0.transaction.run("UPDATE capture_images SET bytes = 7 WHERE region_id = 'heel'")
            }
        case .email:
            _ = try await bench.control(PatchUser(username: "DemoOrg-bench-user", patch: ["email": "new@example.com"]))
        case .message:
            let body: JSONValue = ["message": "Where?", "options": ["Here"]]
            _ = try await bench.control(SendSupportMessage(bench.sent(body, path: ["entrupy_id": id])))
        case .session: try await bench.user(Logout(), user)
        case .setting: _ = try await bench.control(PatchSettings(["result": ["delay": "3h"]]))
        case .subscription: _ = try await bench.subscribe(events: ["session.completed"])
        case .rule: _ = try await bench.control(AddOutcome(["match": ["brand": "nike"], "result": "unknown"]))
        case .metadata:
            try await bench.job {
                try $0.transaction.run("UPDATE items SET metadata = json_set(metadata, '$.style_name', 'Dunk')")
            }
        case .pending: try await bench.job { try $0.transaction.run("UPDATE items SET planned_result_id = 'unknown'") }
        }
    }

    private func expected(_ change: Change) -> [String] {
        let item = #"item {"customer_item_id":"sku-1","username":"DemoOrg-bench-user"}"#
        let capture = #"{"customer_item_id":"sku-1","username":"DemoOrg-bench-user"}"#
        return switch change {
        case .result: ["changed \(item) result decided_by"]
        case .flag: ["changed \(item) flag flag_reason flagged_at"]
        case .region: ["changed picture {\"capture\":\(capture),\"region_id\":\"heel\"} bytes"]
        case .email: [#"changed user {"username":"DemoOrg-bench-user"} email"#]
        case .message: ["added message {\"item\":\(capture)}"]
        case .session: [#"changed session {"bundle_id":null,"username":"DemoOrg-bench-user"} end_reason ended_at"#]
        case .setting: [#"changed setting {"name":"result.delay"} value"#]
        case .subscription: [#"added subscription {"nth":2,"url":"http://127.0.0.1:*/hook"}"#]
        case .rule: [#"added outcome {"match":{"brand":"nike"}}"#]
        case .metadata: ["changed \(item) item.style_name"]
        case .pending: ["changed \(item) pending_result"]
        }
    }

    @Test(arguments: Change.allCases) func aChangeIsNamedAsAPersonWould(change: Change) async throws {
        let (one, other, ids, users) = try await twins()
        try await make(change, in: other, ids[1], users[1])
        _ = try await other.deliverAll()
        let found = try await lines(difference(one, other))
        // Some changes send webhooks, which come beside them.
        let own = found.filter { !$0.contains(" delivery ") && !$0.contains(" attempt ") }
        #expect(own == expected(change), "\(found)")
        // What is made on both sides is equal again.
        try await make(change, in: one, ids[0], users[0])
        _ = try await one.deliverAll()
        #expect(try await lines(difference(one, other)) == [])
    }

    @Test func aDeliveryThatFailedOrIsMissingIsFound() async throws {
        let (one, other, ids, _) = try await twins()
        _ = try await one.control(PatchAuthentication(entrupyID: ids[0], result: .unknown))
        #expect(try await lines(difference(one, other)).contains { $0.hasPrefix("removed delivery") })
        _ = try await other.control(PatchAuthentication(entrupyID: ids[1], result: .unknown))
        #expect(try await lines(difference(one, other)) == [])
        _ = try await one.deliverAll()
        try await other.deliver(500)
        let found = try await lines(difference(one, other))
        #expect(
            found.count == 2 && found[0].hasPrefix("changed delivery") && found[1].hasPrefix("changed attempt"),
            "\(found)")
        #expect(found[0].hasSuffix(" status next_attempt_at") && found[1].hasSuffix(" status"), "\(found)")
    }

    @Test(arguments: [true, false]) func equalsAreMatchedInTheirOrder(isSame: Bool) async throws {
        let (one, other) = (try await RuleBench(), try await RuleBench(randomSeed: 5))
        for (bench, results) in [
            (one, ["authentic", "unknown"]), (other, isSame ? ["authentic", "unknown"] : ["unknown", "authentic"]),
        ] {
            for result in results {
                try await bench.generate(["customer_item_id": "twice", "result": .string(result)])
            }
        }
        let found = try await difference(one, other).objects.filter { $0.kind == "item" }
        #expect(found.map { $0.key["nth"] } == (isSame ? [] : [nil, 2]))
        #expect(!found.contains { !$0.members.map(\.name).contains("result") })
    }

    @Test func oneSKUOfTwoUsersIsTwoItems() async throws {
        let (one, other) = (try await RuleBench(), try await RuleBench())
        for (bench, users) in [(one, ["DemoOrg-first-user", "DemoOrg-other-user"]), (other, ["DemoOrg-first-user"])] {
            for user in users { try await bench.generate(["customer_item_id": "sku-1", "username": .string(user)]) }
        }
        let found = try await lines(difference(one, other)).filter { $0.contains(" item ") }
        #expect(found == [#"removed item {"customer_item_id":"sku-1","username":"DemoOrg-other-user"}"#])
        // One with the same number of items, of another user.
        try await other.generate(["customer_item_id": "sku-1", "username": "DemoOrg-third-user"])
        #expect(try await lines(difference(one, other)).filter { $0.contains(" item ") }.count == 2)
    }

    /// Tokens are random: they must not decide which of two sessions of one moment is which.
    @Test(arguments: 1...6) func sessionsOfOneMomentAreEqualWhateverTheirTokensAre(randomSeed: Int) async throws {
        let benches = [try await RuleBench(), try await RuleBench(randomSeed: randomSeed * 1000)]
        for bench in benches {
            let first = try await bench.login()
            _ = try await bench.login()
            try await bench.user(Logout(), first)
        }
        #expect(try await lines(difference(benches[0], benches[1])) == [])
    }

    @Test func anyTextComesBackAsItIs() async throws {
        let texts = [#"say "hi"\"#, "\u{202e}gnp.exe", "e\u{301}", "é", "中文, {\"a\":1}", "a'b--"]
        let (one, other) = (try await RuleBench(), try await RuleBench())
        for text in texts { try await other.generate(["customer_item_id": .string(text)]) }
        let items = try await difference(one, other).objects.filter { $0.kind == "item" }
        #expect(items.map { $0.key["customer_item_id"] } == texts.map { .string($0) })
        // A composed and a decomposed letter are two names.
        #expect(items.someAndAll { $0.key["nth"] == nil })
    }

    @Test func secretsAreMaskedAndDoNotDecide() async throws {
        let benches = [try await RuleBench(), try await RuleBench()]
        for (bench, secret) in zip(benches, ["left-secret", "right-secret"]) {
            _ = try await bench.partner(
                Subscribe(
                    SubscriptionRequest(
                        url: "http://10.0.0.1/hook?token=\(secret)", secret_key: secret, events: nil,
                        format: .event),
                    .v2))
        }
        #expect(try await lines(difference(benches[0], benches[1])) == [])
        let plain = try await RuleBench()
        let user = try await benches[0].login()
        guard case .token(let token) = user else { return }
        _ = try await benches[0].control(
            AddFault(["match": ["header": ["Authorization": .string("Token \(token)")]], "effect": ["status": 503]]))
        try await benches[0].generate(["customer_item_id": "holds demo-api-token", "style_name": .string(token)])
        let found = try await StoredJSON.encode(difference(plain, benches[0]))
        #expect(found.contains("http://10.0.0.1/hook?token=***"), "\(found)")
        for secret in ["left-secret", "demo-api-token", token] { #expect(!found.contains(secret), "\(secret)") }
    }

    @Test func aReceiversPortCountsUnlessItIsThisMachines() {
        func place(_ url: String) -> String { StateWalk.place(ofReceiver: url) }
        #expect(place("http://127.0.0.1:8000/hook") == place("http://127.0.0.1:9999/hook"))
        #expect(place("http://localhost:8000/hook") == "http://localhost:*/hook")
        #expect(place("http://[::1]:8000/a") == "http://[::1]:*/a")
        #expect(place("http://127.0.0.1:8000/a") != place("http://127.0.0.1:8000/b"))
        #expect(place("http://10.0.0.1:8000/a") != place("http://10.0.0.1:8001/a"))
        #expect(place("http://127.0.0.1.example.com:80/a") == "http://127.0.0.1.example.com:80/a")
    }

    @Test func aSettingThatIsSetToItsDefaultIsNoOther() async throws {
        let (one, other) = (try await RuleBench(), try await RuleBench(settings: ["result": ["delay": "5s"]]))
        #expect(try await difference(one, other).equal)
        _ = try await other.control(FreezeClock(at: nil))
        #expect(try await lines(difference(one, other)) == ["changed namespace {} clock"])
    }

    /// At most 10,000 objects are shown, in the order of their kinds and rows, however many differ; 100 here.
    @Test func whatIsShownIsBounded() async throws {
        let (one, other) = (try await RuleBench(), try await RuleBench())
        #expect(StateComparison(platforms: one.namespaces.environment.platforms, secrets: []).maxObjects == 10_000)
        try await other.generate(["customer_item_id": "sku-{n}"], count: 110)
        #expect(try await !difference(one, other).truncated)
        let found = try await difference(one, other, maxObjects: 100)
        #expect(found.objects.count == 100 && found.truncated && !found.equal)
        #expect(try await !difference(other, other, maxObjects: 100).truncated)
        let back = try await difference(other, one, maxObjects: 100)
        #expect(back.truncated && back.objects.filter { $0.kind == "item" }.someAndAll { $0.change == .removed })
    }
}
