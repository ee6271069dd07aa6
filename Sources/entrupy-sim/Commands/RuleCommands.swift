import ArgumentParser
import EntrupyAPI
import Foundation
import SimulationAPI

/// The rules that `entrupy-sim fault clear` and `entrupy-sim outcome clear` remove.
struct ClearedRules: ParsableArguments {
    @Argument(help: "The ids of the rules. (default: all rules)") var ids: [String] = []

    func clear(_ kind: String, _ client: ControlClient, _ terminal: Terminal) async throws {
        if ids.isEmpty { try await client.send(ControlCall(.DELETE, "/_sim/\(kind)s")) }
        for id in ids { try await client.send(ControlCall(.DELETE, "/_sim/\(kind)s/\(id)")) }
        terminal.done(ids.isEmpty ? "all \(kind)s removed" : "removed")
    }
}

/// The answer to a new rule: its id, and warnings about possible mistakes.
private struct AddedRule: Decodable, Printable {
    let id: String
    let notes: [String]

    func show(on terminal: Terminal) {
        terminal.line(id)
        for note in notes { terminal.note("note: \(note)") }
    }
}

struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Break requests and webhooks on purpose.",
        subcommands: [Add.command, List.command, Clear.command])

    struct Add: Endpoint {
        static let abstract = "Add a fault rule."
        static let discussion = """
            fault add --route /sdk/search --status 503 --times 2
            fault add --route '/sdk/**' --effect '{"delay": {"uniform": ["1s", "3s"]}}' --probability 0.2
            fault add --route '/sdk/captures/*/submit' --effect hold --times 1
            fault add --webhook session.completed --effect '{"drop": true}' --times 1
            """
        @Option(help: "A glob over the path: * stands for one part of it, ** for any number of them.") var route:
            String?
        @Option(help: "The method, for instance POST.") var method: String?
        @Option(help: "The user of the session, login or item.") var username: String?
        @Option(help: "A header and a glob of its value, for instance 'X-Device: ipad-*'; may be repeated.")
        var header: [String] = []
        @Option(help: "A glob over the event, to break webhooks instead of requests.") var webhook: String?
        @Option(help: "The status to answer.") var status: Int?
        @Option(help: "The body of that answer, as JSON or plain text. (default: the error envelope)") var body: String?
        @Option(help: "The time to delay the answer or the webhook, for instance 2s.") var delay: DurationArgument?
        @Option(
            help:
                "Another effect by its name, for instance drop_connection (choices fault_effects lists them), or any effect as JSON."
        )
        var effect: String?
        @Option(help: "The probability that a match triggers the fault, 0 to 1. (default: 1)") var probability: Double?
        @Option(help: "The maximum number of times that the fault is triggered. (default: no limit)") var times: Int?
        @Option(help: "The number of matching requests to let pass first. (default: 0)") var afterRequests: Int?

        func validate() throws {
            let effects = [status != nil, delay != nil, effect != nil].count { $0 }
            try require(effects == 1, "give the effect with one of --status, --delay and --effect")
            if body != nil, status == nil { throw ValidationError("--body belongs to --status") }
            try HeaderOption.check(header, "Name: glob")
        }

        func call() throws -> ControlCall {
            let match = JSONValue.members([
                ("route", route), ("method", method), ("username", username), ("webhook", webhook),
                ("header", HeaderOption.json(header) { .string($0) }),
            ])
            let effect = try wanted()
            if let probability, !(0...1).contains(probability) {
                throw ValidationError("--probability must be a number from 0 to 1, got \(probability)")
            }
            return ControlCall(
                .POST, "/_sim/faults",
                body: [
                    "match": match, "effect": effect, "probability": probability, "times": times,
                    "after_requests": afterRequests,
                ]
            ).printing(AddedRule.self)
        }

        private func wanted() throws -> JSONValue {
            guard let effect else {
                let body = body.map { InputFile.value(Data($0.utf8)) }
                return .members([("status", status), ("body", body), ("delay", delay)])
            }
            guard effect.hasPrefix("{") else { return .object([effect: true]) }
            return try InputFile.json(Data(effect.utf8), "--effect")
        }
    }

    struct List: Endpoint {
        static let abstract = "List fault rules, oldest first."
        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/faults").listing(
                \FaultList.faults, empty: "no faults", ["ID", "MATCH", "EFFECT", "HITS", "SEEN"]
            ) { rule in
                let hits = "\(rule.hits)\(rule.times.map { " of \($0)" } ?? "")\(rule.isSpent ? ", used up" : "")"
                return [rule.id, try Readable.json(rule.match), try Readable.json(rule.effect), hits, "\(rule.seen)"]
            }
        }
    }

    struct Clear: ControlAction {
        static let abstract = "Remove the given fault rules, or all."
        @OptionGroup var rules: ClearedRules

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await rules.clear("fault", client, terminal)
        }
    }
}

