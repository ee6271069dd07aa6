import Evidence
import HTTPTypes
import Simulation

/// The scenarios of a namespace (`/_sim/scenarios`): prepared test cases that can be started and verified.
struct ScenarioRoutes: Sendable {
    let namespaces: Namespaces
    /// Counts the shipped scenarios that are verified; `nil` if nobody does.
    let coverage: CoverageLedger?

    func add(to routes: Routes) {
        routes.longOperation(.get, "scenarios") { await namespaces.listScenarios($0.namespace, $0.head).response() }
        routes.longOperation(.get, "scenarios/{name}") {
            await namespaces.showScenario($0.path("name"), $0.namespace, $0.head).response()
        }
        routes.on(.put, "scenarios/{name}", put)
        routes.longOperation(.delete, "scenarios/{name}") {
            await namespaces.deleteScenario($0.path("name"), $0.namespace, $0.head).emptyResponse()
        }
        // A scenario that the request holds.
        routes.on(.post, "scenarios/start") { request in
            await start(
                nil,
                request.input(.documentJSON) { try ScenarioStart($0, maxTextBytes: RequestReader.maxJSONBytes) },
                request)
        }
        routes.on(.post, "scenarios/{name}/start") { request in
            await start(request.path("name"), request.input(.optionalJSON) { try ScenarioStart($0) }, request)
        }
        routes.on(.post, "scenarios/{name}/verify", verify)
    }

    @Sendable private func put(_ request: RequestReader) async -> Answer {
        let text = await request.document()
        return await request.reading(.streamed) {
            $0.path("name")
        } then: { name in
            await namespaces.putScenario(name, text, request.namespace, request.head).savedResponse()
        }
    }

    @Sendable private func verify(_ request: RequestReader) async -> Answer {
        let verified = await request.answer { try VerifyScenario($0) }
        if case .success(let found) = verified.result, found.isShipped {
            coverage?.count(
                scenario: found.run.name, requestID: verified.requestID,
                test: request.request.headers.value(of: .test), in: request.namespace)
        }
        return verified.map(\.run).response()
    }

    private func start(
        _ name: String?, _ wanted: Result<ScenarioStart, PlatformError>, _ request: RequestReader
    ) async -> Answer {
        await namespaces.startScenario(
            name, wanted, request.namespace, request.head, until: SettleDeadline(SettleDeadline.defaultWait)
        ).response()
    }
}
