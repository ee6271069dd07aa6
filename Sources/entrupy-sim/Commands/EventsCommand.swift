import ArgumentParser
import Foundation
import SimulationAPI

/// `entrupy-sim events`.
struct EventsCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "List what changed in a namespace: its event log, newest first.")

    @OptionGroup var control: ControlOptions

    @Option(help: "The id of the item, capture, user or other object.")
    var subject: String?

    @Option(help: "A glob over the kind, for instance 'result.*'.")
    var kind: String?

    @Option(help: "The maximum number of events to list, 1 to 1000.")
    var limit = 100

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let answer = try await client.send(
            "GET", "/_sim/event-log", query: [("subject", subject), ("kind", kind), ("limit", "\(limit)")])
        try terminal.show(answer) {
            let list = try answer.decoded(EventList.self)
            let rows = try list.events.map { event in
                [
                    "\(event.sequence)", Readable.time(event.at), event.kind, event.subject,
                    String(decoding: try WireJSON.encode(event.data), as: UTF8.self),
                ]
            }
            terminal.table(["NO.", "TIME", "KIND", "SUBJECT", "DATA"], rows, empty: "no such events")
            if list.next_cursor != nil {
                terminal.note("there are more; raise --limit, or choose with --subject and --kind\n")
            }
        }
    }
}

/// Prints rules compared with a request or an item, field by field.
enum RuleMatches {
    static func show(_ answer: ControlClient.Answer, _ terminal: Terminal) throws {
        try terminal.show(answer) {
            let rules = try answer.decoded(RuleMatchList.self).rules
            let rows = rules.flatMap { rule -> [[String]] in
                let verdict = rule.decided ? "decided" : rule.matches ? "matches, did not decide" : "does not match"
                let first = [rule.id, verdict, "", "", "", rule.note ?? ""]
                return [first]
                    + rule.parts.map {
                        ["", "", $0.field, $0.expected, Readable.cell($0.actual), $0.matches ? "fits" : "differs"]
                    }
            }
            terminal.table(["RULE", "VERDICT", "PART", "ASKS FOR", "HAS", "NOTE"], rows, empty: "there are no rules")
        }
    }
}

extension RequestsCommand {
    struct Rules: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "rules", abstract: "Compare the fault rules with a request: why did one not match?")

        @OptionGroup var control: ControlOptions
        @OptionGroup var name: Name

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try RuleMatches.show(await client.send("GET", name.path + "/rules", query: name.query), terminal)
        }
    }
}

extension ItemsCommand {
    struct Rules: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "rules", abstract: "Compare the outcome rules with an item: why did one not decide?")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try RuleMatches.show(
                await client.send("GET", "/_sim/authentications/\(ControlClient.escaped(id))/rules"), terminal)
        }
    }
}

extension WebhooksCommand {
    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a delivery with its body and attempts, as JSON.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The delivery's id, as \"webhooks list\" shows it.")
        var id: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            terminal.json(try await client.send("GET", "/_sim/webhook-deliveries/\(ControlClient.escaped(id))").bytes)
        }
    }
}
