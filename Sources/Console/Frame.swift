import Foundation
import SimulationAPI

/// The frame of every page: namespace, clock and navigation.
struct Frame: Encodable, Sendable {
    /// The number of pieces of due work that the clock lists.
    private static let maxDue = 20

    /// The groups of the navigation. Each section has its name and its path, the first one none.
    private static let groups = [
        ("What happens", [("activity", "Activity"), ("timeline", "Timeline")]),
        (
            "What is there",
            [
                ("items", "Items"), ("captures", "Captures"), ("users", "Users"), ("components", "Components"),
                ("webhooks", "Webhooks"),
            ]
        ),
        ("Decide", [("rules", "Faults & outcomes"), ("scenarios", "Scenarios"), ("settings", "Settings")]),
        ("Judge", [("audit", "Audit"), ("coverage", "Coverage"), ("report", "Report")]),
    ]

    /// The group with the pages about the whole server.
    private static let server = [("namespaces", "Namespaces")]

    let title, section, proof, namespace, base, console: String
    /// The options that end every command: those for the namespace and ``cliServer``.
    let cli: String
    let cliServer: String
    /// The address of the namespace, quoted for a shell.
    let shellURL: String
    let canChange: Bool
    let groups: [Group]
    let serverSections: [Tab]
    /// `nil` if it cannot be read.
    let clock: Clock?

    /// Sections of the navigation with a title.
    struct Group: Encodable, Sendable {
        let groupTitle, groupID: String
        let sections: [Tab]
    }

    struct Clock: Encodable, Sendable {
        let state: ClockState
        let epoch: String
        let isFrozen: Bool
        let next: Due?
        let due: Rows<Due>?
        /// The number of pieces of due work that are not listed; `nil` if all are.
        let moreDue: Int?
    }

    struct Due: Encodable, Sendable {
        let dueName, dueSubject: String
        let dueLink: String?
        let end: Countdown
    }

    init(
        _ request: ConsoleRequest, _ api: ControlReader, _ part: PagePart, proof: String
    ) async {
        let server = Self.serverOption(request)
        title = part.title
        section = part.section
        self.proof = proof
        namespace = request.namespace
        base = request.base
        console = request.console
        cli = (request.namespace == "default" ? "" : " " + Shell.option("--namespace", request.namespace)) + server
        cliServer = server
        shellURL = Shell.quoted(request.url)
        canChange = !request.isReadOnly
        func tab(_ section: (name: String, title: String)) -> Tab {
            Tab(
                name: section.title, link: request.console + (section.name == "activity" ? "" : "/\(section.name)"),
                isCurrent: section.name == part.section)
        }
        groups = Self.groups.enumerated().map { index, group in
            Group(groupTitle: group.0, groupID: "group-\(index)", sections: group.1.map(tab))
        }
        serverSections = Self.server.map(tab)
        // A page without it is still of use.
        let clock = try? await api.get("clock", as: ClockState.self)
        // So is the clock without the list of due work.
        let due = clock == nil ? nil : try? await api.get("due", [("limit", "\(Self.maxDue)")], as: DueList.self)
        self.clock = clock.map { Clock($0, due, request) }
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
}

extension Frame.Clock {
    init(_ clock: ClockState, _ due: DueList?, _ request: ConsoleRequest) {
        let entries = (due?.due ?? []).map { Frame.Due($0, now: clock.epoch, request) }
        let more = (due?.total ?? 0) - entries.count
        self.init(
            state: clock, epoch: "\(clock.epoch)", isFrozen: clock.mode == "frozen", next: entries.first,
            due: Rows(entries), moreDue: more > 0 ? more : nil)
    }
}

extension Frame.Due {
    init(_ entry: DueEntry, now: Double, _ request: ConsoleRequest) {
        let left = entry.seconds_left
        let progress = entry.since.map { Progress(now - $0, of: now - $0 + max(0, left)) }
        self.init(
            dueName: EventWords.due(entry.kind), dueSubject: entry.subject,
            dueLink: Subject.link(entry.kind, entry.subject, request),
            end: Countdown(to: entry.at, left: left, progress))
    }
}
