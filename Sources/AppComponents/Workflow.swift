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
    let biometrics: BiometricsRules?

    /// The requirements and limits of the Document Component. Lists that are `nil` accept everything.
    struct DocumentRules: Sendable {
        let video: Bool
        let tilted: Bool
        let extractsData: Bool
        let types: [IdentityDocument]?
        let issuingCountries: [String]?
        let nationalities: [String]?
    }

    /// The requirements of the Biometrics Component.
    struct BiometricsRules: Sendable {
        let video: Bool
    }

    var components: [Component] {
        [document == nil ? nil : .document, biometrics == nil ? nil : .biometrics].compactMap(\.self)
    }

    /// The workflow of sessions in the mock environment.
    static let mock = Workflow(
        id: "mock", name: "TestMe", isSupported: true, hasFeedback: false,
        document: DocumentRules(
            video: true, tilted: true, extractsData: true, types: nil, issuingCountries: nil, nationalities: nil),
        biometrics: BiometricsRules(video: true))

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
        component == .document ? document?.video ?? false : biometrics?.video ?? false
    }

    /// The name of the selfie among the files of a component, and of its video.
    static let selfie = "selfie"
    static let video = "video"
}

extension Workflow {
    init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["id", "name", "supported", "real_time_feedback", "document", "biometrics"])
        id = try members.required("id").string(maxBytes: 64)
        guard
            id.utf8.allSatisfy({
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            })
        else { throw try members.required("id").error("expected an id of a-z, 0-9, - and _") }
        guard !id.isIdentical(to: Self.mock.id) else {
            throw try members.required("id").error("expected another id: \"\(id)\" is the workflow of mock sessions")
        }
        name = try members.required("name").string(maxBytes: 100)
        isSupported = try members["supported"]?.bool() ?? true
        hasFeedback = try members["real_time_feedback"]?.bool() ?? false
        document = try members["document"].map { try DocumentRules(seed: $0) }
        biometrics = try members["biometrics"].map {
            BiometricsRules(video: try $0.mapping(allowed: ["video"])["video"]?.bool() ?? false)
        }
        guard document != nil || biometrics != nil else {
            throw seed.error("expected a document or biometrics component, or both")
        }
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
            ), ("biometrics", biometrics.map { .members([("video", .bool($0.video))]) }),
        ])
    }
}

extension Workflow.DocumentRules {
    fileprivate init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["video", "tilted", "data_extraction", "types", "issuing_countries", "nationalities"])
        video = try members["video"]?.bool() ?? false
        tilted = try members["tilted"]?.bool() ?? false
        extractsData = try members["data_extraction"]?.bool() ?? false
        for key in ["types", "issuing_countries", "nationalities"] {
            guard let node = members[key], try node.list({ _ in }).isEmpty else { continue }
            throw node.error("expected at least one; leave it out to accept all")
        }
        types = try members["types"]?.list { node in
            IdentityDocument(rawValue: try node.oneOf(IdentityDocument.allCases.map(\.rawValue)))!
        }
        issuingCountries = try members["issuing_countries"]?.list { try $0.country() }
        nationalities = try members["nationalities"]?.list { try $0.country() }
    }
}

extension SeedNode {
    fileprivate func country() throws -> String {
        let code = try string(maxBytes: 100)
        guard Countries.contains(code) else { throw error("\(Countries.expected), found \"\(code)\"") }
        return code
    }
}
