import ArgumentParser
import EntrupyAPI
import Foundation
import Server
import SimulationAPI

/// `entrupy-sim webhooks`.
struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks", abstract: "List, repeat, trigger and verify webhook deliveries.",
        subcommands: [List.self, Show.self, Redeliver.self, Trigger.self, Verify.self])

    private static func show(_ deliveries: [WebhookDelivery], _ terminal: Terminal) {
        let rows = deliveries.map { delivery in
            [
                delivery.id, delivery.event, Readable.cell(delivery.entrupy_id), Readable.cell(delivery.format),
                Readable.cell(delivery.attempts.last?.signature), delivery.status, "\(delivery.attempts.count)",
                delivery.attempts.last.flatMap { $0.status.map { "\($0)" } ?? $0.error } ?? "-",
                Readable.cell(delivery.url),
            ]
        }
        terminal.table(
            ["ID", "EVENT", "ITEM", "FORMAT", "SIGNATURE", "STATUS", "ATTEMPTS", "LAST", "URL"], rows,
            empty: "no deliveries")
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List deliveries, newest first, or the subscriptions.")

        @OptionGroup var control: ControlOptions

        @Flag(help: "List the subscriptions instead.")
        var subscriptions = false

        @Option(help: "waiting, sending, retrying, delivered, failed or cancelled.")
        var status: String?

        @Option(help: "The item's entrupy_id.")
        var entrupyId: String?

        @Option(help: "The maximum number of deliveries to list, 1 to 100.")
        var limit = 25

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            if subscriptions {
                let answer = try await client.send("GET", "/_sim/webhooks")
                return try terminal.show(answer) {
                    let rows = try answer.decoded(JSONValue.self).members?["webhooks"]?.elements ?? []
                    terminal.table(
                        ["ID", "ORGANIZATION", "USER", "VERSION", "FORMAT", "SIGNATURE", "STATUS", "URL"],
                        rows.map { row in
                            [
                                "id", "organization", "username", "version", "format", "signature", "status", "url",
                            ].map {
                                row.members?[$0]?.text ?? "-"
                            }
                        }, empty: "no subscriptions")
                }
            }
            let answer = try await client.send(
                "GET", "/_sim/webhook-deliveries",
                query: [("status", status), ("entrupy_id", entrupyId), ("limit", "\(limit)")])
            try terminal.show(answer) {
                let list = try answer.decoded(WebhookDeliveryList.self)
                WebhooksCommand.show(list.deliveries, terminal)
                if list.next_cursor != nil { terminal.note("there are more; raise --limit\n") }
            }
        }
    }

    struct Redeliver: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "redeliver", abstract: "Send a delivery's bytes again, as a new delivery.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The delivery's id, as \"webhooks list\" shows it.")
        var id: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send(
                "POST", "/_sim/webhook-deliveries/\(ControlClient.escaped(id))/redeliver")
            try terminal.show(answer) { WebhooksCommand.show([try answer.decoded()], terminal) }
        }
    }

    struct Trigger: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "trigger", abstract: "Send any webhook event for any item.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "session.completed, session.updated, support.message or certificate.transfer.")
        var event: String

        @Argument(help: "The item's entrupy_id.")
        var entrupyId: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send(
                "POST", "/_sim/webhooks/trigger", .object(["event": .string(event), "entrupy_id": .string(entrupyId)]))
            try terminal.show(answer) {
                let deliveries = try answer.decoded(TriggeredWebhook.self).deliveries
                WebhooksCommand.show(deliveries, terminal)
                if deliveries.isEmpty { terminal.note("no subscription is for \(event)\n") }
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a webhook's signature. If it is wrong, exits 1 and shows it in each form.",
            discussion: "Needs no server.")

        @Option(help: "The secret_key of the subscription.")
        var secret: String

        @Option(help: "The value of the header Entrupy-Signature.")
        var signature: String

        @Option(help: "The form it must have: sha256-base64, sha256-hex or hex. Any, if absent.")
        var form: WebhookSignatureForm?

        @Flag(help: "Print JSON.")
        var json = false

        @Argument(help: "A file with the body's bytes as they arrived; - for standard input.")
        var file: String

        func run() async throws {
            let check = WebhookSignatureCheck(signature, of: try body(), secret: secret, form: form)
            let terminal = Terminal(isJSON: json)
            if json {
                let expected = check.expected.map { ($0.form.rawValue, JSONValue.string($0.text)) }
                terminal.json(
                    try WireJSON.encode(
                        JSONValue.object([
                            "valid": .bool(check.form != nil),
                            "form": check.form.map { .string($0.rawValue) } ?? .null,
                            "hint": check.hint.map { .string($0) } ?? .null,
                            "expected": .object(JSONObject(expected)),
                        ])))
            } else if let form = check.form {
                terminal.line("right: \(form.rawValue)")
            } else {
                terminal.line("wrong\(check.hint.map { ": \($0)" } ?? ": it does not fit this body and secret")")
                terminal.table(
                    ["FORM", "IT WOULD BE"], check.expected.map { [$0.form.rawValue, $0.text] }, empty: "")
            }
            if check.form == nil { throw ExitCode(Refusal.Code.no.rawValue) }
        }

        private func body() throws -> Data {
            if file == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
            do {
                return try Data(contentsOf: URL(fileURLWithPath: file))
            } catch {
                throw Refusal(
                    .usage, "\(file) cannot be read: \(error.localizedDescription)",
                    next: "name a file with the body's bytes, or - for standard input")
            }
        }
    }
}

extension WebhookSignatureForm: ExpressibleByArgument {}
