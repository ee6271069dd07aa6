import EntrupyAPI
import Hummingbird
import Platform

/// Outcome rules and fault rules (`/_sim/outcomes` and `/_sim/faults`).
struct RuleController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/outcomes", use: listOutcomes)
            .post("_sim/outcomes", use: addOutcome)
            .delete("_sim/outcomes", use: removeOutcomes)
            .delete("_sim/outcomes/{id}", use: removeOutcome)
            .get("_sim/faults", use: listFaults)
            .post("_sim/faults", use: addFault)
            .delete("_sim/faults", use: removeFaults)
            .delete("_sim/faults/{id}", use: removeFault)
    }

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func listOutcomes(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ListOutcomes() }.response()
    }

    @Sendable private func addOutcome(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer(.json) { AddOutcome(.object($0.body)) }.response(.created)
    }

    @Sendable private func removeOutcomes(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in RemoveOutcomes(nil) }.emptyResponse()
    }

    @Sendable private func removeOutcome(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer { _ in RemoveOutcomes(reader.path("id")) }.emptyResponse()
    }

    @Sendable private func listFaults(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ListFaults() }.response()
    }

    @Sendable private func addFault(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer(.json) { AddFault(.object($0.body)) }.response(.created)
    }

    @Sendable private func removeFaults(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in RemoveFaults(nil) }.emptyResponse()
    }

    @Sendable private func removeFault(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer { _ in RemoveFaults(reader.path("id")) }.emptyResponse()
    }
}
