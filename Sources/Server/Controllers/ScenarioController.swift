import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The scenarios of a namespace (`/_sim/scenarios`): prepared test cases that can be started and verified.
struct ScenarioController {
    let bodies: BodyReader
    let namespaces: Namespaces

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/scenarios", use: list)
            .get("_sim/scenarios/{name}", use: show)
            .put("_sim/scenarios/{name}", use: put)
            .delete("_sim/scenarios/{name}", use: delete)
            .post("_sim/scenarios/{name}/start", use: start)
            .post("_sim/scenarios/{name}/verify", use: verify)
    }

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await namespaces.listScenarios(reader.namespace, reader.head).response()
        }
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await namespaces.showScenario(reader.path("name"), reader.namespace, reader.head).response()
        }
    }

    @Sendable private func put(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let text = await reader.document()
        return await reader.withoutQuery {
            let kept = await namespaces.putScenario(reader.path("name"), text, reader.namespace, reader.head)
            return kept.response {
                JSONAnswer.response($0.info, status: $0.isNew ? .created : .ok, requestID: kept.requestID)
            }
        }
    }

    @Sendable private func delete(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await namespaces.deleteScenario(reader.path("name"), reader.namespace, reader.head).emptyResponse()
        }
    }

    @Sendable private func start(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let wanted = await reader.input(.optionalJSON) { input in
            var query = input.query
            let isStrict = query.flag("strict")
            try query.finish()
            return try ScenarioStart(input.body, isStrict: isStrict)
        }
        let deadline = SettleDeadline(SettleDeadline.defaultWait)
        return await namespaces.startScenario(
            reader.path("name"), wanted, reader.namespace, reader.head, settle: { await deadline.settle($0) }
        ).response()
    }

    @Sendable private func verify(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await reader.namespace.answer(.success(VerifyScenario(reader.path("name"))), reader.head).response()
        }
    }
}
