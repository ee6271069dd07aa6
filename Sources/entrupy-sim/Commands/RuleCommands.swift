import ArgumentParser
import EntrupyAPI
import Foundation
import SimulationAPI

/// `entrupy-sim fault`.
struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Break requests and webhooks on purpose.",
        subcommands: [Add.self, List.self, Clear.self])

    fileprivate static func show(_ faults: [FaultInfo], _ terminal: Terminal) throws {
        let rows = try faults.map { fault in
            [
                fault.id, try text(fault.match), try text(fault.effect),
                "\(fault.hits)\(fault.times.map { " of \($0)" } ?? "")\(fault.isSpent ? ", used up" : "")",
                "\(fault.seen)",
            ]
        }
        terminal.table(["ID", "MATCH", "EFFECT", "TRIGGERED", "MATCHED"], rows, empty: "no faults")
    }

    fileprivate static func text(_ value: JSONValue) throws -> String {
        String(decoding: try WireJSON.encode(value), as: UTF8.self)
    }

    struct Add: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a fault rule.",
            discussion: """
                fault add --route /sdk/search --status 503 --times 2
                fault add --route '/sdk/*' --effect '{"delay": {"uniform": ["1s", "3s"]}}' --probability 0.2
                fault add --webhook session.completed --effect '{"drop": true}' --times 1
                """)

        @OptionGroup var control: ControlOptions

        @Option(help: "A glob over the path.")
        var route: String?

        @Option(help: "The method, for instance POST.")
        var method: String?

        @Option(help: "The user of the session, login or item.")
        var username: String?

        @Option(help: "A header and a glob of its value, for instance 'X-Device: ipad-*'; may be repeated.")
        var header: [String] = []

        @Option(help: "A glob over the event, to break webhooks instead of requests.")
        var webhook: String?

        @Option(help: "The status to answer.")
        var status: Int?

        @Option(help: "The body of that answer, as JSON or plain text.")
        var body: String?

        @Option(help: "The time to delay the answer or the webhook, for instance 2s.")
        var delay: String?

        @Option(
            help:
                "Another effect by its name, for instance drop_connection, or any effect as JSON. docs/control.md lists all."
        )
        var effect: String?

        @Option(help: "The probability that a match triggers the fault, 0 to 1.")
        var probability: Double?

        @Option(help: "The maximum number of times that the fault is triggered.")
        var times: Int?

        @Option(help: "The number of matching requests to let pass first.")
        var afterRequests: Int?

        func validate() throws {
            let effects = [status != nil, delay != nil, effect != nil].count { $0 }
            guard effects == 1 else {
                throw ValidationError("give the effect with one of --status, --delay and --effect")
            }
            if body != nil, status == nil { throw ValidationError("--body belongs to --status") }
            for header in header where !header.contains(":") {
                throw ValidationError("--header must be 'Name: glob', got '\(header)'")
            }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var match: JSONObject = [:]
            for (key, value) in [("route", route), ("method", method), ("username", username), ("webhook", webhook)] {
                match[key] = value.map { .string($0) }
            }
            if !header.isEmpty {
                let pairs = header.map { text in
                    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    return (String(parts[0]), JSONValue.string(parts[1].trimmingCharacters(in: .whitespaces)))
                }
                match["header"] = .object(JSONObject(pairs))
            }
            var rule: JSONObject = ["match": .object(match), "effect": try wanted()]
            if let probability, !(0...1).contains(probability) {
                throw ValidationError("--probability must be a number from 0 to 1, got \(probability)")
            }
            rule["probability"] = probability.map { .number(JSONNumber(text: "\($0)")) }
            rule["times"] = times.map { .number(JSONNumber($0)) }
            rule["after_requests"] = afterRequests.map { .number(JSONNumber($0)) }
            let answer = try await client.send("POST", "/_sim/faults", .object(rule))
            try terminal.show(answer) {
                let fault = try answer.decoded(FaultInfo.self)
                terminal.line(fault.id)
                for note in fault.notes { terminal.note("note: \(note)\n") }
            }
        }

        private func wanted() throws -> JSONValue {
            if let status {
                var members: JSONObject = ["status": .number(JSONNumber(status))]
                members["body"] = body.map { text in
                    // What is not JSON is the text of the body.
                    (try? WireJSON.decode(JSONValue.self, from: Data(text.utf8))) ?? .string(text)
                }
                return .object(members)
            }
            if let delay { return .object(["delay": .string(delay)]) }
            let effect = effect ?? ""
            return effect.hasPrefix("{")
                ? try InputFile.json(Data(effect.utf8), "--effect") : .object([effect: .bool(true)])
        }
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List fault rules, oldest first.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/faults")
            try terminal.show(answer) { try FaultCommand.show(try answer.decoded(FaultList.self).faults, terminal) }
        }
    }

    struct Clear: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Remove the given fault rules, or all.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The ids of the rules; all rules if absent.")
        var ids: [String] = []

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await RuleRemoval.remove("faults", ids, client, terminal)
        }
    }
}

