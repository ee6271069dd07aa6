import ArgumentParser
import EntrupyAPI
import Foundation
import Server
import SimulationAPI

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Subscribe to webhooks, receive them, and list, repeat, trigger and verify deliveries.",
        subcommands: [
            Add.command, Remove.command, Listen.command, Probe.self, List.command, Show.command, Redeliver.command,
            Trigger.command,
            Verify.self,
        ])

    struct Delivery: ParsableArguments {
        @Argument(help: "The delivery's id, as \"webhooks list\" shows it.") var id: String
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
        static let abstract = "List deliveries, newest first, or the subscriptions."
        @Flag(help: "List the subscriptions instead.") var subscriptions = false
        @Option(help: "waiting, sending, retrying, delivered, failed or cancelled.") var status: String?
        @Option(help: "The item's entrupy_id.") var entrupyId: String?
        @Option(help: "The maximum number of deliveries to list, 1 to 100.") var limit = 25

        func call() -> ControlCall {
            guard subscriptions else {
                let query = [("status", status), ("entrupy_id", entrupyId), ("limit", "\(limit)")]
                return ControlCall(.GET, "/_sim/webhook-deliveries", query).listing(
                    \WebhookDeliveryList.deliveries, next: \.next_cursor, empty: empty, headings, cells: cells)
            }
            return ControlCall(.GET, "/_sim/webhooks").listing(
                \SubscriptionInfoList.webhooks, empty: "no subscriptions",
                ["ID", "ORGANIZATION", "USER", "VERSION", "FORMAT", "SIGNATURE", "STATUS", "URL"]
            ) { [$0.id, $0.organization, $0.username, $0.version, $0.format, $0.signature, $0.status, $0.url] }
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

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a webhook's signature. If it is wrong, exits 1 and shows it in each form.",
            discussion: "Needs no server.")

        @Option(help: "The secret_key of the subscription.") var secret: String
        @Option(help: "The value of the header Entrupy-Signature.") var signature: String
        @Option(help: "The form it must have: sha256-base64, sha256-hex or hex. (default: any)")
        var form: WebhookSignatureForm?
        @Flag(help: "Print JSON.") var json = false
        @Argument(help: "A file with the body's bytes as they arrived; - for standard input.") var file: String

        func run() async throws {
            let body = try InputFile.bytes(
                file, next: "name a file with the body's bytes, or - for standard input")
            let check = WebhookSignatureCheck(signature, of: body, secret: secret, form: form)
            let terminal = Terminal(isJSON: json)
            if json {
                let expected = check.expected.map { ($0.form.rawValue, $0.text) }
                try terminal.json(
                    of: SignatureCheckResult(
                        valid: check.form != nil, form: check.form?.rawValue, hint: check.hint,
                        expected: Dictionary(expected) { $1 }))
            } else if let form = check.form {
                terminal.line("right: \(form.rawValue)")
            } else {
                terminal.line("wrong\(check.hint.map { ": \($0)" } ?? ": it does not fit this body and secret")")
                terminal.table(
                    ["FORM", "IT WOULD BE"], check.expected.map { [$0.form.rawValue, $0.text] }, empty: "")
            }
            if check.form == nil { throw ExitCode(Refusal.Code.no.rawValue) }
        }
    }
}

extension WebhookSignatureForm: ExpressibleByArgument {}
