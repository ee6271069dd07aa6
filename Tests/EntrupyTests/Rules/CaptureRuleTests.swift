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
        let last = try #require(try await bench.user(ByID<ShowCapture>(capture), user).steps.last(where: \.required))
            .region_id
        // Optional ones are not asked for, and each required one is.
        try await bench.upload(capture, user) { $0.required && $0.region_id != last }
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(capture), user) } == .missingRegions)
        try await bench.upload(capture, user) { $0.region_id == last }
        let answer = try await bench.user(ByID<SubmitCapture>(capture), user)
        #expect(answer.status.result.id == .needsReview)
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(capture), user) } == .wrongState)
        #expect(await refusal { try await bench.user(ByID<CancelCapture>(capture), user) } == .wrongState)
    }

    @Test func aCaptureTimesOutAfterTwoHoursAndNotBefore() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let (early, late) = (try await bench.capture(user), try await bench.capture(user))
        await bench.wait("7199s")
        _ = try await bench.user(ByID<SubmitCapture>(early), user)
        await bench.wait("1s")
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(late), user) } == .captureTimedOut)
        #expect(try await bench.user(ByID<ShowCapture>(late), user).status == .timedOut)
    }

    @Test func theTimeoutFollowsTheNamespacesSetting() async throws {
        let bench = try await RuleBench(settings: ["capture_timeout": "10m"])
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        await bench.wait("10m")
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(capture), user) } == .captureTimedOut)
    }

    @Test func aCancelledCaptureStaysCancelled() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        #expect(try await bench.user(ByID<CancelCapture>(capture), user).status == .cancelled)
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(capture), user) } == .wrongState)
        await bench.wait("3h")
        #expect(try await bench.user(ByID<ShowCapture>(capture), user).status == .cancelled)
    }

    @Test func anUnknownRegionIsReportedBeforeTheCapturesState() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let capture = try await bench.capture(user)
        _ = try await bench.user(ByID<CancelCapture>(capture), user)
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
        #expect(await refusal { try await bench.user(ByID<ShowCapture>(capture), other) } == .notFound)
        #expect(await refusal { try await bench.user(ByID<SubmitCapture>(capture), other) } == .notFound)
        #expect(await refusal { try await bench.user(ByID<CancelCapture>(capture), other) } == .notFound)
    }

    @Test func aQuotaCountsSubmissionsAndStopsTheNextCapture() async throws {
        let bench = try await RuleBench(settings: ["quota": 1])
        let user = try await bench.login()
        _ = try await bench.submit(user)
        let refused = await refusalError { try await bench.capture(user) }
        #expect(refused?.kind == .forbidden)
        #expect(refused?.details.first?.field == "quota")
        let invalid = StartCaptureRequest(item: ["style_name": "Air"])
        #expect(await refusal { try await bench.user(StartCapture(invalid), user) } == .invalid, "checked first")
    }

    @Test func theRequiredFieldsAreThoseOfTheCategory() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        func wrong(_ item: JSONValue) async -> [String]? {
            await refusalError { try await bench.user(StartCapture(bench.sent(["item": item])), user) }?
                .details.map(\.field)
        }
        #expect(await wrong([:]) == ["item.brand", "item.style_name"])
        #expect(await wrong(["product_category": "luxury", "brand": "Louis Vuitton"]) == nil)
        #expect(await wrong(["product_category": "apparel", "brand": "Gucci"]) == ["item.item_type"])
        #expect(await wrong(["product_category": "apparel", "brand": "Gucci", "item_type": "hoodie"]) == nil)
        #expect(await wrong(["product_category": "cars", "brand": "Gucci"])?.first == "item.product_category")
        #expect(await wrong(["brand": "Nike", "style_name": "x", "us_size": 9, "upc": 195_244_532_483]) == nil)
        #expect(await wrong(["brand": "Nike", "style_name": "x", "style_code": 9]) == ["item.style_code"])
    }

    @Test func aCustomerItemIDIsMeasuredInScalars() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        func start(_ id: String) async -> PlatformError.Kind? {
            let item: JSONObject = ["brand": "Nike", "style_name": "x", "customer_item_id": .string(id)]
            return await refusal { try await bench.user(StartCapture(StartCaptureRequest(item: item)), user) }
        }
        #expect(await start(String(repeating: "😀", count: 256)) == nil)
        #expect(await start(String(repeating: "😀", count: 257)) == .invalid)
        #expect(await start(String(repeating: "e\u{301}", count: 128)) == nil)
        #expect(await start(String(repeating: "e\u{301}", count: 128) + "x") == .invalid)
    }

    @Test func theMissingRegionsAreNamed() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let item: JSONObject = ["brand": "Nike", "style_name": "Air Max"]
        let capture = try await bench.user(StartCapture(StartCaptureRequest(item: item)), user).captureID
        try await bench.upload(capture, user) { !["heel", "box_label"].contains($0.region_id) }
        let refused = await refusalError { try await bench.user(ByID<SubmitCapture>(capture), user) }
        #expect(refused?.details.map(\.field) == ["heel"], "the label of the box is optional")
    }

    @Test func capturesArePagedNewestFirst() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        func start() async throws -> String {
            let item: JSONObject = ["brand": "Nike", "style_name": "x"]
            return try await bench.user(StartCapture(StartCaptureRequest(item: item)), user).captureID
        }
        func page(_ query: String, _ caller: Credential? = nil) async throws -> CapturePage {
            try await bench.user(ListCaptures(bench.sent([:], query: Substring(query))), caller ?? user)
        }
        var started: [String] = []
        for _ in 0..<5 { started.append(try await start()) }
        _ = try await bench.user(ByID<CancelCapture>(started[1]), user)
        let first = try await page("limit=2")
        let cursor = try #require(first.next_cursor)
        let second = try await page("limit=2&cursor=\(cursor)")
        _ = try await start()
        let third = try await page("limit=2&cursor=\(second.next_cursor ?? "")")
        #expect(third.next_cursor == nil)
        #expect([first, second, third].flatMap { $0.items.map(\.capture_id) } == started.reversed())
        #expect(try await page("status=cancelled").items.first?.capture_id == started[1])
        for bad in [
            "cursor=\(cursor)&status=started", "cursor=x", "cursor=\(cursor)x", "limit=0", "limit=26", "limit=2.5",
            "status=open",
        ] {
            #expect(await refusal { try await page(bad) } == .invalid, "\(bad)")
        }
        let stranger = try await bench.login("another-user")
        #expect(await refusal { try await page("limit=2&cursor=\(cursor)", stranger) } == .invalid)
    }

    @Test func aCaptureBeyondTheOpenOnesIsRefusedUntilOneEnds() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": ["open_captures": 2]])
        let user = try await bench.login()
        let start = try StartCapture(StartCaptureRequest(item: ["brand": "Nike", "style_name": "Air Max"]))
        let first = try await bench.user(start, user).captureID
        await bench.wait("30m")
        let second = try await bench.user(start, user).captureID
        let refused = await refusalError { try await bench.user(start, user) }
        #expect(refused?.kind == .rateLimited && refused?.details.first?.field == "rate_limits.open_captures")
        #expect(refused?.message.contains("2 open captures of a user (submit or cancel one)") == true)
        guard case .retryAfter(let seconds)? = refused?.payload else {
            return #expect(Bool(false), "\(refused as Any)")
        }
        #expect(seconds == 90 * 60, "the first one times out then")
        // Another user has captures of their own.
        _ = try await bench.user(start, bench.login("another-user"))
        _ = try await bench.user(ByID<CancelCapture>(second), user)
        _ = try await bench.user(start, user)
        #expect(await refusal { try await bench.user(start, user) } == .rateLimited)
        await bench.wait("90m")
        #expect(try await bench.job { try $0.transaction.capture(id: first)?.status } == .timedOut)
        _ = try await bench.user(start, user)
    }

}
