import AppComponentsAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import AppComponents

@Suite struct MachineReadableZoneTests {
    /// The specimen of ICAO 9303: Anna Maria Eriksson of Utopia.
    private static func specimen(number: String) -> DocumentFacts {
        DocumentFacts(
            firstNames: ["Anna", "Maria"], lastNames: ["Eriksson"], birthDate: CivilDate("1974-08-12")!,
            gender: .female, nationality: "UTO", issuingCountry: "UTO", documentNumber: number,
            issueDate: CivilDate("2002-04-15")!, expirationDate: CivilDate("2012-04-15")!, birthPlace: "Zenith",
            taxNumber: "", office: "")
    }

    @Test func aPassportZoneMatchesTheStandardsSpecimen() throws {
        let zone = try #require(MachineReadableZone.travelDocument(.passport, Self.specimen(number: "L898902C3")))
        let lines = zone.rawMrz.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0] == "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<")
        // The standard's specimen has a personal number, without which its last two digits are these.
        #expect(lines[1] == "L898902C36UTO7408122F1204159<<<<<<<<<<<<<<<8")
    }

    @Test func anIdentityCardZoneMatchesTheStandardsSpecimen() throws {
        let zone = try #require(MachineReadableZone.travelDocument(.idCard, Self.specimen(number: "D23145890")))
        #expect(
            zone.rawMrz == """
                I<UTOD231458907<<<<<<<<<<<<<<<
                7408122F1204159UTO<<<<<<<<<<<6
                ERIKSSON<<ANNA<MARIA<<<<<<<<<<
                """)
    }

    /// The card of Corinne Berthier, the specimen of the French state.
    @Test func aFrenchCardZoneMatchesItsSpecimen() throws {
        var facts = Self.specimen(number: "880692310285")
        (facts.firstNames, facts.lastNames) = (["Corinne"], ["Berthier"])
        (facts.birthDate, facts.office) = (CivilDate("1965-12-06")!, "")
        let zone = try #require(MachineReadableZone.travelDocument(.frenchIdCard, facts))
        #expect(
            zone.rawMrz == """
                IDFRABERTHIER<<<<<<<<<<<<<<<<<<<<<<<
                8806923102858CORINNE<<<<<<<6512068F6
                """)
        #expect(zone.expirationDate == nil && zone.nationality == nil && zone.documentCode == "ID")
    }

    @Test(arguments: [
        ("Lefèvre", "LEFEVRE"), ("Jean-Luc", "JEAN<LUC"), ("O'Connor", "OCONNOR"), ("Müller", "MULLER"),
        ("Strauß", "STRAUSS"), ("Sørensen", "SOERENSEN"), ("Łukasz", "LUKASZ"), ("de Vries", "DE<VRIES"),
        ("de  Vries", "DE<VRIES"), (" -Anna--Maria- ", "ANNA<MARIA"),
    ])
    func namesAreTranscribed(name: String, expected: String) {
        #expect(MachineReadableZone.transcribed(name).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: ["田中", "Иванов", "R2D2", "a\u{0}b", "🙂"]) func otherNamesAreNotTranscribed(name: String) {
        #expect(MachineReadableZone.transcribed(name) == nil)
    }

    @Test func germanyAndKosovoHaveCodesOfTheirOwn() throws {
        var facts = Self.specimen(number: "1")
        for (country, code) in [("DEU", "D<<"), ("XKX", "RKS"), ("NLD", "NLD")] {
            (facts.issuingCountry, facts.nationality) = (country, country)
            let zone = try #require(MachineReadableZone.travelDocument(.passport, facts))
            let lines = zone.rawMrz.split(separator: "\n")
            try #require(lines.count == 2)
            #expect(
                lines[0].hasPrefix("P<\(code)") && lines[1].dropFirst(10).hasPrefix(code)
                    && zone.issuingCountry == country)
        }
    }

    @Test func aLongNameIsCutToTheLine() throws {
        var facts = Self.specimen(number: "1")
        facts.lastNames = [String(repeating: "Long", count: 25)]
        for type in [IdentityDocument.passport, .idCard, .residencePermit, .frenchIdCard] {
            let lines = try #require(MachineReadableZone.travelDocument(type, facts)).rawMrz.split(separator: "\n")
            let length = [IdentityDocument.passport: 44, .frenchIdCard: 36][type] ?? 30
            #expect(lines.someAndAll { $0.utf8.count == length }, "\(type)")
        }
    }

    @Test func aDamagedZoneHasAWrongCheckDigitAndReportsIt() throws {
        let facts = Self.specimen(number: "L898902C3")
        let zone = try #require(MachineReadableZone.travelDocument(.passport, facts, isDamaged: true))
        #expect(zone.rawMrz.contains("L898902C37UTO") && zone.validationErrors == ["documentNumber"])
        let licence = MachineReadableZone.drivingLicence(facts, isDamaged: true)
        #expect(licence.rawMrz != MachineReadableZone.drivingLicence(facts).rawMrz)
        #expect(licence.validationErrors == ["documentNumber"] && licence.rawMrz.utf8.count == 30)
    }

    @Test func onlyFourTypesHaveTheZoneOfTravelDocuments() {
        let facts = Self.specimen(number: "1")
        let types = IdentityDocument.allCases.filter { MachineReadableZone.travelDocument($0, facts) != nil }
        #expect(Set(types) == [.frenchIdCard, .idCard, .passport, .residencePermit])
    }
}

