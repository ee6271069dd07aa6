import ArgumentParser
import EntrupyAPI
import Foundation
import SimulationAPI

// The commands of `entrupy-sim items` that act on items as the platform's experts and support team would.

extension ItemsCommand {
    /// The path of an item in the control API.
    private static func path(_ id: String) -> String { "/_sim/authentications/\(ControlClient.escaped(id))" }

    /// Prints the state of an item.
    private static func show(_ answer: ControlClient.Answer, _ terminal: Terminal) throws {
        try terminal.show(answer) {
            let item = try answer.decoded(AuthenticationInfo.self)
            terminal.pairs([
                ("item", item.entrupy_id), ("user", item.username),
                ("customer_item_id", Readable.cell(item.customer_item_id)),
                ("brand", Readable.cell(item.v2.properties.brand_name)), ("result", item.result.id.rawValue),
                ("final", item.result.final ? "yes" : "no"), ("reason", Readable.cell(item.result.reason)),
                ("decided by", item.decided_by), ("flag", item.flag.id.rawValue),
                ("certificate", Readable.cell(item.certificate_id)),
            ])
        }
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List items, newest first.")

        @OptionGroup var control: ControlOptions

        @Option(help: "The beginning of the item's id, its certificate's id or its customer_item_id.")
        var text: String?

        @Option(help: "The brand's id.")
        var brand: String?

        @Option(help: "\(ResultID.list).")
        var result: String?

        @Option(help: "none, flagged or resolved.")
        var flag: String?

        @Option(help: "The user.")
        var username: String?

        @Option(help: "The maximum number of items to list, 1 to 1000.")
        var limit = 100

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send(
                "GET", "/_sim/authentications",
                query: [
                    ("text", text), ("brand", brand), ("result", result), ("flag", flag), ("username", username),
                    ("limit", "\(limit)"),
                ])
            try terminal.show(answer) {
                let list = try answer.decoded(AuthenticationList.self)
                let rows = list.authentications.map { item in
                    [
                        item.entrupy_id, Readable.cell(item.customer_item_id), item.brand, item.result.id.rawValue,
                        item.flag.rawValue, item.username, Readable.time(item.submitted_at),
                    ]
                }
                terminal.table(
                    ["ITEM", "CUSTOMER_ITEM_ID", "BRAND", "RESULT", "FLAG", "USER", "SUBMITTED"], rows,
                    empty: "no such items")
                if list.next_cursor != nil { terminal.note("there are more; raise --limit\n") }
            }
        }
    }

    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show an item; with --json in its form in every API.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try ItemsCommand.show(await client.send("GET", ItemsCommand.path(id)), terminal)
        }
    }

    struct Set: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set an item's result or flag, as the platform's experts would.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        @Option(help: "\(ResultID.list).")
        var result: String?

        @Option(help: "The reason of an invalid result.")
        var reason: String?

        @Option(help: "none, flagged, resolved, or an id that the SDK does not know.")
        var flag: String?

        func validate() throws {
            if result == nil, reason == nil, flag == nil {
                throw ValidationError("nothing to set: give --result, --reason or --flag")
            }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = [:]
            for (key, value) in [("result", result), ("reason", reason), ("flag", flag)] {
                body[key] = value.map { .string($0) }
            }
            try ItemsCommand.show(await client.send("PATCH", ItemsCommand.path(id), .object(body)), terminal)
        }
    }

    struct ResolveFlag: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "resolve-flag", abstract: "Resolve an item's flag, with a note and perhaps another result.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        @Option(help: "The note to the user.")
        var note: String

        @Option(help: "The changed result; unchanged if absent.")
        var result: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = ["note": .string(note)]
            body["result"] = result.map { .string($0) }
            try ItemsCommand.show(
                await client.send("POST", ItemsCommand.path(id) + "/flag/resolve", .object(body)), terminal)
        }
    }

    struct Retake: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "retake", abstract: "Ask an item's user to take photos again.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        @Option(help: "A region to take again; may be repeated. All required ones if absent.")
        var region: [String] = []

        @Option(help: "The message to the user.")
        var message: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = [:]
            if !region.isEmpty { body["regions"] = .array(region.map { .string($0) }) }
            body["message"] = message.map { .string($0) }
            let answer = try await client.send("POST", ItemsCommand.path(id) + "/retake", .object(body))
            terminal.show(answer) { terminal.line("the user is asked to take photos again") }
        }
    }

    struct Message: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "message", abstract: "Send a support message about an item.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The item's entrupy_id.")
        var id: String

        @Argument(help: "The message.")
        var message: String

        @Option(help: "A possible answer; may be repeated. Any answer if absent.")
        var option: [String] = []

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = ["message": .string(message)]
            if !option.isEmpty { body["options"] = .array(option.map { .string($0) }) }
            let answer = try await client.send("POST", ItemsCommand.path(id) + "/support-message", .object(body))
            terminal.show(answer) { terminal.line("the message is sent") }
        }
    }
}
