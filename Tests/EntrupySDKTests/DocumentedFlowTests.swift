import EntrupySDK
import EntrupySimTesting
import Foundation
import Testing

/// The flows of the vendor's documents, as an app team writes them, against the real server.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z", randomSeed: 19), .timeLimit(.minutes(10)))
struct DocumentedFlowTests {
    private let start = 1_767_603_600.0

    @Test func aUserIsAuthorizedAndLoggedInForADay() async throws {
        try await withApp { app, sim in
            #expect(!app.sdk.isAuthorizationValid())
            guard case .loggedIn(let end) = try await app.login() else { throw TestApp.Unexpected(app) }
            #expect(end == start + 86_400 && app.sdk.isAuthorizationValid())
            try await sim.expectRequest("POST", "/sdk/login", status: "200", times: 1)
            try await sim.clock.advance(by: .hours(24))
            #expect(!app.sdk.isAuthorizationValid(), "a session is over at exactly its end")
        }
    }

    @Test func aCaptureIsUnderReviewThenAuthenticWithACertificate() async throws {
        try await withApp { app, sim in
            try await app.login()
            let submitted = try await app.submit("sku-1")
            #expect(
                submitted.status.result.id == .needs_review && submitted.status.result.display.header == "Under Review")
            #expect(
                submitted.images?.uploaded_images?.count == 8 && submitted.properties.brand.display["name"] == "Nike")
            #expect(submitted.timestamp.epoch == start && submitted.more_details == nil)
            try await sim.clock.advance(by: "5s")
            let result = try await app.sdk.fetchSessionDetails(entrupyId: submitted.entrupy_id)
            #expect(result.status.result.id == .authentic && result.user?.username == "DemoOrg-demo-user")
            #expect(result.more_details?.certificate.site?.hasSuffix("/certificates/\(submitted.entrupy_id)") == true)
            try await sim.expectRequest("PUT", "/sdk/captures/*/images/*", status: "200", times: 8)
        }
    }

    @Test func theDebugConfigurationIsShorterAndItsItemsAreInvalid() async throws {
        try await withApp { app, sim in
            try await app.login()
            app.sdk.fetchConfigurationType(.ConfigTypeDebug)
            guard case .configured = try await app.next() else { throw TestApp.Unexpected(app) }
            let result = try await app.submit("sku-debug")
            #expect(result.status.result.id == .invalid && result.images?.uploaded_images?.count == 2)
            try await sim.expectRequest("GET", "/sdk/config", times: 1)
        }
    }

    @Test func theConfigurationIsFetchedBeforeTheFirstCaptureAndOnlyThen() async throws {
        try await withApp { app, sim in
            try await app.login()
            _ = try await app.submit("sku-1")
            _ = try await app.submit("sku-2")
            try await sim.expectRequest("GET", "/sdk/config", times: 1)
        }
    }

    @Test func thePersonMayCancelRefuseTheCameraOrLoseTheConnection() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.script(
                .cancel, .denyCamera, .loseConnection(afterImage: 3), .loseConnection(afterImage: 99))
            guard case .cancelled = try await app.capture() else { throw TestApp.Unexpected(app) }
            guard case .failed("capture", .ErrorCodeUserDeniedPermissions, _, let text) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text == "Camera access is needed to photograph the item.")
            for sent in [3, 8] {
                guard case .failed("capture", .ErrorCodeImageUploadError, let text, _) = try await app.capture() else {
                    throw TestApp.Unexpected(app)
                }
                #expect(text.contains("after picture \(sent),"))
            }
            try await sim.expectRequest("POST", "/sdk/captures", times: 3)
            try await sim.expectRequest("PUT", "/sdk/captures/*/images/*", times: 11)
            try await sim.expectRequest("POST", "/sdk/captures/*/submit", times: 0)
        }
    }

    @Test func aCaptureTimesOutAfterTwoHoursOfTheNamespacesClock() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.script(.timeout)
            guard case .timedOut = try await app.capture() else { throw TestApp.Unexpected(app) }
            #expect(try await sim.clock.state.now == "2026-01-05T11:00:00.000000Z")
        }
    }

    @Test func aCaptureThatIsLeftOpenTimesOutOnceTheTestMovesTheClock() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.script(.leaveOpen)
            app.sdk.startCapture(
                forItem: ["brand": "Nike", "style_name": "Air Max"], viewController: UIViewController())
            var captures: [Any] = []
            while captures.isEmpty {
                captures = try await sim.control("GET", "/_sim/captures").members?["captures"]?.elements ?? []
            }
            try await sim.clock.advance(by: .minutes(119))
            try await sim.clock.advance(by: "1m")
            guard case .timedOut = try await app.next() else { throw TestApp.Unexpected(app) }
        }
    }

    @Test func resultsAreFlaggedAndCleared() async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.outcome("unknown", for: [.customerItemID("late-*")], after: "3h")
            let item = try await app.submit("late-1")
            try await sim.clock.advance(by: "3h")
            let details: EntrupyFlagDetails = try await flag(app, item.entrupy_id)
            #expect(details.flag_status.id == .none && details.flag_status.is_flaggable)
            let reason = try #require(details.supported_flag_reasons?.first?.id)
            app.sdk.setFlag(true, forResultWithEntrupyID: item.entrupy_id, flagReasonId: reason, message: "look again")
            guard case .flagged(true) = try await app.next() else { throw TestApp.Unexpected(app) }
            let flagged: EntrupyCaptureResultStatusFlag = try await flag(app, item.entrupy_id)
            #expect(flagged.id == .flagged)
            app.sdk.setFlag(true, forResultWithEntrupyID: item.entrupy_id)
            guard case .failed("flag", .ErrorCodeBadRequest, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            app.sdk.setFlag(false, forResultWithEntrupyID: item.entrupy_id, flagReasonId: "", message: nil)
            guard case .flagged(false) = try await app.next() else { throw TestApp.Unexpected(app) }
        }
    }

    @Test func theBuiltInFlagViewSubmitsOrIsClosed() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await app.submit("sim-authentic-after-0s")
            try await sim.clock.advance(by: "1s")
            EntrupySimulation.flagView = .cancel
            app.sdk.displayFlagViewForItem(withEntrupyID: item.entrupy_id)
            guard case .flagViewShown = try await app.next(), case .flagViewCancelled = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            EntrupySimulation.flagView = .submit(reasonID: "wrong_photos", message: "these are not mine")
            app.sdk.displayFlagViewForItem(withEntrupyID: item.entrupy_id)
            guard case .flagViewShown = try await app.next(), case .flagSubmitted = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            let details: EntrupyFlagDetails = try await flag(app, item.entrupy_id)
            #expect(details.flag_status.flag_info?.message == "these are not mine")
        }
    }

    @Test func submissionsAreSearchedPageByPage() async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.insertItems(45, username: "DemoOrg-demo-user")
            var cursor: [String]? = []
            var ids: Set<String> = []
            var pages = 0
            repeat {
                app.sdk.searchSubmissions(
                    at: cursor ?? [], filters: [["key": "status.result.id", "values": ["authentic", "unknown"]]],
                    startDate: 0, endDate: 0, paginationLimit: 20)
                guard case .found(let page) = try await app.next() else { throw TestApp.Unexpected(app) }
                ids.formUnion(page.items.map(\.entrupy_id))
                cursor = page.next_cursor
                pages += 1
            } while cursor?.isEmpty == false
            #expect(pages == 3 && ids.count == 45)
            app.sdk.searchSubmissions(at: [], filters: [], startDate: 0, endDate: 0, paginationLimit: 26)
            guard case .failed("search", .ErrorCodeBadRequest, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("limit must be a whole number from 1 to 25, got 26"))
        }
    }

    @Test func itemsAreSearchedAndCounted() async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.insertItems(3, username: "DemoOrg-demo-user")
            try await sim.insertItems(2, brand: "Gucci", result: "unknown", username: "DemoOrg-demo-user")
            let query = EntrupySearchQuery(
                dateRange: .last(days: 7), filters: [.status([.authentic, .unidentified]), .category([.sneakers])],
                resultMode: .results, limit: 2)
            let first = try await items(app, query)
            #expect(first.total_count == 5 && first.item_count == 2 && first.items?.count == 2)
            query.cursor = first.next_cursor
            let second = try await items(app, query)
            #expect(second.items?.count == 2 && second.next_cursor != nil)
            query.cursor = second.next_cursor
            #expect(try await items(app, query).next_cursor == nil)
            let count = try await items(
                app,
                EntrupySearchQuery(
                    dateRange: .custom(start: "2026-01-05", end: "2026-01-05"),
                    filters: [.brands(["Gucci"]), .flag([.none])],
                    resultMode: .countOnly))
            #expect(count.total_count == 2 && count.items?.isEmpty ?? true)
            let wrong = EntrupySearchQuery(dateRange: .custom(start: "yesterday", end: "2026-01-05"))
            await #expect(throws: NSError.self) { try await items(app, wrong) }
        }
    }

    @Test func retakesAreFoundAndTaken() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.script(.retake(message: "too dark"), .cancel)
            let item = try await app.submit("sku-dark")
            app.sdk.searchRetakes()
            guard case .retakes(let page) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(page.items.map(\.entrupy_id) == [item.entrupy_id])
            #expect(page.items.first?.batch_request?.customer_state == "batch_open")
            app.sdk.startRetakeCaptureForItem(withEntrupyID: item.entrupy_id)
            guard case .cancelled = try await app.next() else { throw TestApp.Unexpected(app) }
            app.sdk.startRetakeCaptureForItem(withEntrupyID: item.entrupy_id)
            guard case .retaken(let retaken) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(retaken.entrupy_id == item.entrupy_id && retaken.batch_request == nil)
            app.sdk.startRetakeCaptureForItem(withEntrupyID: item.entrupy_id)
            guard case .failed("retake", .ErrorCodeBadRequest, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    @Test func theSixthLoginOfAMinuteIsRefused() async throws {
        try await withApp { app, sim in
            for _ in 1...5 {
                guard case .loggedIn = try await app.login() else { throw TestApp.Unexpected(app) }
            }
            guard case .failed("login", .ErrorCodeTooManyRequests, _, _) = try await app.login() else {
                throw TestApp.Unexpected(app)
            }
            try await sim.clock.advance(by: "60s")
            guard case .loggedIn = try await app.login() else { throw TestApp.Unexpected(app) }
        }
    }

    @Test func cleanupForgetsTheSession() async throws {
        try await withApp { app, sim in
            try await app.login()
            app.sdk.cleanup()
            #expect(!app.sdk.isAuthorizationValid())
            guard case .failed("capture", .ErrorCodeUnauthorizedAccess, let text, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.hasPrefix("no user is logged in"))
            try await sim.wait(for: "item:none:result", within: "0.001s", fails: true)
            while try await sim.requests("/sdk/logout").isEmpty { await Task.yield() }
        }
    }

    @Test func detailsAreShown() async throws {
        try await withApp { app, sim in
            try await app.login()
            let item = try await app.submit("sku-1")
            app.sdk.displayDetailViewForItem(
                withEntrupyID: item.entrupy_id, withConfiguration: EntrupyDetailViewConfiguration(displayTimeline: true)
            )
            guard case .displayed(item.entrupy_id) = try await app.next(),
                case .dismissed(item.entrupy_id) = try await app.next()
            else { throw TestApp.Unexpected(app) }
            app.sdk.displayDetailViewForItem(
                withEntrupyID: "AAAAAAAA", withConfiguration: EntrupyDetailViewConfiguration())
            guard case .failed("detail", .ErrorCodeSearchItemNotFound, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    private func flag<Value: Decodable & Sendable>(_ app: TestApp, _ id: String) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            app.sdk.getFlagDetailsForResult(withEntrupyID: id) { result, error in
                continuation.resume(
                    with: Result {
                        if let error { throw error }
                        let data = try JSONSerialization.data(withJSONObject: try #require(result))
                        return try JSONDecoder().decode(Value.self, from: data)
                    })
            }
        }
    }

    @discardableResult
    private func items(_ app: TestApp, _ query: EntrupySearchQuery) async throws -> EntrupySearchItemsResult {
        try await withCheckedThrowingContinuation { continuation in
            app.sdk.searchAuthenticationItems(query: query) { result, error in
                continuation.resume(
                    with: Result {
                        if let error { throw error }
                        let data = try JSONSerialization.data(withJSONObject: try #require(result))
                        return try JSONDecoder().decode(EntrupySearchItemsResult.self, from: data)
                    })
            }
        }
    }
}

extension SimulatedNamespace {
    /// Waits for an event that does not happen.
    func wait(for event: SimulatedEvent, within: SimulatedDuration, fails: Bool) async throws {
        await #expect(throws: SimulatorError.self) { try await wait(for: event, within: within) }
    }
}