@Suite struct CivilDateTests {
    @Test(arguments: [
        "2023-02-29", "1900-02-29", "2100-02-29", "2024-04-31", "2024-01-32", "2024-01-00", "2024-13-01", "2024-00-10",
        "1899-12-31", "24-01-01", "2024-1-01", "2024/01/01", "", "٢٠٢٤-٠١-٠١",
    ])
    func anInvalidDateIsRefused(text: String) {
        #expect(CivilDate(text) == nil)
    }

    @Test(arguments: ["2024-02-29", "2000-02-29", "1900-01-01", "9999-12-31", "2024-04-30"])
    func aDayOfTheCalendarIsReadAndWritten(text: String) {
        #expect(CivilDate(text)?.text == text)
    }

    @Test func ageIsCountedOnTheBirthday() throws {
        let birth = try #require(CivilDate("2008-02-29"))
        #expect(birth.years(to: try #require(CivilDate("2026-02-28"))) == 17)
        #expect(birth.years(to: try #require(CivilDate("2026-03-01"))) == 18)
        #expect(birth.adding(years: 1).text == "2009-02-28" && birth.adding(years: 9000).year == 9999)
    }
}

@Suite struct WorkflowFailureTests {
    @Test func theElevenDocumentedPluginCodesExist() {
        let codes = Set(WorkflowFailure.allCases.map(\.pluginCode))
        #expect(codes == [800, 802, 803, 830, 850, 870, 1000, 1001, 1002, 1003, 1004])
    }

    @Test func theDocumentedErrorTypesExist() {
        #expect(
            Set(WorkflowFailure.allCases.compactMap(\.type)) == [
                "Canceled", "ClientRejected", "ConfigurationNotSupported", "InvalidSession", "InvalidWorkflowStatus",
                "ModuleError", "Unexpected",
            ])
        #expect(WorkflowFailure.allCases.count { $0.type == "ModuleError" } == 8)
    }

    @Test(arguments: [
        ("other", "passport", "DocumentTypeMismatch"), ("residencePermit", "passport", "DocumentTypeInvalid"),
        ("driversLicense", "idCard", "DocumentTypeMismatch"), ("passport", "passport", nil),
    ])
    func anotherDocumentThanTheSelectedOneIsFound(held: String, selected: String, failure: String?) throws {
        let held = IdentityDocument(rawValue: held) ?? .paperId
        let client = try Self.client(["document_type": .string(held.rawValue)])
        #expect(try Self.failure(client, selected)?.rawValue == failure)
        #expect(try Self.failure(client, "proofOfAddress") == nil)
    }

    @Test(arguments: [("2026-01-04", true), ("2026-01-05", false), ("2026-01-06", false)])
    func aDocumentIsValidOnItsLastDay(end: String, isExpired: Bool) throws {
        let client = try Self.client(["expiration_date": .string(end)])
        #expect(try Self.failure(client, "passport") == (isExpired ? .documentExpired : nil))
        #expect(try Self.failure(client, "proofOfAddress") == nil)
    }

    @Test(arguments: [("2008-01-05", false), ("2008-01-06", true)]) func clientsUnderEighteenAreUnderage(
        birth: String, isUnderage: Bool
    ) throws {
        let client = try Self.client(["birth_date": .string(birth)])
        #expect(try Self.failure(client, "idCard") == (isUnderage ? .personNotAdult : nil))
    }

    private static func failure(_ client: Client, _ type: String) throws -> WorkflowFailure? {
        FinishDocument.failure(
            try #require(IdentityDocument(rawValue: type)), client, .mock, try #require(CivilDate("2026-01-05")))
    }

    private static func client(_ members: JSONObject) throws -> Client {
        var all: JSONObject = [
            "client_id": "a", "first_name": "Anna", "last_name": "Eriksson", "birth_date": "1990-01-01",
            "nationality": "NLD",
        ]
        for (key, value) in members { all[key] = value }
        return try Client(stored: .object(all))
    }
}
