import ArgumentParser
import EntrupyAPI
import Foundation
import SimulationAPI

struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items", abstract: "See items, make them without captures, and act as the platform's team.",
        subcommands: [
            Generate.command, List.command, Show.command, Set.command, ResolveFlag.command, Retake.command,
            Message.command, Rules.command,
        ])

    struct Item: ParsableArguments {
        @Argument(help: "The item's entrupy_id.") var id: String
    }

    struct Generate: Endpoint {
        static let abstract = "Make items, one minute apart, the newest now."
        static let discussion = """
            Without --count it makes one item and sends its webhooks. With --count, even --count 1, it sends none.
            Prints the ids. Of more than 100 it prints the newest, with --json the first 1,000.
            """

        private static let maxListed = 100

        @Option(help: "How many, 1 to 10000000. Counted items send no webhooks. (default: one, which sends them)")
        var count: Int?
        @Option(help: "The user that the items belong to; made if it does not exist. (default: DemoOrg-sim-test-user)")
        var username: String?
        @Option(help: "The brand. (default: Nike)") var brand: String?
        @Option(help: "\(ResultID.list). (default: authentic)") var result: String?
        @Option(
            help: "More members as JSON, for instance '{\"customer_item_id\": \"sku-{n}\", \"flag\": \"flagged\"}'.")
        var template: String?

        func call() throws -> ControlCall {
            let given = try template.map { try InputFile.json(Data($0.utf8), "--template") } ?? [:]
            guard given.members != nil else {
                throw Refusal(.usage, "--template must be a JSON object", next: "for instance '{\"brand\": \"Nike\"}'")
            }
            let item = given.merging(.members([("username", username), ("brand", brand), ("result", result)]))
            return ControlCall(
                .POST, "/_sim/authentications", body: ["template": item, "count": count], takesLong: true
            )
            .printing { try show($0, $1) }
        }

        private func show(_ made: GeneratedItems, _ terminal: Terminal) throws {
            if count == 1 {
                terminal.note("no webhook is sent, as for any --count; without --count one item sends its webhooks")
            }
            for note in made.notes ?? [] { terminal.note("\(VisibleText.line(note.field)) \(note.problem)") }
            guard made.count <= Self.maxListed else {
                return terminal.line("made \(made.count) items, the newest \(made.entrupy_ids.first ?? "-")")
            }
            for id in made.entrupy_ids { terminal.line(id) }
        }

        /// Sends the request. For 10,000 items or more it also asks for the progress.
        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            guard let count, count >= 10_000 else {
                return _ = try await answer(client, terminal)
            }
            let call = try call()
            let before: ServerInfo = try await client.get("/_sim/info")
            try await answer(call, client, terminal, "making items", of: count, in: .things) { info, progress in
                progress.note(info.namespace.counts.authentications - before.namespace.counts.authentications)
            }
        }
    }

    struct List: Endpoint {
        static let abstract = "List items, newest first."
        @Option(help: "The beginning of the item's id, its certificate's id or its customer_item_id.") var text: String?
        @Option(help: "The brand's id.") var brand: String?
        @Option(help: "\(ResultID.list).") var result: String?
        @Option(help: "none, flagged or resolved.") var flag: String?
        @Option(help: "The user.") var username: String?
        @Option(help: "The maximum number of items to list, 1 to 1000.") var limit = 100

        func call() -> ControlCall {
            ControlCall(
                .GET, "/_sim/authentications",
                [
                    ("text", text), ("brand", brand), ("result", result), ("flag", flag), ("username", username),
                    ("limit", "\(limit)"),
                ]
            ).listing(
                \AuthenticationList.authentications, next: \.next_cursor, empty: "no such items",
                ["ITEM", "CUSTOMER_ITEM_ID", "BRAND", "RESULT", "FLAG", "USER", "SUBMITTED"]
            ) {
                [
                    $0.entrupy_id, $0.customer_item_id, $0.brand_name, $0.result.id.rawValue,
                    $0.flag.rawValue, $0.username, Readable.time($0.submitted_at),
                ]
            }
        }
    }

    struct Rules: Endpoint {
        static let abstract = "Compare the outcome rules with an item: why did one not decide?"
        @OptionGroup var item: Item

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/authentications/\(item.id)/rules").printing(RuleMatchList.self)
        }
    }

    // MARK: As the platform's experts and support team would

    struct Show: Endpoint {
        static let abstract = "Show an item; with --json in its form in every API."
        @OptionGroup var item: Item

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/authentications/\(item.id)").printing(AuthenticationInfo.self)
        }
    }

    struct Set: Endpoint {
        static let abstract = "Set an item's result or flag, as the platform's experts would."
        @OptionGroup var item: Item
        @Option(help: "\(ResultID.list).") var result: String?
        @Option(help: "The reason of an invalid result.") var reason: String?
        @Option(help: "none, flagged, resolved, or an id that the SDK does not know.") var flag: String?

        func validate() throws {
            try require(
                result != nil || reason != nil || flag != nil, "nothing to set: give --result, --reason or --flag")
        }

        func call() -> ControlCall {
            ControlCall(
                .PATCH, "/_sim/authentications/\(item.id)", body: ["result": result, "reason": reason, "flag": flag]
            )
            .printing(AuthenticationInfo.self)
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await answer(client, terminal)
            guard let flag, !FlagID.names.contains(flag) else { return }
            let near = NearestName.nearest(to: flag, among: FlagID.names).map { ", did you mean \($0)?" } ?? ""
            terminal.note("note: \"\(flag)\" is a flag that the SDK does not know\(near)")
        }
    }

    struct ResolveFlag: Endpoint {
        static let name = "resolve-flag"
        static let abstract = "Resolve an item's flag, with a note and perhaps another result."
        @OptionGroup var item: Item
        @Option(help: "The note to the user.") var note: String
        @Option(help: "The changed result. (default: the result stays)") var result: String?

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/authentications/\(item.id)/flag/resolve", body: ["note": note, "result": result])
                .printing(AuthenticationInfo.self)
        }
    }

    struct Retake: Endpoint {
        static let abstract = "Ask an item's user to take photos again."
        @OptionGroup var item: Item
        @Option(help: "A region to take again; may be repeated. (default: all required ones)") var region: [String] = []
        @Option(help: "The message to the user.") var message: String?

        func call() -> ControlCall {
            ControlCall(
                .POST, "/_sim/authentications/\(item.id)/retake", body: ["regions": region, "message": message]
            )
            .saying("the user is asked to take photos again")
        }
    }

    struct Message: Endpoint {
        static let abstract = "Send a support message about an item."
        @OptionGroup var item: Item
        @Argument(help: "The message.") var message: String
        @Option(help: "A possible answer; may be repeated. (default: any answer)") var option: [String] = []

        func call() -> ControlCall {
            ControlCall(
                .POST, "/_sim/authentications/\(item.id)/support-message",
                body: ["message": message, "options": option]
            )
            .saying("the message is sent")
        }
    }
}

extension AuthenticationInfo: Printable {
    func show(on terminal: Terminal) {
        terminal.pairs([
            ("item", entrupy_id), ("user", username), ("customer_item_id", customer_item_id),
            ("brand", v2.properties.brand_name), ("result", result.id.rawValue),
            ("final", result.final ? "yes" : "no"), ("reason", result.reason), ("decided by", decided_by),
            ("flag", flag.id.rawValue), ("certificate", certificate_id),
        ])
    }
}

extension ResultID {
    /// The documented results as a list for help texts, for instance "authentic or unknown".
    static let list: String = {
        let ids = allCases.map(\.rawValue)
        return ids.dropLast().joined(separator: ", ") + " or " + (ids.last ?? "")
    }()
}
