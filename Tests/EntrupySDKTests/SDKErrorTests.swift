import EntrupySDK
import EntrupySimTesting
import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The SDK's reports of a server that refuses, fails, or is not there.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z"), .timeLimit(.minutes(10)))
struct SDKErrorTests {
    @Test(arguments: [
        (400, EntrupyErrorCode.ErrorCodeBadRequest), (401, .ErrorCodeUnauthorizedAccess),
        (403, .ErrorCodeForbiddenError),
        (404, .ErrorCodeSearchItemNotFound), (408, .ErrorCodeRequestTimeoutError), (409, .ErrorCodeBadRequest),
        (429, .ErrorCodeTooManyRequests), (500, .ErrorCodeInternalServerError), (503, .ErrorCodeInternalServerError),
        (504, .ErrorCodeServerTimeoutError),
    ])
    func everyStatusHasItsCode(status: Int, code: EntrupyErrorCode) async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.fault(.status(status), on: "/sdk/search")
            app.sdk.searchSubmissions(at: [], filters: [], startDate: 0, endDate: 0, paginationLimit: 20)
            guard case .failed("search", code, let description, let text) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(!description.isEmpty && !text.isEmpty && description != text)
            #expect(app.sdk.isAuthorizationValid() == (status != 401), "a refused token is forgotten")
        }
    }

    /// A status without an error envelope, as a proxy answers.
    @Test(arguments: [(418, EntrupyErrorCode.ErrorCodeBadRequest), (502, .ErrorCodeInternalServerError)])
    func aStatusWithoutAnEnvelopeHasACodeToo(status: Int, code: EntrupyErrorCode) async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.fault(.status(status, body: "<html>"), on: "/sdk/retakes")
            app.sdk.searchRetakes()
            guard case .failed("retakes", code, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text == "the server answered \(status) without an error envelope")
        }
    }

    @Test(arguments: [
        FaultCase(.malformedJSON, .ErrorCodeUnknownError), FaultCase(.dropConnection, .ErrorCodeOfflineAccess),
        FaultCase(.truncateBody(10), .ErrorCodeOfflineAccess), FaultCase(.loseRequest, .ErrorCodeOfflineAccess),
        FaultCase(.status(200, body: "hello"), .ErrorCodeUnknownError),
        FaultCase(.status(200, body: .array([])), .ErrorCodeUnknownError),
    ])
    func brokenAnswersAreErrors(_ given: FaultCase) async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.fault(given.effect, on: "/sdk/retakes")
            app.sdk.searchRetakes()
            guard case .failed("retakes", given.code, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains(sim.url.absoluteString))
        }
    }

    struct FaultCase: Sendable {
        let effect: FaultEffect
        let code: EntrupyErrorCode

        init(_ effect: FaultEffect, _ code: EntrupyErrorCode) {
            self.effect = effect
            self.code = code
        }
    }

    @Test(arguments: [FaultEffect.dropConnection, .imageUploadError, .status(500)])
    func anImageThatDoesNotArriveIsAnUploadError(_ effect: FaultEffect) async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.fault(effect, on: "/sdk/captures/*/images/*", times: 1, afterRequests: 2)
            guard case .failed("capture", .ErrorCodeImageUploadError, let text, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.hasPrefix("the picture of "))
            guard case .captured = try await app.capture() else { throw TestApp.Unexpected(app) }
        }
    }

    @Test func aServerThatDoesNotAnswerIsATimeout() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.requestTimeout = 0.3
            try await sim.fault(.delay("20s"), on: "/sdk/retakes")
            app.sdk.searchRetakes()
            guard case .failed("retakes", .ErrorCodeRequestTimeoutError, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    @Test func aServerThatIsNotThereIsNamed() async throws {
        try await withApp { app, sim in
            EntrupySimulation.baseURL = URL(string: "http://127.0.0.1:9")!
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", .ErrorCodeOfflineAccess, let text, let shown) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.hasPrefix("no server answers at http://127.0.0.1:9: start one with `entrupy-sim serve`"))
            #expect(shown == "The internet connection appears to be offline.")
            EntrupySimulation.language = "ja"
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed(_, _, _, "インターネットに接続できません。") = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            EntrupySimulation.baseURL = URL(string: "nonsense")!
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", .ErrorCodeBadRequest, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    @Test func aNamespaceThatIsGoneIsNamed() async throws {
        try await withApp { app, sim in
            EntrupySimulation.baseURL = URL(string: sim.url.absoluteString + "-gone")!
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", .ErrorCodeSearchItemNotFound, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("Create the namespace again"))
        }
    }

    @Test func invalidArgumentsAreRefusedWithoutARequest() async throws {
        try await withApp { app, sim in
            try await app.login()
            guard case .failed("capture", .ErrorCodeBadRequest, let text, _) = try await app.capture(["brand": Date()])
            else { throw TestApp.Unexpected(app) }
            #expect(text.hasPrefix("the item must hold only what JSON can"))
            var deep: [Any] = []
            for _ in 0..<10_000 { deep = [deep] }
            app.sdk.searchSubmissions(at: [], filters: deep, startDate: 0, endDate: 0, paginationLimit: 20)
            guard case .failed("search", .ErrorCodeBadRequest, let nested, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(nested == "the cursor and the filters must be nested at most 64 deep")
            app.sdk.setFlag(true, forResultWithEntrupyID: "")
            guard
                case .failed("flag", .ErrorCodeBadRequest, "the Entrupy ID must not be empty", _) = try await app.next()
            else { throw TestApp.Unexpected(app) }
            try await sim.expectRequest("POST", "/sdk/captures", times: 0)
        }
    }

    @Test func aScriptWithPicturesThatAreNotThereStartsNoCapture() async throws {
        try await withApp { app, sim in
            try await app.login()
            EntrupySimulation.script(.submit(images: ["/nowhere/front.jpg"]))
            guard case .failed("capture", .ErrorCodeImageUploadError, let text, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("/nowhere/front.jpg, which cannot be read"))
            try await sim.expectRequest("POST", "/sdk/captures", times: 0)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-\(UUID()).txt")
            try Data("not a picture".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            EntrupySimulation.script(
                .submit(images: .files([file.path])), .submit(images: .regions(["roof": file.path])),
                .submit(images: .files(Array(repeating: file.path, count: 9))))
            guard case .failed("capture", .ErrorCodeImageUploadError, let refused, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(refused.hasPrefix("the picture of "))
            guard case .failed("capture", .ErrorCodeBadRequest, let unknown, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(unknown.hasPrefix("the script has a picture of the region roof, the capture asks for: "))
            guard case .failed("capture", .ErrorCodeBadRequest, let many, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(many.hasPrefix("the script has 9 pictures, the capture asks for 8"))
        }
    }

    @Test func anUnregisteredBundleIsForbidden() async throws {
        try await withApp { app, sim in
            EntrupySimulation.bundleIdentifier = "com.example.unknown"
            guard case .failed("login", .ErrorCodeForbiddenError, _, _) = try await app.login() else {
                throw TestApp.Unexpected(app)
            }
        }
    }

    @Test func errorsOfCompletionHandlersAreNSErrorsOfOneDomain() async throws {
        try await withApp { app, sim in
            try await app.login()
            let error = await withCheckedContinuation { continuation in
                app.sdk.getFlagDetailsForResult(withEntrupyID: "AAAAAAAA") { _, error in
                    continuation.resume(returning: error.map { $0 as NSError })
                }
            }
            #expect(error?.domain == EntrupySimulation.errorDomain)
            #expect(error?.code == Int(EntrupyErrorCode.ErrorCodeSearchItemNotFound.rawValue))
            #expect(error?.localizedDescription == "Not found.")
        }
    }

    @Test func afterAResetNoCallbackRuns() async throws {
        // The answer must come after the reset, which a busy machine makes late.
        for delay: SimulatedDuration in ["0.2s", "2s", "20s", "60s"] {
            let wasLate = try await withApp { app, sim in
                try await resetBeforeTheAnswer(app, sim, delay: delay)
            }
            if wasLate { return }
        }
        Issue.record("every answer came before the reset")
    }

    /// Resets the app object while a search runs. Returns `false` if the answer came before.
    private func resetBeforeTheAnswer(
        _ app: TestApp, _ sim: SimulatedNamespace, delay: SimulatedDuration
    ) async throws -> Bool {
        _ = try await sim.control("POST", "/_sim/reset")
        try await app.login()
        let fault = try await sim.fault(.delay(delay), on: "/sdk/retakes")
        let before = app.callbacks
        app.sdk.searchRetakes()
        var hits: Int?
        while hits != 1 {
            let faults = try await sim.control("GET", "/_sim/faults").members?["faults"]?.elements
            if case .number(let count) = faults?.first?.members?["hits"] { hits = count.integer }
        }
        #expect(fault.hits == 0)
        EntrupySimulation.reset()
        guard app.callbacks == before else { return false }
        EntrupySimulation.baseURL = sim.url
        app.sdk.loginDelegate = app
        app.sdk.searchRetakeDelegate = app
        guard case .loggedIn = try await app.login() else { throw TestApp.Unexpected(app) }
        while try await sim.requests("/sdk/retakes").isEmpty { await Task.yield() }
        app.sdk.loginUser(withSignedRequest: "x")
        guard case .failed("login", _, _, _) = try await app.next() else { throw TestApp.Unexpected(app) }
        return true
    }

    // MARK: Calls in flight

    @Test func aFailedLoginKeepsTheSession() async throws {
        try await withApp { app, sim in
            try await app.login()
            app.sdk.loginUser(withSignedRequest: "garbage")
            guard case .failed("login", .ErrorCodeUnauthorizedAccess, _, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(app.sdk.isAuthorizationValid())
        }
    }

    @Test(arguments: [401, 403]) func theEndOfASessionIsPosted(status: Int) async throws {
        try await withApp { app, sim in
            try await sim.settings(["sdk": ["ended_session_status": .number(JSONNumber(status))]])
            let before = UserDefaults.standard.integer(forKey: KEntrupySessionGenerationDefaultsKey)
            try await app.login()
            #expect(UserDefaults.standard.integer(forKey: KEntrupySessionGenerationDefaultsKey) > before)
            let posted = Posted()
            let observer = NotificationCenter.default.addObserver(
                forName: Notification.Name(KEntrupySessionEndedNotification), object: nil, queue: nil
            ) { posted.add($0.userInfo) }
            defer { NotificationCenter.default.removeObserver(observer) }
            try await sim.revokeSessions()
            app.sdk.searchRetakes()
            guard case .failed("retakes", _, _, _) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(!app.sdk.isAuthorizationValid())
            // Other tests post too, but never a 403.
            let mine = posted.all.filter { $0[KEntrupySessionEndedStatusCodeUserInfoKey] == "\(status)" }
            #expect(status == 401 ? !mine.isEmpty : mine.count == 1)
            #expect(mine.someAndAll { $0[KEntrupySessionEndedEcodeUserInfoKey] == "invalid_session_token" })
            #expect(mine.contains { $0[KEntrupySessionGenerationUserInfoKey].flatMap { Int($0) } ?? 0 > before })
        }
    }

    /// The values of notifications, as texts.
    private final class Posted: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [[String: String]] = []

        var all: [[String: String]] { lock.withLock { values } }

        func add(_ info: [AnyHashable: Any]?) {
            let texts = Dictionary(
                uniqueKeysWithValues: (info ?? [:]).compactMap { key, value in (key as? String).map { ($0, "\(value)") }
                })
            lock.withLock { values.append(texts) }
        }
    }

    @Test func theLateRefusalOfAnOldSessionKeepsTheNewOne() async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.revokeSessions()
            try await sim.fault(.delay("1s"), on: "/sdk/retakes")
            app.sdk.searchRetakes()
            app.sdk.loginUser(withSignedRequest: try await app.signedRequest())
            // On a slow machine the refusal may come first, and then shows nothing.
            for _ in 1...2 {
                switch try await app.next() {
                case .loggedIn, .failed("retakes", .ErrorCodeUnauthorizedAccess, _, _): break
                default: throw TestApp.Unexpected(app)
                }
            }
            #expect(app.sdk.isAuthorizationValid())
        }
    }

    @Test func aLoginThatEndsAfterCleanupIsIgnored() async throws {
        try await withApp { app, sim in
            try await sim.fault(.delay("0.2s"), on: "/sdk/login", times: 1)
            app.sdk.loginUser(withSignedRequest: try await app.signedRequest())
            app.sdk.cleanup()
            guard case .failed("login", .ErrorCodeUnauthorizedAccess, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("cleanup()") && !app.sdk.isAuthorizationValid())
            try await sim.expectRequest("POST", "/sdk/logout", status: "204", times: 1)
        }
    }

    @Test func aCaptureInterruptedByAResetSendsNoMoreRequests() async throws {
        try await withApp { app, sim in
            let other = try await Simulator.start().makeNamespace()
            try await app.login()
            try await sim.fault(.delay("0.2s"), on: "/sdk/captures")
            app.sdk.startCapture(
                forItem: ["brand": "Nike", "item_type": "Sneakers"], viewController: UIViewController())
            var captures: [Any] = []
            while captures.isEmpty {
                captures = try await sim.control("GET", "/_sim/captures").members?["captures"]?.elements ?? []
            }
            EntrupySimulation.reset()
            EntrupySimulation.baseURL = other.url
            while try await sim.requests("/sdk/captures").isEmpty { await Task.yield() }
            app.sdk.loginDelegate = app
            app.sdk.loginUser(withSignedRequest: "x")
            _ = try await app.next()
            #expect(try await other.requests().map(\.path) == ["/sdk/login"])
            try await other.delete()
        }
    }

    @Test func scriptsAndConfigurationsBelongToTheCallsInTheirOrder() async throws {
        try await withApp { app, sim in
            try await app.login()
            for _ in 1...5 {
                EntrupySimulation.script(.denyCamera)
                app.sdk.fetchConfigurationType(.ConfigTypeDebug)
                app.sdk.startCapture(
                    forItem: ["brand": "Nike", "customer_item_id": "a"], viewController: UIViewController())
                app.sdk.fetchConfigurationType(.ConfigTypeProduction)
                app.sdk.startCapture(
                    forItem: ["brand": "Nike", "item_type": "Sneakers", "customer_item_id": "b"],
                    viewController: UIViewController())
                EntrupySimulation.script(.cancel)
                for _ in 1...4 { _ = try await app.next() }
                guard case .cancelled = try await app.capture() else { throw TestApp.Unexpected(app) }
            }
            app.sdk.searchSubmissions(at: [], filters: [], startDate: 0, endDate: 0, paginationLimit: 25)
            guard case .found(let page) = try await app.next() else { throw TestApp.Unexpected(app) }
            #expect(page.item_count == 5 && page.items.someAndAll { $0.status.result.id != .invalid })
        }
    }

    @Test(arguments: ["/sdk/captures/*/submit", "/sdk/captures/*/images/*", "/sdk/config"])
    func anAnswerWithoutItsMembersIsAnError(route: String) async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.fault(.status(200, body: .object([:])), on: route)
            guard case .failed("capture", _, let text, _) = try await app.capture() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("lacks"))
        }
    }

    @Test func twoFiltersOfOneKindMustBothHold() async throws {
        try await withApp { app, sim in
            try await app.login()
            try await sim.insertItems(2, username: "DemoOrg-demo-user")
            for (filters, count) in [
                ([EntrupySearchFilter.brands(["Nike", "Gucci"]), .brands(["Nike"])], 2),
                ([.brands(["Nike"]), .brands(["Gucci"])], 0), ([.brands([])], nil),
            ] as [([EntrupySearchFilter], Int?)] {
                let found: Int? = await withCheckedContinuation { continuation in
                    app.sdk.searchAuthenticationItems(query: EntrupySearchQuery(filters: filters)) { result, _ in
                        continuation.resume(returning: result?["total_count"] as? Int)
                    }
                }
                #expect(found == count)
            }
        }
    }

    @Test func anOldValueMayUseTheAppWhileItIsReleased() {
        final class User {
            deinit { _ = EntrupyApp.sharedInstance().theme }
        }
        let sdk = EntrupyApp.sharedInstance()
        do {
            let user = User()
            sdk.backgroundTransferCompletionHandler = { _ = user }
        }
        sdk.backgroundTransferCompletionHandler = nil
        #expect(sdk.backgroundTransferCompletionHandler == nil)
    }

    @Test(arguments: ["../x", "a/b", "A", "\u{e9}"]) func anInvalidNamespaceNameIsRefused(name: String) async throws {
        try await withApp { app, sim in
            EntrupySimulation.namespace = name
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", .ErrorCodeBadRequest, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            #expect(text.contains("is not a namespace's name"))
        }
    }
}
