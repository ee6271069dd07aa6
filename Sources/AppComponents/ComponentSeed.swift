import Simulation
import SimulationAPI
import Storage

/// The part of seed data that App Components have: workflows, and the people who go through them.
struct ComponentSeed: PlatformSeed {
    let workflows: [Workflow]
    /// The first one is the client of codes that name none.
    let clients: [Client]
    /// The members that the seed data has itself. An export leaves the others out: they are built in.
    private let given: Set<String>

    static let members = ["workflows", "clients"]

    /// - Throws: ``SeedError``.
    init(_ members: SeedMapping) throws {
        // Seed data of earlier releases has neither.
        let defaultSeed = try members["workflows"] == nil || members["clients"] == nil ? Self.standard.get() : nil
        workflows = try members["workflows"]?.list { try Workflow(seed: $0) } ?? defaultSeed?.workflows ?? []
        clients = try members["clients"]?.list { try Client(seed: $0) } ?? defaultSeed?.clients ?? []
        given = Set(Self.members.filter { members[$0] != nil })
        try check(members)
    }

    private init(workflows: [Workflow], clients: [Client], given: Set<String>) {
        self.workflows = workflows
        self.clients = clients
        self.given = given
    }

    private func check(_ members: SeedMapping) throws {
        if members["workflows"] != nil { try members.checkUnique(workflows.map(\.id), "workflow", in: "workflows") }
        guard let given = members["clients"] else { return }
        try members.checkUnique(clients.map(\.id), "client", in: "clients")
        guard !clients.isEmpty else { throw given.error("expected at least one client; codes that name none get it") }
    }

    /// The built-in workflows and clients; a ``SeedError`` if the built-in text is broken, which a test rules out.
    private static let standard = Result {
        try ComponentSeed(
            SeedNode(yaml: String(decoding: PackageResources.workflows_yaml, as: UTF8.self), file: "workflows.yaml")
                .mapping(allowed: members))
    }

    func workflow(_ id: String) -> Workflow? {
        id.isIdentical(to: Workflow.mock.id) ? .mock : workflows.first { $0.id.isIdentical(to: id) }
    }

    func withoutUsers() -> Self { self }

    func insert(_ transaction: Transaction, organizations: [TextKey: Int64]) {}

    func members() -> [(key: String, value: SeedDocument)] {
        let members: [(key: String, value: SeedDocument)] = [
            ("workflows", .list(workflows.map(\.seedDocument))),
            (
                "clients",
                .list(clients.map { client in .mapping(client.document.map { ($0.key, .text($0.value)) }) })
            ),
        ]
        return members.filter { given.contains($0.key) }
    }

    func members(
        ofOrganization name: String
    ) -> (beforeUsers: [(key: String, value: SeedDocument)], afterUsers: [(key: String, value: SeedDocument)]) {
        ([], [])
    }

    // MARK: Adding

    /// Workflows and clients that are added to a namespace.
    struct Addition: SeedAddition {
        let workflows: [Workflow]
        let clients: [Client]

        init(_ members: SeedMapping) throws {
            workflows = try members["workflows"]?.list { try Workflow(seed: $0) } ?? []
            clients = try members["clients"]?.list { try Client(seed: $0) } ?? []
            if members["workflows"] != nil {
                try members.checkUnique(workflows.map(\.id), "workflow", in: "workflows")
            }
            if members["clients"] != nil { try members.checkUnique(clients.map(\.id), "client", in: "clients") }
        }

        func load(
            _ job: JobContext, organizations: [TextKey: Int64], into seed: any PlatformSeed, _ loaded: inout SeedLoaded
        ) {}
    }

    func adding(_ addition: any SeedAddition) -> Self {
        guard let addition = addition as? Addition else { return self }
        return Self(
            workflows: Seed.merged(workflows, addition.workflows, by: \.id) { $1 },
            clients: Seed.merged(clients, addition.clients, by: \.id) { $1 },
            given: given.union(
                [addition.workflows.isEmpty ? nil : "workflows", addition.clients.isEmpty ? nil : "clients"]
                    .compactMap(\.self)))
    }
}

extension Seed {
    /// The part of App Components.
    var components: ComponentSeed { part(ComponentSeed.self) }
}
