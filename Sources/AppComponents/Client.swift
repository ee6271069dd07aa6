import AppComponentsAPI
import Simulation
import SimulationAPI

/// The person whose document and face are checked, and what the person's document shows [D clients].
struct Client: Sendable {
    let id: String
    let firstName: String
    let lastName: String
    let birthDate: CivilDate
    let nationality: String
    let gender: Gender
    /// `nil` if it is generated.
    var documentNumber: String?
    /// The type of the document that the person holds; `nil` if it is the one that the app selects.
    var documentType: IdentityDocument?
    /// `nil` for a generated day in the future.
    var expirationDate: CivilDate?
    var birthPlace: String?
}

extension Client {
    /// The members of a client in seed data and in requests.
    static let members = [
        "client_id", "first_name", "last_name", "birth_date", "nationality", "gender", "document_number",
        "document_type", "expiration_date", "birth_place",
    ]

    /// The longest id and name, in UTF-8 bytes.
    private static let maxBytes = 100

    /// Reads a client. Problems go to `fields`.
    ///
    /// - Parameter defaults: gives the members that are absent, except those of the document if the id is another one;
    ///   `nil` if the members must be there.
    init(_ fields: inout FieldReader, defaults: Client?) {
        if defaults == nil {
            for key in ["client_id", "first_name", "last_name", "birth_date", "nationality"] { fields.require(key) }
        }
        id = fields.clientID() ?? defaults?.id ?? ""
        // Document data of another client does not apply.
        let isSame = defaults?.id.isIdentical(to: id) ?? false
        firstName = fields.personName("first_name") ?? defaults?.firstName ?? ""
        lastName = fields.personName("last_name") ?? defaults?.lastName ?? ""
        birthDate = fields.date("birth_date") ?? defaults?.birthDate ?? CivilDate("1990-01-01")!
        nationality = fields.country("nationality") ?? defaults?.nationality ?? ""
        gender =
            fields.word("gender", [Gender.female, .male, .other].map(\.rawValue)).flatMap(Gender.init(rawValue:))
            ?? defaults?.gender ?? .female
        documentNumber = fields.documentNumber() ?? (isSame ? defaults?.documentNumber : nil)
        documentType = fields.word("document_type", IdentityDocument.self) ?? (isSame ? defaults?.documentType : nil)
        expirationDate = fields.date("expiration_date") ?? (isSame ? defaults?.expirationDate : nil)
        birthPlace = fields.text("birth_place", maxBytes: Self.maxBytes) ?? (isSame ? defaults?.birthPlace : nil)
    }

    /// Reads a stored client.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(stored text: String) throws {
        try self.init(stored: StoredJSON.decode(text))
    }

    init(stored document: JSONValue) throws {
        var fields = FieldReader(document, known: Self.members)
        self.init(&fields, defaults: nil)
        try fields.finish()
    }

    /// The clients of seed data; `nil` if it has no such member. Problems go to `fields`.
    static func list(_ fields: inout FieldReader) -> [Client]? {
        // Null stands for what a document does not show.
        let clients = fields.objects("clients", known: nil) { client in
            client.refuseMembers(except: members)
            return Client(&client, defaults: nil)
        }
        fields.checkUnique(clients?.map(\.id) ?? [], "client", in: "clients")
        return clients
    }

    /// The client as JSON members.
    var document: [(key: String, value: String)] {
        let members: [(String, String?)] = [
            ("client_id", id), ("first_name", firstName), ("last_name", lastName), ("birth_date", birthDate.text),
            ("nationality", nationality), ("gender", gender.rawValue), ("document_number", documentNumber),
            ("document_type", documentType?.rawValue), ("expiration_date", expirationDate?.text),
            ("birth_place", birthPlace),
        ]
        return members.compactMap { key, value in value.map { (key, $0) } }
    }

    /// The client as stored JSON.
    func stored() throws -> String {
        try StoredJSON.encode(JSONValue.object(JSONObject(document.map { ($0.key, .string($0.value)) })))
    }

    /// The decision of the document number; `nil` if it is an ordinary one [D magic-numbers].
    var magic: MagicNumber? { documentNumber.flatMap { MagicNumber($0) } }
}

/// A document number that decides what happens, for instance `sim-DocumentExpired` [D magic-numbers].
enum MagicNumber: Sendable {
    case failure(WorkflowFailure)
    /// The quality of the first upload of each picture.
    case quality(ImageQuality)
    /// A machine-readable zone with a wrong check digit.
    case validationErrors

    /// The beginning of a magic number, before the name.
    private static let prefix = "sim-"
    /// All decisions, by name.
    static let all: [(name: String, decision: MagicNumber)] =
        WorkflowFailure.allCases.map { ($0.rawValue, .failure($0)) }
        + ImageQuality.allCases.filter { $0 != .ok }.map { ($0.rawValue, .quality($0)) }
        + [("ValidationErrors", .validationErrors)]

    /// `nil` if the text is an ordinary number. Upper and lower case are the same.
    init?(_ text: String) {
        let name = text.lowercased()
        guard name.utf8.starts(with: Self.prefix.utf8) else { return nil }
        self.init(named: String(name.dropFirst(Self.prefix.count)))
    }

    /// - Parameter name: one of ``all``, in any case.
    init?(named name: String) {
        let wanted = name.lowercased()
        guard let found = Self.all.first(where: { $0.name.lowercased().isIdentical(to: wanted) }) else { return nil }
        self = found.decision
    }

    /// The problem of a document number; `nil` if it is valid.
    static func problem(_ text: String) -> String? {
        if text.lowercased().utf8.starts(with: prefix.utf8) {
            let names = all.map(\.name).joined(separator: ", ")
            return MagicNumber(text) == nil ? "must be \(prefix) and one of \(names)" : nil
        }
        let isNumber =
            (1...9).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
        return isNumber ? nil : "must be 1 to 9 of A-Z and 0-9, or \(prefix) and the name of an error"
    }
}

extension FieldReader {
    /// The id by which an organization knows a person.
    fileprivate mutating func clientID() -> String? {
        guard let text = text("client_id", maxBytes: 64) else { return nil }
        let isValid = text.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isValid else {
            report("client_id", "must be 1 to 64 of A-Z, a-z, 0-9, ., _ and -, got \"\(text.excerpt)\"")
            return nil
        }
        return text
    }

    /// A name that a machine-readable zone can spell: Latin letters, spaces, hyphens and apostrophes [S, D clients].
    fileprivate mutating func personName(_ key: String) -> String? {
        guard let text = text(key, maxBytes: 100) else { return nil }
        guard let letters = MachineReadableZone.transcribed(text), letters.contains(where: { $0 != 0x3c }) else {
            report(key, "must be Latin letters, spaces, hyphens and apostrophes, got \"\(text.excerpt)\"")
            return nil
        }
        return text
    }

    /// A day.
    fileprivate mutating func date(_ key: String) -> CivilDate? {
        if let text = value(key)?.text, let problem = Instant.problem(ofDate: text) {
            report(key, problem)
            return nil
        }
        return value(key, "must be a day from 1900 on, as YYYY-MM-DD") { $0.text.flatMap { CivilDate($0) } }
    }

    fileprivate mutating func documentNumber() -> String? {
        guard let text = text("document_number", maxBytes: 100) else { return nil }
        guard let problem = MagicNumber.problem(text) else { return text }
        report("document_number", problem)
        return nil
    }

    /// A country of ISO 3166-1, by its alpha-3 code.
    mutating func country(_ key: String) -> String? {
        value(key, Countries.expected) { value in
            value.text.flatMap { Countries.contains($0) ? $0 : nil }
        }
    }
}
