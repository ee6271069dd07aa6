import EntrupySDK
import EntrupySimTesting
import Foundation
import SimulationAPI
import Testing

/// What the SDK reports when the server refuses, fails, or is not there.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z")) struct SDKErrorTests {
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
        FaultCase(.truncateBody(10), .ErrorCodeOfflineAccess),
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

    @Test func whatJSONCannotSayIsRefusedWithoutARequest() async throws {
        try await withApp { app, sim in
            try await app.login()
            guard case .failed("capture", .ErrorCodeBadRequest, let text, _) = try await app.capture(["brand": Date()])
            else { throw TestApp.Unexpected(app) }
            #expect(text.hasPrefix("the item must hold only what JSON can"))
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
            #expect(error?.localizedDescription == "The item was not found.")
        }
    }

    @Test func afterAResetNothingIsCalledBack() async throws {
        try await withApp { app, sim in
            try await app.login()
            let fault = try await sim.fault(.delay("0.2s"), on: "/sdk/retakes")
            app.sdk.searchRetakes()
            var hits: Int?
            while hits != 1 {
                let faults = try await sim.control("GET", "/_sim/faults").members?["faults"]?.elements
                if case .number(let count) = faults?.first?.members?["hits"] { hits = count.integer }
            }
            #expect(fault.hits == 0)
            EntrupySimulation.reset()
            EntrupySimulation.baseURL = sim.url
            app.sdk.loginDelegate = app
            guard case .loggedIn = try await app.login() else { throw TestApp.Unexpected(app) }
            while try await sim.requests("/sdk/retakes").isEmpty { await Task.yield() }
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", _, _, _) = try await app.next() else { throw TestApp.Unexpected(app) }
        }
    }
}
