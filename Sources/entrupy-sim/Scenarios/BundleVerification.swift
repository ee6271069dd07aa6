import Foundation
import SimulationAPI

/// `scenario verify FILE --bundle BUNDLE`: checks a scenario's expectations about requests against the journal of a bundle.
enum BundleVerification {
    /// - Parameter isStrict: whether notes make the verification fail.
    /// - Returns: the verification, and the number of expectations about other things, which are not checked.
    /// - Throws: ``Refusal`` if one of the files is wrong, or if the scenario expects nothing about requests.
    static func run(_ file: String, _ bundle: String, isStrict: Bool) async throws -> (ScenarioRun, others: Int) {
        let text = try ScenarioCommand.text(file)
        return try await OpenedBundle.with(bundle) { opened in
            // Started in a namespace of its own, the scenario is read whole: mistakes have their lines, and its notes are known.
            let started = try await start(text, file, opened.client)
            let found = try await opened.server.checkRequests(ofScenario: text)
            guard !found.checks.isEmpty else {
                throw Refusal(
                    .no, "\(file) expects nothing about requests, and a bundle has only those",
                    next: "give it an expectation such as: expect: [{route: /sdk/login, status: 200}]")
            }
            let info: ServerInfo = try await opened.client.get("/_sim/info")
            let isMet = found.checks.allSatisfy(\.passed) && !(isStrict && !started.notes.isEmpty)
            var run = ScenarioRun(
                name: started.name, namespace: "default", url: info.url, started_at: started.started_at,
                clock: info.namespace.clock, timeline: [], expectations: found.checks,
                notes: started.notes)
            run.verified = isMet
            return (run, found.others)
        }
    }

    private static func start(_ text: String, _ file: String, _ client: ControlClient) async throws -> ScenarioRun {
        do {
            return try await client.post(
                "/_sim/scenarios/start", body: ["scenario": text, "namespace": "entrupy-sim-verify"], takesLong: true)
        } catch var refusal as Refusal {
            if refusal.code == .usage { ScenarioCommand.locate(&refusal, in: file) }
            throw refusal
        }
    }
}