struct OutcomeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcome", abstract: "Decide the results of submitted items, and of App Components.",
        subcommands: [Add.command, List.command, Clear.command])

    struct Add: Endpoint {
        static let abstract = "Add an outcome rule."
        static let discussion = """
            outcome add unknown --customer-item-id 'late-*' --after 3h --times 2
            outcome add DocumentExpired --component document --client-id jansen
            """
        @Argument(help: "\(ResultID.list); with --component the name of an error or of a quality.") var result: String
        @Option(help: "The reason of an invalid result; choices invalid_reasons lists them.") var reason: String?
        @Option(
            help: "The time from the submission to the result, for instance 3h. (default: the setting result.delay)")
        var after: DurationArgument?
        @Option(help: "The maximum number of items that the rule decides. (default: no limit)") var times: Int?
        @Option(help: "The item's brand.") var brand: String?
        @Option(help: "A glob over the item's customer_item_id.") var customerItemId: String?
        @Option(help: "The item's user.") var username: String?
        @Option(help: "sneakers, luxury or apparel.") var productCategory: String?
        @Option(help: "session, document or biometrics, of App Components.") var component: String?
        @Option(help: "The id of a workflow of App Components.") var workflow: String?
        @Option(help: "The id of a client of App Components.") var clientId: String?

        func call() -> ControlCall {
            let match = JSONValue.members([
                ("brand", brand), ("customer_item_id", customerItemId), ("username", username),
                ("product_category", productCategory), ("component", component), ("workflow", workflow),
                ("client_id", clientId),
            ])
            return ControlCall(
                .POST, "/_sim/outcomes",
                body: ["match": match, "result": result, "reason": reason, "after": after, "times": times]
            ).printing(AddedRule.self)
        }
    }

    struct List: Endpoint {
        static let abstract = "List outcome rules, oldest first."
        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/outcomes").listing(
                \OutcomeList.outcomes, empty: "no outcome rules", ["ID", "MATCH", "RESULT", "AFTER", "DECIDED"]
            ) { rule in
                let after = try rule.after.map { try $0.text ?? Readable.json($0) }
                let decided = "\(rule.hits)\(rule.times.map { " of \($0)" } ?? "")"
                return [rule.id, try Readable.json(rule.match), rule.result, after, decided]
            }
        }
    }

    struct Clear: ControlAction {
        static let abstract = "Remove the given outcome rules, or all."
        @OptionGroup var rules: ClearedRules

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await rules.clear("outcome", client, terminal)
        }
    }
}

enum HeaderOption {
    /// - Parameter form: what each must look like, for the message.
    static func check(_ headers: [String], _ form: String) throws {
        for header in headers where !header.contains(":") {
            throw ValidationError("--header must be '\(form)', got '\(header)'")
        }
    }

    /// The names and values of headers that were checked.
    static func pairs(_ headers: [String]) -> [(String, String)] {
        headers.map { text in
            let parts = text.split(at: ":", maxSplits: 1, omittingEmpty: false)
            return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
        }
    }

    /// The headers as an object; `nil` if there are none.
    static func json(_ headers: [String], _ json: (String) -> JSONValue) -> JSONValue? {
        headers.isEmpty ? nil : .object(JSONObject(pairs(headers).map { ($0, json($1)) }))
    }
}

/// Rules compared with a request or an item, field by field.
extension RuleMatchList: Printable {
    func show(on terminal: Terminal) {
        let rows = rules.flatMap { rule -> [[String?]] in
            let verdict = rule.decided ? "decided" : rule.matches ? "matches, did not decide" : "does not match"
            return [[rule.id, verdict, "", "", "", rule.note ?? ""]]
                + rule.parts.map {
                    ["", "", $0.field, $0.expected, $0.actual, $0.matches ? "fits" : "differs"]
                }
        }
        terminal.table(["RULE", "VERDICT", "PART", "ASKS FOR", "HAS", "NOTE"], rows, empty: "there are no rules")
    }
}
