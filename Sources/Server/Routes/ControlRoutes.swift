import AppComponents
import Entrupy
import Hummingbird
import Simulation

/// The control API for tests (`/_sim`): clock, settings, users, items, rules and webhooks of a namespace.
enum ControlRoutes {
    static func add(to routes: Routes) {
        routes.get("clock") { _ in ShowClock() }
        routes.post("clock/freeze", body: .optionalJSON) { try FreezeClock($0) }
        routes.on(.post, "clock/advance", advanceClock)
        routes.post("clock/resume", body: .ignored) { _ in ResumeClock() }
        routes.on(.post, "reset", reset)
        routes.on(.post, "settle", settle)
        routes.get("settings") { _ in ShowSettings() }
        routes.patch("settings") { PatchSettings(.object($0.body)) }
        routes.on(.post, "seed", loadSeed)
        routes.reading("export", .bytes, exportSeed)
        routes.get("due") { try ListDue($0) }
        routes.get("choices") { _ in ListChoices() }
        routes.get("stats") { _ in ShowStats() }
        addUsers(to: routes)
        addItems(to: routes)
        addRules(to: routes)
        addWebhooks(to: routes)
    }

    private static func addUsers(to routes: Routes) {
        routes.get("users") { try ListUsers($0) }
        routes.get("users/{username}") { ByID<ShowUser>($0.path("username")) }
        routes.patch("users/{username}") { try PatchUser($0) }
        routes.get("sessions") { try ListSessions($0) }
        routes.delete("sessions") { try RevokeSessions($0) }
        routes.delete("sessions/{id}") { RevokeSessions(id: $0.path("id")) }
    }

    private static func addItems(to routes: Routes) {
        routes.get("captures") { try ListAllCaptures($0) }
        routes.get("authentications") { try ListAuthentications($0) }
        routes.on(.post, "authentications", generateItems)
        routes.on(.get, "images/{sha256}", SDKRoutes.image)
        routes.get("authentications/{entrupy_id}/rules") { ByID<ExplainOutcomes>($0.path("entrupy_id")) }
        routes.get("authentications/{entrupy_id}") { ByID<ShowAuthentication>($0.path("entrupy_id")) }
        routes.patch("authentications/{entrupy_id}") { try PatchAuthentication($0) }
        routes.post("authentications/{entrupy_id}/flag/resolve") { try ResolveFlag($0) }
        routes.post("authentications/{entrupy_id}/retake", body: .optionalJSON) { try AskForRetake($0) }
        routes.post("authentications/{entrupy_id}/support-message") { try SendSupportMessage($0) }
        routes.post("authentications/{entrupy_id}/certificate/transfer") { try TransferCertificate($0) }
    }

    private static func addRules(to routes: Routes) {
        routes.get("components/sessions") { try ListWorkflowSessions($0) }
        routes.get("outcomes") { _ in ListOutcomes() }
        routes.post("outcomes", status: .created) { AddOutcome(.object($0.body)) }
        routes.delete("outcomes") { _ in RemoveOutcomes(nil) }
        routes.delete("outcomes/{id}") { RemoveOutcomes($0.path("id")) }
        routes.get("faults") { _ in ListFaults() }
        routes.post("faults", status: .created) { AddFault(.object($0.body)) }
        routes.delete("faults") { _ in RemoveFaults(nil) }
        routes.delete("faults/{id}") { RemoveFaults($0.path("id")) }
        routes.get("held") { _ in ListHeld() }
        routes.on(.post, "held/{id}/release", release)
        routes.longOperation(.delete, "held") { await $0.namespace.releaseAllHeld($0.head).emptyResponse() }
    }

    private static func addWebhooks(to routes: Routes) {
        routes.get("webhooks") { _ in ListAllSubscriptions() }
        routes.post("webhooks", status: .created) { try SubscribeOrganization($0) }
        routes.patch("webhooks/{id}") { try PatchAnySubscription($0) }
        routes.delete("webhooks/{id}") { ByID<RemoveSubscription>($0.path("id")) }
        routes.post("webhooks/check-signature") { try CheckSignature($0) }
        routes.post("webhooks/trigger", status: .accepted) { try TriggerWebhook($0) }
        routes.get("webhook-deliveries") { try ListDeliveries($0) }
        routes.get("webhook-deliveries/{id}") { ByID<ShowDelivery>($0.path("id")) }
        routes.post("webhook-deliveries/{id}/redeliver", body: .ignored) { ByID<Redeliver>($0.path("id")) }
    }

    @Sendable private static func release(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON) { request in
            var fields = request.fields(known: HeldRelease.members)
            let release = HeldRelease(request.path("id"), &fields)
            try fields.finish()
            return release
        } then: { release in
            await request.namespace.release(release, request.head).response()
        }
    }

    @Sendable private static func advanceClock(_ request: RequestReader) async -> Answer {
        await request.reading(.json, { try ClockAdvance($0) }) { advance in
            await request.namespace.advanceClock(advance.target, request.head, until: advance.deadline).response()
        }
    }

    @Sendable private static func reset(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON) {
            var fields = $0.fields(known: [])
            try fields.finish()
        } then: {
            await request.namespace.reset(request.head).response()
        }
    }

    @Sendable private static func settle(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON) { request in
            var fields = request.fields(known: ["within"])
            let span = fields.span("within", to: SettleDeadline.max)
            try fields.finish()
            return span ?? Span("5s")!
        } then: { span in
            await Settling(namespace: request.namespace, head: request.head).settle(within: span).response()
        }
    }

    @Sendable private static func generateItems(_ request: RequestReader) async -> Answer {
        let input = await request.input(.optionalJSON) { try ItemTemplate($0) }
        return await request.namespace.generateItems(input, request.head).response(.created)
    }

    @Sendable private static func loadSeed(_ request: RequestReader) async -> Answer {
        let text = await request.document()
        return await request.reading(.streamed) { _ in
        } then: {
            await request.namespace.loadSeed(text, request.head).response()
        }
    }

    private enum SeedFormat: String, CaseIterable {
        case yaml, json
    }

    @Sendable private static func exportSeed(_ request: RequestReader) async -> Answer {
        var format = SeedFormat.yaml
        let exported = await request.answer { request in
            var query = request.query
            format = query.word("format", SeedFormat.self) ?? .yaml
            try query.finish()
            return ExportSeed()
        }
        return exported.response { seed in
            if format == .json { return JSONAnswer.response(seed.json, status: .ok, requestID: exported.requestID) }
            return Response(
                status: .ok, headers: [.contentType: "application/yaml", .requestID: exported.requestID],
                body: .init(byteBuffer: ByteBuffer(string: seed.yaml)))
        }
    }
}
