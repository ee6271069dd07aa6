import SimulationAPI

/// Two states beside each other, of namespaces or of this one's snapshots, and the objects in which they differ.
enum DifferencePage {
    private static let rows = 500
    private static let maxValue = 300

    private struct View: Encodable, Sendable {
        let from, to: [Option]
        /// `nil` until both states are chosen.
        let found: Found?
    }

    private struct Found: Encodable, Sendable {
        let command, counts: String
        let objects: Rows<Object>?
        /// Whether there are more objects than are listed.
        let isCut: Bool
        let ignored: String
    }

    /// A row of the table of objects.
    struct Object: Encodable, Sendable {
        let key, change, style, kind, name: String
        let members: [Member]

        init(_ object: ObjectDifference, _ key: String) {
            let style =
                switch object.change {
                case .added: "good"
                case .removed: "bad"
                case .changed: "warn"
                }
            (self.key, self.style) = (key, style)
            (change, kind) = (object.change.rawValue, object.kind)
            name = object.key.sorted.map { "\($0.name) \(text($0.value))" }.joined(separator: ", ")
            members = object.members.map {
                Member(
                    member: $0.name, before: object.change == .added ? nil : text($0.from),
                    after: object.change == .removed ? nil : text($0.to), isChange: object.change == .changed)
            }
        }
    }

    struct Member: Encodable, Sendable {
        let member: String
        /// `nil` if only the other state has the object.
        let before, after: String?
        let isChange: Bool
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let namespaces = try await api.get("namespaces", as: NamespaceList.self).namespaces.map {
            "namespace:\($0.name)"
        }
        let snapshots = try await api.get("snapshots", as: SnapshotList.self).snapshots.map {
            "snapshot:\($0.name)"
        }
        let (from, to) = (request.given("from"), request.given("to"))
        func choices(_ chosen: String?) -> [Option] {
            (["now"] + snapshots + namespaces).map { Option(id: $0, name: $0, isChosen: $0 == chosen) }
        }
        var found: Found?
        if let from, let to {
            found = Self.found(try await api.get("diff", [("from", from), ("to", to)]), from, to)
        }
        let view = View(from: choices(from ?? snapshots.first), to: choices(to ?? "now"), found: found)
        return PagePart(
            section: "namespaces", title: "Compare two states", template: "diff", view: view)
    }

    private static func found(_ difference: StateDifference, _ from: String, _ to: String) -> Found {
        let counts = ObjectDifference.Change.allCases.map { change in
            "\(difference.objects.count { $0.change == change }) \(change.rawValue)"
        }
        return Found(
            command: "entrupy-sim diff \(Shell.operand(from)) \(Shell.operand(to))",
            counts: (difference.truncated ? "more than " : "") + counts.joined(separator: ", "),
            objects: Rows(
                difference.objects.prefix(rows).enumerated().map { Object($1, "object-\($0)") }),
            isCut: difference.truncated || difference.objects.count > rows,
            ignored: difference.ignored.joined(separator: ", "))
    }

    /// A text as it is, another value as JSON, a dash for none; cut where it is long.
    private static func text(_ value: JSONValue?) -> String {
        let text = value.map { $0.text ?? PrettyJSON.line($0) } ?? "–"
        return text.utf8.count > maxValue ? "\(String(text.unicodeScalars.prefix(maxValue)))…" : text
    }
}
