import AppComponentsAPI
import Simulation

extension DocumentFacts {
    /// The facts on a client's document. Those that the client's record lacks come from the namespace's seeded
    /// generator, for each client, type and country [D document-values].
    init(_ type: IdentityDocument, _ country: String?, _ session: ActiveWorkflowSession, _ job: JobContext) {
        let client = session.client
        let today = CivilDate(job.now)
        let generator = DocumentGenerator(
            generator: job.state.generator,
            purpose: "document:\(session.record.organizationID ?? 0):\(client.id):\(type.rawValue):\(country ?? "")")
        let validity = type == .residencePermit ? 5 : 10
        let end = client.expirationDate ?? today.adding(years: 1 + generator.number(below: validity - 1, for: "expiry"))
        let issue = end.adding(years: -validity)
        self.init(
            firstNames: client.firstName.split { $0 == " " }.map(String.init),
            lastNames: [client.lastName], birthDate: client.birthDate,
            gender: client.gender, nationality: client.nationality, issuingCountry: country ?? client.nationality,
            documentNumber: client.documentNumber.flatMap { MagicNumber($0) == nil ? $0 : nil }
                ?? generator.documentNumber(of: type, issue),
            issueDate: issue, expirationDate: end,
            birthPlace: client.birthPlace ?? generator.one(of: Self.places, for: "place"),
            taxNumber: generator.text(of: DocumentGenerator.digits, 9, for: "tax"),
            office: generator.text(of: DocumentGenerator.digits, 6, for: "office"))
    }

    private static let places = [
        "Amsterdam", "Barcelona", "Bruges", "Gdansk", "Graz", "Leiden", "Lyon", "Milan", "Porto", "Uppsala",
    ]

    /// The data extracted from the pictures. Members that such a document does not have are absent [D document-analysis].
    func analysis(of type: IdentityDocument) -> DocumentResult.DocumentAnalysis {
        var analysis = DocumentResult.DocumentAnalysis()
        analysis.documentType = type.rawValue
        analysis.firstName = firstNames.joined(separator: " ")
        analysis.lastName = lastNames.joined(separator: " ")
        // Letters alone, as the vendor's alphabet of the field has no dot [D initials].
        analysis.initials = firstNames.compactMap(\.first).map(String.init).joined()
        analysis.issueDate = issueDate.text
        if type == .tinReferenceDocument { analysis.taxIdentificationNumber = taxNumber }
        guard type.isPrimary else { return analysis }
        let isLicence = type == .driversLicense || type == .dutchDriversLicense
        // Driving licences have no field for it.
        analysis.gender = (isLicence ? Gender.unknown : gender).rawValue
        analysis.nationality = isLicence ? nil : nationality
        analysis.issuingCountry = issuingCountry
        analysis.expirationDate = expirationDate.text
        analysis.dateOfBirth = birthDate.text
        analysis.birthPlace = birthPlace
        analysis.documentNumber = documentNumber
        return analysis
    }
}

/// Values for a purpose from a namespace's generator.
private struct DocumentGenerator {
    let generator: SeededGenerator
    let purpose: String

    static let digits = Array("0123456789")
    /// Without the letters that look like digits.
    private static let capitals = Array("ABCDEFGHJKLMNPQRSTUVWXYZ")

    /// A whole number from 0, less than `limit`.
    func number(below limit: Int, for name: String) -> Int {
        min(limit - 1, Int(generator.fraction(for: "\(purpose):\(name)") * Double(limit)))
    }

    func one(of texts: [String], for name: String) -> String { texts[number(below: texts.count, for: name)] }

    func text(of characters: [Character], _ length: Int, for name: String) -> String {
        String((0..<length).map { characters[number(below: characters.count, for: "\(name):\($0)")] })
    }

    /// Two letters and seven digits; digits alone where the document has no letters. That of the French identity card
    /// begins with the year and month of its issue.
    func documentNumber(of type: IdentityDocument, _ issue: CivilDate) -> String {
        switch type {
        case .frenchIdCard: String(issue.short.prefix(4)) + text(of: Self.digits, 8, for: "number")
        case .dutchDriversLicense: text(of: Self.digits, 10, for: "number")
        default: text(of: Self.capitals, 2, for: "letters") + text(of: Self.digits, 7, for: "number")
        }
    }
}

/// The person and the document of sessions in the mock environment: the same in every namespace [D mock].
enum MockDocument {
    static let client = Client(
        id: "mock", firstName: "Anna Maria", lastName: "Eriksson", birthDate: CivilDate("1984-08-12")!,
        nationality: "NLD", gender: .female)

    static func facts(_ type: IdentityDocument, issuingCountry: String?) -> DocumentFacts {
        let country = issuingCountry ?? "NLD"
        return DocumentFacts(
            firstNames: ["Anna", "Maria"], lastNames: ["Eriksson"], birthDate: client.birthDate, gender: .female,
            nationality: country, issuingCountry: country, documentNumber: number(of: type),
            issueDate: CivilDate("2024-04-15")!, expirationDate: CivilDate("2034-04-15")!, birthPlace: "Leiden",
            taxNumber: "123456782", office: "751234")
    }

    private static func number(of type: IdentityDocument) -> String {
        switch type {
        case .frenchIdCard: "240475123456"
        case .dutchDriversLicense: "4898902003"
        default: "L898902C3"
        }
    }
}
