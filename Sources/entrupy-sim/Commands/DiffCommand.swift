import ArgumentParser
import SimulationAPI

struct DiffCommand: ControlAction {
    static let name = "diff"
    static let abstract =
        "Compare two states, object by object: of namespaces, or of snapshots. Exits 1 if they differ."
    static let discussion = """
        diff before now               a snapshot of the namespace, and the namespace
        diff shop shop-2              two namespaces
        diff namespace:a snapshot:a   the namespace a, and a snapshot of the namespace

        now is the namespace of -n. Another name is that of a snapshot of it, if it has one, else that of a namespace.
        Ids, tokens and times are compared by whether there is one: a client that runs twice leaves equal states.
        """
    @Argument(help: "The first state: now, a name, namespace:NAME or snapshot:NAME.") var from: String
    @Argument(help: "The second state, as the first.") var to: String

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let answer: ControlClient.Answer
        do {
            let names = try await references(client, terminal)
            let call = ControlCall(.GET, "/_sim/diff", [("from", names[0]), ("to", names[1])], takesLong: true)
            answer = try await client.send(call.showing("comparing"))
        } catch var refusal as Refusal {
            // 1 says that the states differ.
            if refusal.code == .no { refusal.code = .usage }
            throw refusal
        }
        let difference: StateDifference = try answer.decoded()
        if terminal.isJSON { terminal.json(answer.bytes) } else { try difference.show(on: terminal) }
        if !difference.equal { throw ExitCode(Refusal.Code.no.rawValue) }
    }

    /// Both states as the server names them.
    private func references(_ client: ControlClient, _ terminal: Terminal) async throws -> [String] {
        func isWhole(_ name: String) -> Bool { name == "now" || name.contains(":") }
        if isWhole(from), isWhole(to) { return [from, to] }
        let saved: SnapshotList = try await client.get("/_sim/snapshots")
        let snapshots = saved.snapshots.map(\.name) + (saved.damaged ?? []).map(\.name)
        let all: NamespaceList = try await client.get("/_sim/namespaces")
        let namespaces = all.namespaces.map(\.name)
        return try [from, to].map { name in
            if isWhole(name) { return name }
            let isNamespace = namespaces.contains(name)
            guard snapshots.contains(name) else {
                if isNamespace { return "namespace:\(name)" }
                let near = NearestName.nearest(to: name, among: snapshots + namespaces)
                throw Refusal(
                    .usage,
                    "there is no snapshot of \(client.options.named) and no namespace \"\(VisibleText.line(name))\"",
                    next: (near.map { "did you mean \($0)? " } ?? "")
                        + "\"\(client.options.command("snapshot list"))\" and \"\(client.options.serverCommand("namespace list"))\" list them"
                )
            }
            if isNamespace {
                terminal.note(
                    "\(name) is a snapshot and a namespace; this is the snapshot, namespace:\(name) the other")
            }
            return "snapshot:\(name)"
        }
    }
}

extension ObjectDifference {
    /// The members with their values in words, a line each.
    var lines: [String] {
        get throws {
            try members.map { member in
                let (from, to) = (try StateDifference.text(member.from), try StateDifference.text(member.to))
                let values =
                    switch change {
                    case .added: to
                    case .removed: from
                    case .changed: "\(from) -> \(to)"
                    }
                return "\(member.name): \(values)"
            }
        }
    }
}

extension StateDifference {
    fileprivate func show(on terminal: Terminal) throws {
        for object in objects {
            let style: Terminal.Style =
                switch object.change {
                case .added: .green
                case .removed: .red
                case .changed: .yellow
                }
            let key = try Self.words(object.key)
            terminal.line([
                .init("\(object.change.rawValue)", style), .init(" \(object.kind)", .bold),
                .init(key.isEmpty ? "" : "  \(key)"),
            ])
            for line in try object.lines { terminal.line("  \(line)") }
        }
        let counts = ObjectDifference.Change.allCases.map { change in
            "\(objects.count { $0.change == change }) \(change.rawValue)"
        }
        terminal.line(
            (equal ? "equal" : "\(truncated ? "more than " : "")\(counts.joined(separator: ", "))")
                + "; ids, tokens and times are not compared by value")
    }

    /// The members of a key: bare words, and other objects in parentheses.
    static func words(_ key: JSONObject) throws -> String {
        try key.sorted.map { name, value in
            if let members = value.members { return "\(name) (\(try words(members)))" }
            if let text = value.text, text.wholeMatch(of: #/[A-Za-z0-9._@:\/*-]+/#) != nil { return "\(name) \(text)" }
            return "\(name) \(try text(value))"
        }.joined(separator: ", ")
    }

    /// A value as JSON, cut where it is long.
    fileprivate static func text(_ value: JSONValue?) throws -> String {
        let text = try Readable.json(value ?? .null)
        return text.utf8.count > 200 ? "\(String(text.unicodeScalars.prefix(200)))…" : text
    }
}
