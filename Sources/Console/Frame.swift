import Foundation
import SimulationAPI

/// The frame of every page: namespace, clock and navigation.
enum Frame {
    /// The number of pieces of due work that the clock lists.
    private static let maxDue = 20

    private static let sections = [
        ("activity", "Activity", ""), ("items", "Items", "/items"), ("timeline", "Timeline", "/timeline"),
        ("captures", "Captures", "/captures"), ("users", "Users", "/users"),
        ("components", "Components", "/components"), ("rules", "Faults & outcomes", "/rules"),
        ("scenarios", "Scenarios", "/scenarios"), ("webhooks", "Webhooks", "/webhooks"), ("audit", "Audit", "/audit"),
        ("coverage", "Coverage", "/coverage"),
        ("namespaces", "Namespaces", "/namespaces"), ("settings", "Settings", "/settings"),
    ]

    static func view(
        _ request: ConsoleRequest, _ api: ControlReader, _ part: PagePart, version: String, proof: String
    ) async -> View {
        let isDefault = request.namespace == "default"
        let cliServer = serverOption(request)
        var view: View = [
            "title": part.title, "section": part.section, "version": version, "proof": proof,
            "namespace": request.namespace, "base": request.base, "console": request.console,
            "cli": (isDefault ? "" : " " + Shell.option("--namespace", request.namespace)) + cliServer,
            "cliServer": cliServer,
            "readOnly": request.isReadOnly, "canChange": !request.isReadOnly,
            "sections": sections.map { name, title, path -> View in
                [
                    "link": request.console + path, "name": title, "isCurrent": name == part.section,
                    "key": "nav-\(name)",
                ]
            },
        ]
        // A page without the clock or the list of due work is still of use.
        if let clock = try? await api.get("clock", as: ClockState.self) {
            // The same.
            let due = try? await api.get("due", [("limit", "\(maxDue)")], as: DueList.self)
            view["clock"] = self.clock(clock, due, request)
        }
        return view
    }

    /// The option with which a command line reaches this server, with a space before it; empty if it does so without one.
    static func serverOption(_ request: ConsoleRequest) -> String {
        serverOption(
            request.url.hasSuffix(request.base) ? String(request.url.dropLast(request.base.count)) : request.url)
    }

    /// - Parameter server: the server's URL, without a namespace.
    static func serverOption(_ server: String) -> String {
        server == "http://127.0.0.1:8642" ? "" : " " + Shell.option("--url", server)
    }

    private static func clock(_ clock: ClockState, _ due: DueList?, _ request: ConsoleRequest) -> View {
        let entries = (due?.due ?? []).map { entry -> View in
            let waited = entry.since.map { clock.epoch - $0 } ?? 0
            let subject = Subject(kind: entry.kind, id: entry.subject, request)
            return [
                "dueName": EventWords.due(entry.kind), "dueSubject": entry.subject, "dueLink": subject.link ?? "",
                "hasDueLink": subject.link != nil, "dueAt": Moment.text(entry.at), "dueEpoch": "\(entry.at)",
                "dueISO": Moment.iso(entry.at),
                "left": Moment.span(entry.seconds_left), "leftSeconds": "\(max(0, entry.seconds_left))",
                "hasBar": entry.since != nil, "max": "\(max(1, waited + max(0, entry.seconds_left)))",
                "value": "\(min(max(0, waited), waited + max(0, entry.seconds_left)))",
            ]
        }
        let isFrozen = clock.mode == "frozen"
        return [
            "now": Moment.text(clock.epoch), "nowISO": Moment.iso(clock.epoch), "epoch": "\(clock.epoch)",
            "mode": clock.mode, "isFrozen": isFrozen, "isRunning": !isFrozen, "hasDue": !entries.isEmpty,
            "next": entries.first.map { [$0] } ?? [], "dueList": entries,
            "dueTotal": due?.total ?? 0, "moreDue": max(0, (due?.total ?? 0) - entries.count),
            "hasMoreDue": (due?.total ?? 0) > entries.count,
        ]
    }
}
