import EntrupyAPI
import Simulation
import SimulationAPI

/// `POST /_sim/webhooks/trigger`: sends any event for any item.
package struct TriggerWebhook: Operation {
    package static let access = Access.writes
    let event: WebhookEvent
    let entrupyID: String

    package init(_ event: WebhookEvent, entrupyID: String) {
        self.event = event
        self.entrupyID = entrupyID
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> TriggeredWebhook {
        let item = try Results.find(entrupyID, job)
        let enqueued = try Webhooks.enqueueDeliveries(event, item, job)
        return TriggeredWebhook(
            event_id: enqueued.eventID, deliveries: try enqueued.deliveries.map { try WebhookDelivery($0, job) })
    }
}
