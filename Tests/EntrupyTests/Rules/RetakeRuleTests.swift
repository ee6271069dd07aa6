import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Retakes [P]: support asks for images again, and the result waits for them.
@Suite struct RetakeRuleTests {
    @Test func aPlannedResultWaitsForTheAnswer() async throws {
        let bench = try await RuleBench(settings: ["result": ["delay": "10m"]])
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        let request = RetakeRequest(regions: ["outer_side"], message: "Sharper")
        _ = try await bench.control(AskForRetake(entrupyID: id, request: request))
        await bench.wait("1h")
        #expect(try await bench.item(id).result == .needsReview)
        let open = try await bench.user(ListRetakes(), user).items
        try #require(open.count == 1)
        #expect(open[0].item.entrupy_id == id && open[0].retake.regions.map(\.region_id) == ["outer_side"])
        #expect(open[0].retake.requested_at == RuleBench.morning.epoch, "when it was asked for, not when it is read")
        let capture = try await bench.user(ByID<StartRetake>(id), user)
        #expect(capture.steps.map(\.region_id) == ["outer_side"])
        try await bench.upload(capture.capture_id, user)
        #expect(try await bench.user(ByID<SubmitCapture>(capture.capture_id), user).entrupy_id == id)
        await bench.wait("599s")
        #expect(try await bench.item(id).result == .needsReview)
        await bench.wait("1s")
        #expect(try await bench.item(id).result == .authentic)
        #expect(try await bench.user(ListRetakes(), user).items.isEmpty)
    }

    @Test(arguments: Language.allCases)
    func regionsAreNamedInTheUsersLanguage(language: Language) async throws {
        let sneakers = try #require(Seed.standard().entrupy.catalogue.category("sneakers"))
        let step = try #require(sneakers.production.first { $0.regionID == "heel" })
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        _ = try await bench.control(AskForRetake(entrupyID: id, request: RetakeRequest(regions: ["heel"])))
        let regions = try await bench.user(ListRetakes(), user, language).items.flatMap(\.retake.regions)
        #expect(regions.map(\.display_name) == [step.displayName[language]])
        #expect(regions.map(\.guidance) == [step.guidance[language]])
    }

    @Test func anItemWaitsForOneRetakeAtATime() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        #expect(await refusal { try await bench.user(ByID<StartRetake>(id), user) } == .wrongState)
        _ = try await bench.control(AskForRetake(entrupyID: id, request: RetakeRequest(regions: ["outer_side"])))
        let again = AskForRetake(entrupyID: id, request: RetakeRequest(regions: ["inner_side"]))
        #expect(await refusal { try await bench.control(again) } == .wrongState)
    }

    @Test func regionsMustBeOfTheItemsWorkflow() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        for regions in [[], ["elbow"]] {
            let wrong = AskForRetake(entrupyID: id, request: RetakeRequest(regions: regions))
            #expect(await refusal { try await bench.control(wrong) } == .invalid)
        }
    }

    @Test func anAnsweredRetakeCountsNoSubmission() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        _ = try await bench.control(AskForRetake(entrupyID: id, request: RetakeRequest(regions: ["outer_side"])))
        let capture = try await bench.user(ByID<StartRetake>(id), user).capture_id
        try await bench.upload(capture, user)
        _ = try await bench.user(ByID<SubmitCapture>(capture), user)
        #expect(try await bench.control(ByID<ShowUser>("DemoOrg-bench-user")).submissions == 1)
    }

    private func ask(_ bench: RuleBench, _ id: String, _ body: JSONValue = [:]) async throws {
        _ = try await bench.control(AskForRetake(bench.sent(body, path: ["entrupy_id": id])))
    }

    @Test func retakesAreVisibleOnlyToTheirUser() async throws {
        let bench = try await RuleBench()
        let (user, other) = (try await bench.login(), try await bench.login("another-user-id"))
        let id = try await bench.submit(user)
        try await ask(bench, id, ["regions": ["heel"]])
        #expect(try await bench.user(ListRetakes(), other).items.isEmpty)
        #expect(await refusal { try await bench.user(ByID<StartRetake>(id), other) } == .notFound)
    }

    @Test func aRetakeWithoutRegionsRequestsAllRequiredOnes() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let ids = [try await bench.submit(user), try await bench.submit(user)]
        for id in ids {
            try await ask(bench, id)
            await bench.wait("1s")
        }
        let list = try await bench.user(ListRetakes(), user).items
        #expect(list.map(\.item.entrupy_id) == ids.reversed(), "newest request first")
        #expect(list.first?.retake.regions.count == 7)
    }

    @Test func aRetakesCaptureTimesOutAndCanBeStartedAgain() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user)
        try await ask(bench, id, ["regions": ["heel"]])
        let first = try await bench.user(ByID<StartRetake>(id), user).capture_id
        await bench.wait("2h")
        #expect(await refusal { try await bench.upload(first, user) } == .captureTimedOut)
        // If two captures answer the retake, the first counts.
        let captures = [
            try await bench.user(ByID<StartRetake>(id), user).capture_id,
            try await bench.user(ByID<StartRetake>(id), user).capture_id,
        ]
        for capture in captures { try await bench.upload(capture, user) }
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(captures[0]), user) } == nil)
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(captures[1]), user) } == .wrongState)
        let other = try await bench.user(ByID<ShowCapture>(captures[1]), user)
        #expect(other.status == .started, "what failed changed nothing")
    }

    @Test func aRetakeGivesAGeneratedItemItsFirstPictures() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login("sim-test-user")
        let id = try #require(try await bench.generate(["result": "needs_review", "style_name": "AJ1"]).first)
        #expect(try await bench.control(ByID<ShowAuthentication>(id)).sdk.images == nil)
        try await ask(bench, id, ["regions": ["heel"]])
        let capture = try await bench.user(ByID<StartRetake>(id), user).capture_id
        try await bench.upload(capture, user)
        let submitted = try await bench.user(ByID<SubmitCapture>(capture), user)
        #expect(submitted.images?.uploaded_images?.map(\.display_name) == ["Heel"])
    }

    @Test(
        arguments: [
            ["regions": []], ["regions": ["hee"]], ["regions": "heel"], ["regions": [1]],
            ["regions": ["heel"], "message": 5], ["regions": ["heel"], "region": "heel"],
            ["regions": ["heel"], "message": .string(String(repeating: "x", count: 2001))],
        ] as [JSONValue])
    func anInvalidRetakeIsRefused(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let id = try #require(try await bench.generate([:]).first)
        let refused = await refusalError { try await ask(bench, id, body) }
        #expect(refused?.kind == .invalid)
        #expect(refused?.details.isEmpty == false)
        #expect(await refusal { try await ask(bench, "nope", ["regions": ["heel"]]) } == .notFound)
    }
}
