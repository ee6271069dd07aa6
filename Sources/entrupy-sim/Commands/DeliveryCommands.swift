import ArgumentParser
import SimulationAPI

struct DeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "List, show and redeliver deliveries of webhooks, and trigger events.",
        subcommands: [List.command, Show.command, Redeliver.command, Trigger.command])

    struct Delivery: ParsableArguments {
        @Argument(help: "The delivery's id, as \"deliveries list\" shows it.") var id: String
    }

    private static let headings = ["ID", "EVENT", "ITEM", "FORMAT", "SIGNATURE", "STATUS", "ATTEMPTS", "LAST", "URL"]
    private static let empty = "no deliveries"

    private static func cells(_ delivery: WebhookDelivery) -> [String?] {
        let last = delivery.attempts.last
        return [
            delivery.id, delivery.event, delivery.entrupy_id, delivery.format, last?.signature, delivery.status,
            "\(delivery.attempts.count)", last?.status.map { "\($0)" } ?? last?.error, delivery.url,
        ]
    }

    struct List: Endpoint {
        static let abstract = "List deliveries, newest first."
        @Option(help: "waiting, sending, retrying, delivered, failed or cancelled.") var status: String?
        @Option(help: "The item's entrupy_id.") var entrupyId: String?
        @Option(help: "The maximum number of deliveries to list, 1 to 100.") var limit = 25

        func call() -> ControlCall {
            let query = [("status", status), ("entrupy_id", entrupyId), ("limit", "\(limit)")]
            return ControlCall(.GET, "/_sim/webhook-deliveries", query).listing(
                \WebhookDeliveryList.deliveries, next: \.next_cursor, empty: empty, headings, cells: cells)
        }
    }

    struct Show: Endpoint {
        static let abstract = "Show a delivery with its body and attempts, as JSON."
        @OptionGroup var delivery: Delivery

        func call() -> ControlCall { ControlCall(.GET, "/_sim/webhook-deliveries/\(delivery.id)") }
    }

    struct Redeliver: Endpoint {
        static let abstract = "Send a delivery's bytes again, as a new delivery."
        @OptionGroup var delivery: Delivery

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/webhook-deliveries/\(delivery.id)/redeliver").listing(
                { (made: WebhookDelivery) in [made] }, empty: empty, headings, cells: cells)
        }
    }

    struct Trigger: Endpoint {
        static let abstract = "Send any webhook event for any item."
        @Argument(help: "session.completed, session.updated, support.message or certificate.transfer.")
        var event: String
        @Argument(help: "The item's entrupy_id.") var entrupyId: String

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/webhooks/trigger", body: ["event": event, "entrupy_id": entrupyId])
                .printing { (triggered: TriggeredWebhook, terminal) in
                    terminal.table(headings, triggered.deliveries.map(cells), empty: empty)
                    if triggered.deliveries.isEmpty { terminal.note("no subscription is for \(event)") }
                }
        }
    }
}
