import EntrupyAPI
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation

/// Captures [S]: from their start to a submission, a cancellation or a time-out.
@Suite struct CaptureRuleTests {
    @Test func aCaptureNeedsTheRequiredFieldsOfItsCategory() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for item in [["brand": "Nike"], ["style_name": "Air"], ["brand": 7, "style_name": "Air"]] as [JSONObject] {
            #expect(
                await refusal { try await bench.user(StartCapture(StartCaptureRequest(item: item)), user) } == .invalid)
        }
    }

    @Test func everyRequiredRegionNeedsAnImageBeforeTheSubmission() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item: JSONObject = ["brand": "Nike", "style_name": "Air Max"]
        let capture = try await bench.user(StartCapture(StartCaptureRequest(item: item)), user).captureID
        let last = try #require(try await bench.user(ShowCapture(capture), user).steps.last(where: \.required))
            .region_id
        // Optional ones are not asked for, and each required one is.
        try await bench.upload(capture, user) { $0.required && $0.region_id != last }
        #expect(await refusal { try await bench.user(SubmitCapture(capture), user) } == .missingRegions)
        try await bench.upload(capture, user) { $0.region_id == last }
        let answer = try await bench.user(SubmitCapture(capture), user)
        #expect(answer.status.result.id == .needsReview)
        #expect(await refusal { try await bench.user(SubmitCapture(capture), user) } == .wrongState)
        #expect(await refusal { try await bench.user(CancelCapture(capture), user) } == .wrongState)
    }

    @Test func aCaptureTimesOutAfterTwoHoursAndNotBefore() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let (early, late) = (try await bench.capture(user), try await bench.capture(user))
        await bench.wait("7199s")
        _ = try await bench.user(SubmitCapture(early), user)
        await bench.wait("1s")
        #expect(await refusal { try await bench.user(SubmitCapture(late), user) } == .captureTimedOut)
        #expect(try await bench.user(ShowCapture(late), user).status == .timedOut)
    }

    @Test func theTimeoutFollowsTheNamespacesSetting() async throws {
        let bench = try await RuleBench(settings: ["capture_timeout": "10m"])
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        await bench.wait("10m")
        #expect(await refusal { try await bench.user(SubmitCapture(capture), user) } == .captureTimedOut)
    }

    @Test func aCancelledCaptureStaysCancelled() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        #expect(try await bench.user(CancelCapture(capture), user).status == .cancelled)
        #expect(await refusal { try await bench.user(SubmitCapture(capture), user) } == .wrongState)
        await bench.wait("3h")
        #expect(try await bench.user(ShowCapture(capture), user).status == .cancelled)
    }

    @Test func anUnknownRegionIsReportedBeforeTheCapturesState() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        _ = try await bench.user(CancelCapture(capture), user)
        let image = ReceivedImage(RuleBench.picture, digests: [], store: bench.namespaces.environment.images)
        defer { image.release(isKept: false) }
        func upload(_ region: String) async -> PlatformError.Kind? {
            await refusal {
                try await bench.user(UploadImage(captureID: capture, regionID: region, image: image), user)
            }
        }
        #expect(await upload("elbow") == .notFound)
        #expect(await upload("heel") == .wrongState)
    }

    @Test func aCaptureOfAnotherUserLooksLikeAMissingOne() async throws {
        let bench = try await RuleBench()
        let (owner, other) = (try await bench.login(), try await bench.login("other-user"))
        let capture = try await bench.capture(owner)
        #expect(await refusal { try await bench.user(ShowCapture(capture), other) } == .notFound)
        #expect(await refusal { try await bench.user(SubmitCapture(capture), other) } == .notFound)
        #expect(await refusal { try await bench.user(CancelCapture(capture), other) } == .notFound)
    }

    @Test func aQuotaCountsSubmissionsAndStopsTheNextCapture() async throws {
        let bench = try await RuleBench(settings: ["quota": 1])
        let user = try await bench.login()
        _ = try await bench.submit(user)
        #expect(await refusal { try await bench.capture(user) } == .forbidden)
        let invalid = StartCaptureRequest(item: ["style_name": "Air"])
        #expect(await refusal { try await bench.user(StartCapture(invalid), user) } == .invalid, "checked first")
    }
}
