import SimulationAPI

/// `GET /_sim/choices` [D choices].
package struct ListChoices: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> Choices {
        let seed = job.state.seed
        let platforms = seed.platforms
        var lists: [String: [Choice]] = [
            "fault_effects": platforms.faultEffects.map { Choice($0.name, about: $0.about) },
            "webhook_effects": WebhookEffect.all.map { Choice($0.name, about: $0.about) },
            "webhook_events":
                (platforms.webhookEvents
                + (job.settings.future.addsEvents ? platforms.futureWebhookEvents(job.state.generator) : []))
                .map { Choice($0) },
            "webhook_formats": platforms.webhookFormats.map { Choice($0) },
            "webhook_signatures": platforms.webhookSignatures.map { Choice($0) },
            "methods": RequestMetadata.methods.map { Choice($0) },
            "organizations": try job.transaction.organizations().map { Choice($0.name) },
        ]
        for effect in platforms.faultEffects where !effect.words.isEmpty {
            lists["effect.\(effect.name)"] = effect.words.map { Choice($0) }
        }
        for part in seed.parts { lists.merge(part.choices) { $1 } }
        return Choices(
            routes: job.state.environment.routes.all.map { .init(method: $0.method, path: $0.path.pattern) }
                .sorted { ($0.path, $0.method) < ($1.path, $1.method) },
            lists: lists)
    }
}
