import EntrupyAPI
import Simulation
import SimulationAPI

/// `POST /_sim/webhooks/trigger`: sends any event for any item.
package struct TriggerWebhook: Operation {
    package static let access = Access.writes
    let event: WebhookEvent
    let entrupyID: String

    package func perform(_ job: JobContext, as caller: Control) throws -> TriggeredWebhook {
        let item = try Results.find(entrupyID, job)
        let enqueued = try Webhooks.enqueueDeliveries(event, item, job)
        return TriggeredWebhook(
            event_id: enqueued.eventID, deliveries: try enqueued.deliveries.map { try WebhookDelivery($0, job) })
    }
}

extension TriggerWebhook {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["event", "entrupy_id"])
        fields.require("event")
        let event = fields.word("event", WebhookEvent.self)
        self.init(event: event ?? .sessionUpdated, entrupyID: fields.string("entrupy_id"))
        try fields.finish()
    }
}