/// `entrupy-sim outcome`.
struct OutcomeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcome", abstract: "Decide the results of submitted items, and of App Components.",
        subcommands: [Add.self, List.self, Clear.self])

    struct Add: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add an outcome rule.",
            discussion: """
                outcome add unknown --customer-item-id 'late-*' --after 3h --times 2
                outcome add DocumentExpired --component document --client-id jansen
                """)

        @OptionGroup var control: ControlOptions

        @Argument(help: "\(ResultID.list); with --component the name of an error or of a quality.")
        var result: String

        @Option(help: "The reason of an invalid result.")
        var reason: String?

        @Option(help: "The time from the submission to the result, for instance 3h.")
        var after: String?

        @Option(help: "The maximum number of items that the rule decides.")
        var times: Int?

        @Option(help: "The item's brand.")
        var brand: String?

        @Option(help: "A glob over the item's customer_item_id.")
        var customerItemId: String?

        @Option(help: "The item's user.")
        var username: String?

        @Option(help: "sneakers, luxury or apparel.")
        var productCategory: String?

        @Option(help: "session, document or biometrics, of App Components.")
        var component: String?

        @Option(help: "The id of a workflow of App Components.")
        var workflow: String?

        @Option(help: "The id of a client of App Components.")
        var clientId: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var match: JSONObject = [:]
            let given = [
                ("brand", brand), ("customer_item_id", customerItemId), ("username", username),
                ("product_category", productCategory), ("component", component), ("workflow", workflow),
                ("client_id", clientId),
            ]
            for (key, value) in given { match[key] = value.map { .string($0) } }
            var rule: JSONObject = ["match": .object(match), "result": .string(result)]
            rule["reason"] = reason.map { .string($0) }
            rule["after"] = after.map { .string($0) }
            rule["times"] = times.map { .number(JSONNumber($0)) }
            let answer = try await client.send("POST", "/_sim/outcomes", .object(rule))
            try terminal.show(answer) {
                let outcome = try answer.decoded(OutcomeInfo.self)
                terminal.line(outcome.id)
                for note in outcome.notes { terminal.note("note: \(note)\n") }
            }
        }
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List outcome rules, oldest first.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/outcomes")
            try terminal.show(answer) {
                let rows = try answer.decoded(OutcomeList.self).outcomes.map { outcome in
                    [
                        outcome.id, try FaultCommand.text(outcome.match), outcome.result,
                        try outcome.after.map { try FaultCommand.text($0) } ?? "-",
                        "\(outcome.hits)\(outcome.times.map { " of \($0)" } ?? "")",
                    ]
                }
                terminal.table(["ID", "MATCH", "RESULT", "AFTER", "DECIDED"], rows, empty: "no outcome rules")
            }
        }
    }

    struct Clear: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Remove the given outcome rules, or all.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The ids of the rules; all rules if absent.")
        var ids: [String] = []

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await RuleRemoval.remove("outcomes", ids, client, terminal)
        }
    }
}

/// Removes fault rules or outcome rules.
private enum RuleRemoval {
    static func remove(
        _ kind: String, _ ids: [String], _ client: ControlClient, _ terminal: Terminal
    ) async throws {
        if ids.isEmpty { try await client.send("DELETE", "/_sim/\(kind)") }
        for id in ids { try await client.send("DELETE", "/_sim/\(kind)/\(ControlClient.escaped(id))") }
        terminal.isJSON ? terminal.json(Data()) : terminal.line(ids.isEmpty ? "all \(kind) removed" : "removed")
    }
}

extension ResultID {
    /// The documented results as a list for help texts, for instance "authentic or unknown".
    static let list: String = {
        let ids = allCases.map(\.rawValue)
        return ids.dropLast().joined(separator: ", ") + " or " + (ids.last ?? "")
    }()
}
