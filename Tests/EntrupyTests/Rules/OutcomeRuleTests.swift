import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// The ways to decide an item's result, their order, and the time of the result [D decision-order].
@Suite struct OutcomeRuleTests {
    private func decision(_ bench: RuleBench, _ id: String) async throws -> [String] {
        let item = try await bench.item(id)
        return [item.decidedBy.rawValue, (item.plannedResult ?? item.result).rawValue]
    }

    @Test func theFirstOfTheFiveWaysDecides() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddOutcome(["match": ["customer_item_id": "sim-unknown-*"], "result": "not_supported"]))
        _ = try await bench.control(AddOutcome(["match": ["customer_item_id": "sim-*"], "result": "invalid"]))
        let debug = try await bench.submit(user, "sim-unknown-a", type: .debug)
        #expect(try await decision(bench, debug) == ["debug_configuration", "invalid"])
        let rule = try await bench.submit(user, "sim-unknown-b")
        #expect(try await decision(bench, rule) == ["outcome_rule", "not_supported"])
        _ = try await bench.control(RemoveOutcomes(nil))
        let magic = try await bench.submit(user, "sim-unknown-c", brand: "Nobody's")
        #expect(try await decision(bench, magic) == ["magic_customer_item_id", "unknown"])
        let brand = try await bench.submit(user, "d", brand: "Nobody's")
        #expect(try await decision(bench, brand) == ["unknown_brand", "not_supported"])
        let usual = try await bench.submit(user, "e")
        #expect(try await decision(bench, usual) == ["namespace_default", "authentic"])
    }

    /// A part of the condition, another value, and that of the bench's sneakers.
    @Test(arguments: [
        ("username", "DemoOrg-other-user", "DemoOrg-bench-user"), ("product_category", "luxury", "sneakers"),
        ("product_category", "Luxury", "SNEAKERS"), ("config_type", "debug", "production"),
    ])
    func aRuleDecidesOnlyItemsThatFitItsCondition(part: String, other: String, own: String) async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        func rule(_ value: String) -> JSONValue { ["match": [part: .string(value)], "result": "unknown"] }
        _ = try await bench.control(AddOutcome(rule(other)))
        let first = try await bench.submit(user, "a")
        #expect(try await decision(bench, first) == ["namespace_default", "authentic"])
        _ = try await bench.control(AddOutcome(rule(own)))
        let second = try await bench.submit(user, "b")
        #expect(try await decision(bench, second) == ["outcome_rule", "unknown"])
    }

    @Test func aRuleDecidesTheGivenNumberOfTimes() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let rule: JSONValue = ["match": ["brand": "nike"], "result": "unknown", "after": "0s", "times": 2]
        _ = try await bench.control(AddOutcome(rule))
        var results: [String] = []
        for number in 0..<3 { results.append(try await bench.item(bench.submit(user, "n\(number)")).result.rawValue) }
        #expect(results == ["unknown", "unknown", "needs_review"])
        #expect(try await bench.control(ListOutcomes()).outcomes.map(\.hits) == [2])
    }

    @Test func aResultComesAfterItsDelayAndNotBefore() async throws {
        let bench = try await RuleBench(settings: ["result": ["delay": "10m"]])
        let user = try await bench.login()
        let usual = try await bench.submit(user, "a")
        let own = try await bench.submit(user, "sim-unknown-after-11m-b")
        await bench.wait("599s")
        #expect(try await bench.item(usual).result == .needsReview)
        await bench.wait("1s")
        #expect(try await bench.item(usual).resultFinal)
        #expect(try await bench.item(own).result == .needsReview)
        await bench.wait("1m")
        #expect(try await bench.item(own).result == .unknown)
    }

    @Test func anInvalidResultHasAReasonAndNoOtherHasOne() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-invalid-after-0s")
        #expect(try await bench.item(id).resultReason == "blurry_images")
        let patch = PatchAuthentication(entrupyID: id, result: .unknown, reason: "multiple_items")
        #expect(await refusal { try await bench.control(patch) } == .invalid)
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .unknown))
        #expect(try await bench.item(id).resultReason == nil)
    }

    @Test func backUnderReviewAnItemKeepsTheTimeOfItsLastResult() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        let first = try await bench.item(id)
        await bench.wait("1h")
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .needsReview))
        let back = try await bench.item(id)
        #expect(!back.resultFinal && back.resultAt == first.resultAt && back.resultAt == RuleBench.morning)
        #expect(back.initialResult == .authentic && back.initialResultAt == first.initialResultAt)
        await bench.wait("1h")
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .unknown))
        let last = try await bench.item(id)
        #expect(last.resultAt == RuleBench.morning + Span("2h")! && last.initialResult == .authentic)
    }

    @Test func aNamespaceHasAtMostAThousandRulesOfAKind() async throws {
        let bench = try await RuleBench()
        let outcome: JSONValue = ["match": ["brand": "Nike"], "result": "unknown"]
        let fault: JSONValue = ["match": ["route": "/sdk/search"], "effect": ["status": 503]]
        try await bench.job { job in
            for number in 0..<999 {
                for (kind, document) in [(RuleRecord.Kind.outcome, outcome), (.fault, fault)] {
                    try job.transaction.insert(
                        RuleRecord(
                            id: "\(kind.rawValue)-\(number)", kind: kind, document: StoredJSON.encode(document),
                            createdAt: job.now))
                }
            }
            job.state.invalidateRules()
        }
        _ = try await bench.control(AddOutcome(outcome))
        _ = try await bench.control(AddFault(fault))
        #expect(await refusal { try await bench.control(AddOutcome(outcome)) } == .wrongState)
        #expect(await refusal { try await bench.control(AddFault(fault)) } == .wrongState)
        let rules = try await bench.control(ListOutcomes()).outcomes
        try #require(rules.count == 1000)
        _ = try await bench.control(RemoveOutcomes(rules[0].id))
        #expect(await refusal { try await bench.control(AddOutcome(outcome)) } == nil)
    }

    /// However late somebody reads it.
    @Test func aResultHasTheTimeItWasDue() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(try await bench.login(), "a")
        await bench.wait("20h")
        #expect(try await bench.item(id).resultAt == RuleBench.morning + Span("5s")!)
    }

    @Test func needsReviewDoesNotChangeByItself() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(try await bench.login(), "sim-needs_review")
        await bench.wait("20h")
        #expect(try await bench.item(id).result == .needsReview)
        #expect(try await bench.control(ByID<ShowAuthentication>(id)).result_due_at == nil)
    }

    @Test func aDebugSubmissionIsInvalidAtOnce() async throws {
        let bench = try await RuleBench()
        let rule = try await bench.control(AddOutcome(["match": ["config_type": "debug"], "result": "authentic"]))
        #expect(rule.notes.count == 1, "it can never match, which is said")
        let user = try await bench.login()
        let capture = try await bench.capture(user, "sim-authentic", type: .debug)
        let answer = try await bench.user(ByID<SubmitCapture>(capture), user)
        #expect(answer.status.result.final)
        #expect(answer.event_times.result_returned_at?.epoch == RuleBench.morning.epoch)
        let item = try await bench.item(answer.entrupy_id)
        #expect(item.result == .invalid)
        #expect(item.resultFinal)
        #expect(item.resultReason == "debug_configuration")
        #expect(item.resultAt == RuleBench.morning)
    }

    @Test func anUnknownBrandHasAnIDOfItsName() async throws {
        let bench = try await RuleBench()
        let item = try await bench.item(
            try await bench.submit(try await bench.login(), "x", brand: "Acme & Söhne"))
        #expect(item.brandID == "acme_söhne")
        #expect(item.brandName == "Acme & Söhne")
        let shown = try await bench.control(ByID<ShowAuthentication>(item.entrupyID)).sdk.properties.brand
        #expect(shown.id == "acme_söhne")
        #expect(shown.display == ["name": "Acme & Söhne"])
    }

    @Test func theNamespacesDefaultAndDelayAreSettings() async throws {
        let bench = try await RuleBench(settings: ["result": ["default": "unknown", "delay": "0s"]])
        let id = try await bench.submit(try await bench.login(), "a")
        #expect(try await bench.item(id).result == .unknown)
    }

    @Test(
        arguments: [
            ["result": "real"], ["reason": "blurry_images"], ["result": "invalid", "reason": "x"], [:],
            ["resul": "invalid"], ["flag": "NOT AN ID"],
        ] as [JSONValue])
    func anInvalidChangeOfAnItemIsRefused(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(try await bench.login(), "a")
        let sent = bench.sent(body, path: ["entrupy_id": id])
        #expect(await refusal { try await bench.control(PatchAuthentication(sent)) } == .invalid)
        #expect(try await bench.item(id).revision == 1)
    }

    @Test(
        arguments: [
            [:], ["result": "perfect"], ["result": nil], ["result": "unknown", "reason": "blurry_images"],
            ["result": "invalid", "reason": "ugly"], ["result": "unknown", "times": 0],
            ["result": "unknown", "times": 1.5],
            ["result": "unknown", "after": "-1s"], ["result": "unknown", "after": "2h30"],
            ["result": "unknown", "after": 1e300],
            ["result": "unknown", "match": ["colour": "red"]], ["result": "unknown", "match": "late-*"],
            ["result": "unknown", "match": ["brand": 5]], ["result": "unknown", "match": ["brand": ""]],
            ["result": "unknown", "match": ["product_category": "cars"]], ["result": "unknown", "probability": 1],
        ] as [JSONValue])
    func anInvalidRuleIsRefused(rule: JSONValue) async throws {
        let bench = try await RuleBench()
        let refused = await refusalError { try await bench.control(AddOutcome(rule)) }
        #expect(refused?.kind == .invalid)
        #expect(refused?.details.isEmpty == false)
        #expect(try await bench.control(ListOutcomes()).outcomes.isEmpty)
    }
}
