import Resources
import Simulation
import SimulationAPI

/// The part of seed data that App Components have: workflows, and the people who go through them.
struct ComponentSeed: SharedSeed {
    let workflows: [Workflow]
    /// The first one is the client of codes that name none.
    let clients: [Client]
    /// The members that the seed data has itself. An export leaves the others out: they are built in.
    private let given: Set<String>
}

extension ComponentSeed {
    static let members = ["workflows", "clients"]

    /// Reads seed data. Problems go to `fields`.
    ///
    /// - Throws: ``SeedError`` if the built-in text is broken, which a test rules out.
    init(_ fields: inout FieldReader) throws {
        let workflows = Workflow.list(&fields)
        let clients = Client.list(&fields)
        if fields.isEmptyList("clients") {
            fields.report("clients", "must have at least one client; codes that name none get it")
        }
        // Seed data about Entrupy alone has neither.
        let defaultSeed = workflows == nil || clients == nil ? try Self.standard.get() : nil
        self.init(
            workflows: workflows ?? defaultSeed?.workflows ?? [], clients: clients ?? defaultSeed?.clients ?? [],
            given: Set([workflows.map { _ in "workflows" }, clients.map { _ in "clients" }].compactMap(\.self)))
    }

    /// The built-in workflows and clients; a ``SeedError`` if the built-in text is broken, which a test rules out.
    private static let standard = Result {
        try SourceDocument(
            yaml: Resource.text("seed-data/workflows.yaml"), file: "workflows.yaml"
        ).read(known: members) { try ComponentSeed(&$0) }
    }

    func workflow(_ id: String) -> Workflow? {
        id.isIdentical(to: Workflow.mock.id) ? .mock : workflows.first { $0.id.isIdentical(to: id) }
    }

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

    // MARK: Adding

    /// Workflows and clients that are added to a namespace.
    struct Addition: SeedAddition {
        let workflows: [Workflow]
        let clients: [Client]

        /// The merged seed has all there is to add.
        func load(
            _ job: JobContext, organizations: [TextKey: Int64], into seed: any PlatformSeed, _ loaded: inout SeedLoaded
        ) {}

        init(_ fields: inout FieldReader) {
            workflows = Workflow.list(&fields) ?? []
            clients = Client.list(&fields) ?? []
        }
    }

    func readAddition(_ fields: inout FieldReader) -> any SeedAddition { Addition(&fields) }

    func readOutcome(_ document: JSONValue, _ reading: OutcomeReading) throws -> (any PlatformOutcome)? {
        // Rules of others have no such member.
        guard document.members?["match"]?.members?["component"] != nil else { return nil }
        return try ComponentOutcome(document)
    }

    var choices: [String: [Choice]] {
        var lists = [
            "components": ComponentOutcome.Subject.allCases.map { Choice($0.rawValue) },
            "workflows": workflows.map { Choice(id: $0.id, name: $0.name) },
            "clients": clients.map { Choice($0.id) },
        ]
        for subject in ComponentOutcome.Subject.allCases {
            lists["component_results.\(subject.rawValue)"] = ComponentOutcome.results(of: subject).map { Choice($0) }
        }
        return lists
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
