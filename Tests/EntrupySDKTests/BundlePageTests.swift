import Foundation
import SimulationAPI
import Testing

@testable import EntrupySimTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Pages of the namespaces of failed tests.
@Suite(.timeLimit(.minutes(10))) struct BundlePageTests {
    @Test(.entrupySim()) func aPageShowsTheRequestsAndNoSecret() async throws {
        let sim = try SimulatedNamespace.current
        _ = try await sim.insertItems()
        var request = URLRequest(url: sim.url.appendingPathComponent("v2/webhooks"))
        request.httpMethod = "POST"
        request.setValue("Token \(sim.apiToken)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(
            #"{"url": "http://127.0.0.1:9", "secret_key": "a-secret-of-mine", "events": ["session.completed"]}"#.utf8)
        _ = try await URLSession.shared.data(for: request)
        let text = String(decoding: try await sim.page(titled: "a-test"), as: UTF8.self)
        #expect(text.contains("<title>a-test · entrupy-sim report</title>") && text.contains("/v2/webhooks"))
        #expect(!text.contains("a-secret-of-mine"))
    }

    @Test(.entrupySim()) func aDeletedScenarioIsStillChecked() async throws {
        let sim = try SimulatedNamespace.current
        func ask(_ method: String, _ path: String, _ body: String = "") async throws {
            var request = URLRequest(url: sim.url.appendingPathComponent("_sim/scenarios/\(path)"))
            request.httpMethod = method
            if !body.isEmpty {
                request.setValue("application/yaml", forHTTPHeaderField: "Content-Type")
                request.httpBody = Data(body.utf8)
            }
            let (_, answer) = try await URLSession.shared.data(for: request)
            #expect((answer as? HTTPURLResponse).map { $0.statusCode < 300 } == true, "\(method) \(path)")
        }
        try await ask("PUT", "mine", "name: mine\ndescription: Mine.\nexpect:\n  - {route: /sdk/login, times: 0}\n")
        try await ask("POST", "mine/start")
        try await ask("DELETE", "mine")
        let page = String(decoding: try await sim.page(titled: "a-test"), as: UTF8.self)
        #expect(page.contains("/sdk/login") && !page.contains("not checked"))
    }
}
