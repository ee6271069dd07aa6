import SimulationAPI

extension AgentTool {
    static let diff = AgentTool(
        name: "diff", title: "Compare two states",
        description: """
            Compares two states of namespaces or snapshots, object by object: what was added, removed and changed, a line each. Ids, \
            tokens and times are compared by whether there is one, so code that runs twice leaves equal states. Changes nothing.
            """,
        arguments: [
            namespaceArgument,
            Argument(
                "from", .text(),
                "the first state: namespace:NAME, snapshot:NAME of this namespace, or now: this namespace",
                isRequired: true),
            Argument("to", .text(), "the second state, as from; now if absent"),
        ],
        effect: .reads, wayOut: "name each state as namespace:NAME, snapshot:NAME or now"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        let query = [("from", arguments.text("from")), ("to", arguments.text("to") ?? "now")]
        let found: StateDifference = try await client.get("/_sim/diff", query, takesLong: true)
        let lines = try found.objects.map { object in
            let name = "\(object.change.rawValue) \(object.kind) \(try StateDifference.words(object.key))"
            return JSONValue.string(ToolAnswer.short(([name] + (try object.lines)).joined(separator: "; "), 400))
        }
        return [
            "equal": .bool(found.equal), "objects": .array(lines), "truncated": .bool(found.truncated),
            "state": try await CaseState.read(client),
        ]
    }
}
