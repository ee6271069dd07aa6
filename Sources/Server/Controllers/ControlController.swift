import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The control API for tests (`/_sim`): clock, reset, settings, users and items of a namespace.
struct ControlController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/clock", use: showClock)
            .post("_sim/clock/freeze", use: freezeClock)
            .post("_sim/clock/advance", use: advanceClock)
            .post("_sim/clock/resume", use: resumeClock)
            .post("_sim/reset", use: reset)
            .get("_sim/settings", use: showSettings)
            .patch("_sim/settings", use: patchSettings)
            .get("_sim/users/{username}", use: showUser)
            .patch("_sim/users/{username}", use: patchUser)
            .get("_sim/authentications", use: listAuthentications)
            .post("_sim/authentications", use: generateItems)
            .get("_sim/authentications/{entrupy_id}", use: showAuthentication)
            .patch("_sim/authentications/{entrupy_id}", use: patchAuthentication)
            .post("_sim/authentications/{entrupy_id}/flag/resolve", use: resolveFlag)
            .post("_sim/authentications/{entrupy_id}/retake", use: askForRetake)
            .post("_sim/authentications/{entrupy_id}/support-message", use: sendSupportMessage)
    }

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func showClock(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ShowClock() }.response()
    }

    @Sendable private func freezeClock(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer(.optionalJSON) { try FreezeClock($0.body) }.response()
    }

    @Sendable private func resumeClock(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ResumeClock() }.response()
    }

    @Sendable private func advanceClock(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        switch await reader.input(.json, { (try ClockTarget($0.body), try SettleDeadline($0.body)) }) {
        case .success(let (target, deadline)):
            return await reader.namespace.advanceClock(target, reader.head, settle: deadline.settle).response()
        case .failure(let error):
            return await reader.namespace.refuse(error, reader.head).refusal()
        }
    }

    @Sendable private func reset(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let input = await reader.input(.optionalJSON) { input in
            guard let key = input.body.keys.min() else { return }
            throw PlatformError.invalid([
                ErrorDetail(key, "is not known here; a reset has no options; PUT creates a namespace from other data")
            ])
        }
        if case .failure(let error) = input { return await reader.namespace.refuse(error, reader.head).refusal() }
        return await reader.namespace.reset(reader.head).response()
    }

    @Sendable private func showSettings(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ShowSettings() }.response()
    }

    @Sendable private func patchSettings(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer(.json) { PatchSettings(.object($0.body)) }.response()
    }

    @Sendable private func showUser(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer { _ in ShowUser(reader.path("username")) }.response()
    }

    @Sendable private func patchUser(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer(.json) { try PatchUser(reader.path("username"), $0.body) }.response()
    }

    @Sendable private func listAuthentications(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let limit = query.number("limit", in: ListAuthentications.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return ListAuthentications(limit: limit ?? ListAuthentications.defaultLimit, cursor: cursor)
        }.response()
    }

    @Sendable private func generateItems(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let input = await reader.input(.optionalJSON) { try ItemTemplate($0.body) }
        return await reader.namespace.generateItems(input, reader.head).response(.created)
    }

    @Sendable private func showAuthentication(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer { _ in ShowAuthentication(reader.path("entrupy_id")) }.response()
    }

    @Sendable private func patchAuthentication(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer(.json) {
            try PatchAuthentication(reader.path("entrupy_id"), $0.body)
        }.response()
    }

    @Sendable private func askForRetake(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer(.json) {
            AskForRetake(reader.path("entrupy_id"), try RetakeRequest($0.body))
        }.response()
    }

    @Sendable private func sendSupportMessage(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer(.json) {
            try SendSupportMessage(reader.path("entrupy_id"), SupportMessageRequest($0.body))
        }.response()
    }

    @Sendable private func resolveFlag(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer(.json) { try ResolveFlag(reader.path("entrupy_id"), $0.body) }.response()
    }
}
