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

    private func exchange(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await namespaces.listScenarios(exchange.namespace, exchange.head).response()
        }
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await namespaces.showScenario(exchange.path("name"), exchange.namespace, exchange.head).response()
        }
    }

    @Sendable private func put(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        let text = await exchange.document()
        return await exchange.withoutQuery {
            let kept = await namespaces.putScenario(exchange.path("name"), text, exchange.namespace, exchange.head)
            return kept.response {
                JSONAnswer.response($0.info, status: $0.isNew ? .created : .ok, requestID: kept.requestID)
            }
        }
    }

    @Sendable private func delete(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await namespaces.deleteScenario(exchange.path("name"), exchange.namespace, exchange.head).emptyResponse()
        }
    }

    @Sendable private func start(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        let wanted = await exchange.input(.optionalJSON) { input in
            var query = input.query
            let isStrict = query.flag("strict")
            try query.finish()
            return try ScenarioStart(input.body, isStrict: isStrict)
        }
        let patience = SettleDeadline(SettleDeadline.usual)
        return await namespaces.startScenario(
            exchange.path("name"), wanted, exchange.namespace, exchange.head, settle: { await patience.settle($0) }
        ).response()
    }

    @Sendable private func verify(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await exchange.namespace.answer(.success(VerifyScenario(exchange.path("name"))), exchange.head).response()
        }
    }
}
