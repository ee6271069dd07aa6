import EntrupySDK
import EntrupySimTesting
import Foundation
import Shop
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.serialized, .entrupySim(frozenAt: "2026-01-05T09:00:00Z")) struct ShopTests {
    @Test func anItemIsSubmittedAndItsResultArrives() async throws {
        let sim = try SimulatedNamespace.current
        EntrupySimulation.reset()
        EntrupySimulation.baseURL = sim.url
        let shop = Authenticator()
        shop.logIn(signedRequest: try await signedRequest(sim))
        #expect(await run { shop.isLoggedIn })
        shop.authenticate(["brand": "Nike", "item_type": "Sneakers"], from: UIViewController())
        #expect(await run { shop.results.count == 1 })
        let item = try #require(shop.results.first)
        #expect(item.status.result.display.header == "Under Review")
        try await sim.clock.advance(by: "5s")
        try await sim.wait(for: .result(of: item.entrupy_id))
        try await sim.expectRequest("POST", "/sdk/captures/*/submit", status: "200", times: 1)
    }

    /// Fails on purpose where the environment asks for it: `consumer.py` looks at what a failure shows.
    @Test func aWrongExpectation() async throws {
        guard ProcessInfo.processInfo.environment["FAIL"] != nil else { return }
        try await SimulatedNamespace.current.expectRequest("POST", "/sdk/login", times: 3)
    }

    /// Fails likewise, once for each case, whose ids are equal once they are made safe for a file.
    @Test(arguments: ["a/b", "a b", "a:b"]) func aWrongExpectation(of text: String) async throws {
        guard let wanted = ProcessInfo.processInfo.environment["FAIL_CASES"], wanted.contains(text) else { return }
        try await SimulatedNamespace.current.expectRequest("POST", "/sdk/login", times: 3)
    }

    private func run(_ condition: @escaping @Sendable () -> Bool) async -> Bool {
        await Task.detached { EntrupySimulation.run(until: condition, timeout: 20) }.value
    }

    private func signedRequest(_ sim: SimulatedNamespace) async throws -> String {
        var request = URLRequest(url: sim.url.appendingPathComponent("v2/integrations/authorize-user"))
        request.httpMethod = "POST"
        request.setValue("Token \(sim.apiToken)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode([
            "sdk_authorization_request": EntrupyApp.sharedInstance().generateSDKAuthorizationRequest(),
            "unique_user_id": "shop-user-1", "email": "user@example.com",
        ])
        let (data, _) = try await URLSession.shared.data(for: request)
        let answer = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(answer["signed_authorization_request"] as? String)
    }
}
