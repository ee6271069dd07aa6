import AppComponentsAPI
import Simulation
import SimulationAPI

/// A workflow of seed data: which components it has, and what they want and accept [D workflows].
struct Workflow: Sendable {
    let id: String
    let name: String
    /// Whether an app can start it. The SDK refuses others as ConfigurationNotSupported [S].
    let isSupported: Bool
    /// Whether uploads are answered with the quality of the picture [S].
    let hasFeedback: Bool
    /// `nil` if the workflow has no such component.
    let document: DocumentRules?
    /// Whether the Biometrics Component wants a video; `nil` if the workflow has no such component.
    let biometricsVideo: Bool?

    /// The requirements and limits of the Document Component. Lists that are `nil` accept everything.
    struct DocumentRules: Sendable {
        let video: Bool
        let tilted: Bool
        let extractsData: Bool
        let types: [IdentityDocument]?
        let issuingCountries: [String]?
        let nationalities: [String]?
    }

    var components: [Component] {
        [document == nil ? nil : .document, biometricsVideo == nil ? nil : .biometrics].compactMap(\.self)
    }

    /// The workflow of sessions in the mock environment.
    static let mock = Workflow(
        id: "mock", name: "TestMe", isSupported: true, hasFeedback: false,
        document: DocumentRules(
            video: true, tilted: true, extractsData: true, types: nil, issuingCountries: nil, nationalities: nil),
        biometricsVideo: true)

    /// The sides of a document [D document-sides].
    static func sides(of type: IdentityDocument) -> [String] {
        switch type {
        case .passport, .proofOfAddress, .tinReferenceDocument: ["front"]
        case .driversLicense, .dutchDriversLicense, .frenchIdCard, .idCard, .paperId, .residencePermit:
            ["front", "back"]
        }
    }

    /// The pictures that a component wants. Primary documents are taken flat and tilted [D document-sides].
    func images(of component: Component, _ type: IdentityDocument?) -> [(side: String, isAngled: Bool)] {
        guard component == .document, let type else { return [(Self.selfie, false)] }
        let isTilted = type.isPrimary && document?.tilted == true
        return Self.sides(of: type).flatMap { side in
            isTilted ? [(side, false), (side, true)] : [(side, false)]
        }
    }

    /// Whether a component wants a video.
    func wantsVideo(_ component: Component) -> Bool {
        component == .document ? document?.video ?? false : biometricsVideo ?? false
    }

    /// The name of the selfie among the files of a component, and of its video.
    static let selfie = "selfie"
    static let video = "video"
}

extension Workflow {
    /// The workflows of seed data; `nil` if it has no such member. Problems go to `fields`.
    static func list(_ fields: inout FieldReader) -> [Workflow]? {
        let known = ["id", "name", "supported", "real_time_feedback", "document", "biometrics"]
        let workflows = fields.objects("workflows", known: known) { Workflow(&$0) }
        fields.checkUnique(workflows?.map(\.id) ?? [], "workflow", in: "workflows")
        return workflows
    }

    private init(_ fields: inout FieldReader) {
        id = fields.workflowID()
        name = fields.requiredText("name", maxBytes: 100)
        isSupported = fields.optionalBool("supported") ?? true
        hasFeedback = fields.optionalBool("real_time_feedback") ?? false
        if fields.value("document") == nil, fields.value("biometrics") == nil {
            fields.report("", "needs a document or biometrics component, or both")
        }
        document = DocumentRules(&fields)
        var biometrics = fields.optionalObject("biometrics", known: ["video"])
        biometricsVideo = biometrics == nil ? nil : biometrics?.optionalBool("video") ?? false
    }

    var seedDocument: SeedDocument {
        .members([
            ("id", .text(id)), ("name", .text(name)), ("supported", .bool(isSupported)),
            ("real_time_feedback", .bool(hasFeedback)),
            (
                "document",
                document.map { rules in
                    .members([
                        ("video", .bool(rules.video)), ("tilted", .bool(rules.tilted)),
                        ("data_extraction", .bool(rules.extractsData)),
                        ("types", rules.types.map { .texts($0.map(\.rawValue)) }),
                        ("issuing_countries", rules.issuingCountries.map { .texts($0) }),
                        ("nationalities", rules.nationalities.map { .texts($0) }),
                    ])
                }
            ), ("biometrics", biometricsVideo.map { .members([("video", .bool($0))]) }),
        ])
    }
}

extension Workflow.DocumentRules {
    /// `nil` if the workflow has no such component.
    fileprivate init?(_ workflow: inout FieldReader) {
        let lists = ["types", "issuing_countries", "nationalities"]
        let known = ["video", "tilted", "data_extraction"] + lists
        guard var fields = workflow.optionalObject("document", known: known) else { return nil }
        video = fields.optionalBool("video") ?? false
        tilted = fields.optionalBool("tilted") ?? false
        extractsData = fields.optionalBool("data_extraction") ?? false
        for key in lists where fields.isEmptyList(key) {
            fields.report(key, "must have at least one; leave it out to accept all")
        }
        types = fields.words("types", IdentityDocument.names)?.compactMap(
            IdentityDocument.init(rawValue:))
        issuingCountries = fields.list("issuing_countries") { $0.country($1) }
        nationalities = fields.list("nationalities") { $0.country($1) }
    }
}

extension FieldReader {
    fileprivate mutating func workflowID() -> String {
        let id = requiredText("id", maxBytes: 64)
        let isValid = id.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
        if !isValid { report("id", "must be an id of a-z, 0-9, - and _, got \"\(id.excerpt)\"") }
        if id.isIdentical(to: Workflow.mock.id) {
            report("id", "must be another id: \"\(id)\" is the workflow of mock sessions")
        }
        return id
    }
}
