import EntrupyAPI
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
        _ = try await bench.control(AskForRetake(id, RetakeRequest(regions: ["outer_side"], message: "Sharper")))
        await bench.wait("1h")
        #expect(try await bench.item(id).result == .needsReview)
        let open = try await bench.user(ListRetakes(), user).items
        try #require(open.count == 1)
        #expect(open[0].item.entrupy_id == id && open[0].retake.regions.map(\.region_id) == ["outer_side"])
        #expect(open[0].retake.requested_at == RuleBench.morning.epoch, "when it was asked for, not when it is read")
        let capture = try await bench.user(StartRetake(id), user)
        #expect(capture.steps.map(\.region_id) == ["outer_side"])
        try await bench.upload(capture.capture_id, user)
        #expect(try await bench.user(SubmitCapture(capture.capture_id), user).entrupy_id == id)
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
        _ = try await bench.control(AskForRetake(id, RetakeRequest(regions: ["heel"], message: nil)))
        let regions = try await bench.user(ListRetakes(), user, language).items.flatMap(\.retake.regions)
        #expect(regions.map(\.display_name) == [step.displayName[language]])
        #expect(regions.map(\.guidance) == [step.guidance[language]])
    }

    @Test func anItemWaitsForOneRetakeAtATime() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        #expect(await refusal { try await bench.user(StartRetake(id), user) } == .wrongState)
        _ = try await bench.control(AskForRetake(id, RetakeRequest(regions: ["outer_side"], message: nil)))
        let again = AskForRetake(id, RetakeRequest(regions: ["inner_side"], message: nil))
        #expect(await refusal { try await bench.control(again) } == .wrongState)
    }

    @Test func regionsMustBeOfTheItemsWorkflow() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        for regions in [[], ["elbow"]] {
            let wrong = AskForRetake(id, RetakeRequest(regions: regions, message: nil))
            #expect(await refusal { try await bench.control(wrong) } == .invalid)
        }
    }

    @Test func anAnsweredRetakeCountsNoSubmission() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "a")
        _ = try await bench.control(AskForRetake(id, RetakeRequest(regions: ["outer_side"], message: nil)))
        let capture = try await bench.user(StartRetake(id), user).capture_id
        try await bench.upload(capture, user)
        _ = try await bench.user(SubmitCapture(capture), user)
        #expect(try await bench.control(ShowUser("DemoOrg-bench-user")).submissions == 1)
    }
}
