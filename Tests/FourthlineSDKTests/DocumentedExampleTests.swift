import EntrupySDK
import EntrupySimTesting
import Foundation
import FourthlineSDK
import SimulationAPI
import Testing

/// The complete examples of the vendor's document, offline and against the real server. That they compile is half of the test.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z", randomSeed: 21), .timeLimit(.minutes(10)))
struct DocumentedExampleTests {
    static let environments = [NetworkEnvironment.mock, .sandbox]

    /// Runs a test with a code that a back end created, which the mock environment does not need.
    private func run(
        _ environment: NetworkEnvironment, _ body: (SimulatedNamespace, String) async throws -> Void
    ) async throws {
        let sim = try SimulatedNamespace.current
        let code = environment == .mock ? "IDV" : try await sim.validationCode()
        try await FourthlineSimulation.isolated(baseURL: sim.url) { try await body(sim, code) }
        let sessions = environment == .mock ? 0 : 1
        try await sim.expectRequest("POST", "/components/sessions", times: sessions)
    }

    @Test(arguments: environments) func theDocumentExampleRuns(environment: NetworkEnvironment) async throws {
        try await run(environment) { sim, code in
            let controller = DocumentExample()
            (controller.environment, controller.validationCode) = (environment, code)
            let end = await withCheckedContinuation { continuation in
                controller.onEnd = { continuation.resume(returning: $0) }
                controller.viewDidLoad()
            }
            #expect(end == (environment == .mock ? "document: Anna Maria" : "document: Sanne Maria"))
            try await sim.expectRequest(
                "POST", "/components/sessions/*/document/finish", times: environment == .mock ? 0 : 1)
        }
    }

    @Test(arguments: environments) func theBiometricsExampleRuns(environment: NetworkEnvironment) async throws {
        try await run(environment) { sim, code in
            let controller = BiometricsExample()
            (controller.environment, controller.validationCode) = (environment, code)
            let end = await withCheckedContinuation { continuation in
                controller.onEnd = { continuation.resume(returning: $0) }
                controller.viewDidLoad()
            }
            #expect(end == "biometrics: 4.2")
            try await sim.expectRequest(
                "POST", "/components/sessions/*/biometrics/finish", times: environment == .mock ? 0 : 1)
        }
    }

    @Test(arguments: environments) func bothExamplesRunBesideEntrupySDK(environment: NetworkEnvironment) async throws {
        try await run(environment) { sim, code in
            try await EntrupySimulation.isolated(baseURL: sim.url) {
                let controller = ExamplesBesideEntrupySDK()
                let login = Login()
                controller.entrupyApp.loginDelegate = login
                let request = controller.entrupyApp.generateSDKAuthorizationRequest()
                let signed = try await sim.signed(request)
                #expect(
                    await withCheckedContinuation { continuation in
                        login.onEnd = { continuation.resume(returning: $0) }
                        controller.entrupyApp.loginUser(withSignedRequest: signed)
                    })
                (controller.environment, controller.validationCode) = (environment, code)
                let steps = await withCheckedContinuation { continuation in
                    controller.onEnd = { continuation.resume(returning: $0) }
                    controller.viewDidLoad()
                }
                #expect(steps == ["document", "biometrics", "capture: Nike"])
            }
            try await sim.expectRequest("POST", "/sdk/captures/*/submit", times: 1)
        }
    }

    /// A component that fails ends the example in its other branch.
    @Test func anErrorReachesTheExample() async throws {
        try await run(.mock) { _, code in
            FourthlineSimulation.script(.fail(.moduleError(.documentExpired)))
            let controller = DocumentExample()
            let end = await withCheckedContinuation { continuation in
                controller.onEnd = { continuation.resume(returning: $0) }
                controller.viewDidLoad()
            }
            #expect(end == "document: \(WorkflowError.moduleError(.documentExpired))")
        }
    }

    private final class Login: EntrupyLoginDelegate {
        var onEnd: (Bool) -> Void = { _ in }

        func didLoginUserSuccessfully(_ expirationTime: TimeInterval) { onEnd(true) }
        func didLoginUserFailWithError(
            _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
        ) { onEnd(false) }
    }
}
