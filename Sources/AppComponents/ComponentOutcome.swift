import AppComponentsAPI
import Simulation
import SimulationAPI

/// A rule that decides what happens to matching sessions and components [D component-outcomes].
struct ComponentOutcome: PlatformOutcome {
    let result: String
    let decision: MagicNumber
    let times: Int?
    let reason: String? = nil

    private let subject: Subject
    private let workflow: String?
    private let clientID: String?
    private let documentType: IdentityDocument?
    private let issuingCountry: String?

    /// The subjects of rules.
    enum Subject: String, CaseIterable {
        /// The start of a session.
        case session
        case document, biometrics
    }

    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    init(_ document: JSONValue) throws {
        var fields = FieldReader(document, known: ["match", "result", "times", "reason", "after"])
        var match = fields.object(
            "match", known: ["component", "workflow", "client_id", "document_type", "issuing_country"])
        subject = Subject(rawValue: match.requiredWord("component", Subject.names)) ?? .session
        workflow = match.text("workflow")
        clientID = match.text("client_id")
        documentType = match.word("document_type", IdentityDocument.self)
        issuingCountry = match.country("issuing_country")
        if subject != .document {
            for key in ["document_type", "issuing_country"] where match.has(key) {
                match.report(key, "needs the component document")
            }
        }
        result = fields.requiredWord("result", Self.results(of: subject))
        decision = MagicNumber(named: result) ?? .validationErrors
        times = fields.number("times", in: 1...1_000_000_000)
        for key in ["reason", "after"] where fields.value(key) != nil {
            fields.report(key, "belongs to results of items; App Components answer at once, without a reason")
        }
        try fields.finish()
    }

    /// The results that rules of a subject can have.
    static func results(of subject: Subject) -> [String] {
        MagicNumber.all.filter { _, decision in
            switch (decision, subject) {
            case (.failure(let failure), .session):
                failure.stage == .session || failure.stage == .finish && !failure.isOfDocuments
            case (.failure(let failure), .document): failure.stage != .session
            case (.failure(let failure), .biometrics): failure.stage != .session && !failure.isOfDocuments
            case (.quality, .session), (.validationErrors, .session), (.validationErrors, .biometrics): false
            case (.quality, _), (.validationErrors, .document): true
            }
        }.map(\.name)
    }

    /// Whether the rule decides a subject.
    func decides(
        _ subject: Subject, _ workflowID: String, _ client: Client, _ type: IdentityDocument? = nil,
        _ country: String? = nil
    ) -> Bool {
        self.subject == subject && (workflow?.isIdentical(to: workflowID) ?? true)
            && (clientID?.isIdentical(to: client.id) ?? true)
            && (documentType == nil || documentType == type)
            && (issuingCountry.map { wanted in country?.isIdentical(to: wanted) ?? false } ?? true)
    }

    func notes(_ job: JobContext) -> [RuleNote] { notes(job.state.seed).map { RuleNote($0) } }

    func notes(_ seed: Seed) -> [ErrorDetail] {
        guard let workflow, seed.components.workflow(workflow) == nil else { return [] }
        let ids = seed.components.workflows.map(\.id).joined(separator: ", ")
        return [ErrorDetail("match.workflow", "the seed data has no workflow \"\(workflow)\"; it has \(ids)")]
    }
}
