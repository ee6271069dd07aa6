import AppComponentsAPI
import Foundation

/// The facts that a document shows.
struct DocumentFacts: Sendable {
    var firstNames: [String]
    var lastNames: [String]
    var birthDate: CivilDate
    var gender: Gender
    var nationality: String
    var issuingCountry: String
    var documentNumber: String
    var issueDate: CivilDate
    var expirationDate: CivilDate
    var birthPlace: String
    var taxNumber: String
    /// Digits of the office, for the French identity card.
    var office: String
}

/// The gender that a document shows [S]. `unknown` is that of documents without the field.
enum Gender: String, CaseIterable, Sendable {
    case female = "Female"
    case male = "Male"
    case other = "Other"
    case unknown = "Unknown"
}

/// The machine-readable zones of documents (ICAO 9303, ISO 18013).
enum MachineReadableZone {
    private static let filler = UInt8(ascii: "<")

    /// The check digit of a field, with the weights 7, 3 and 1.
    static func checkDigit(_ field: some Sequence<UInt8>) -> UInt8 {
        var sum = 0
        for (index, byte) in field.enumerated() {
            let value =
                switch byte {
                case 0x30...0x39: Int(byte - 0x30)
                case 0x41...0x5a: Int(byte - 0x41) + 10
                default: 0
                }
            sum += value * [7, 3, 1][index % 3]
        }
        return 0x30 + UInt8(sum % 10)
    }

    /// A name in the letters A to Z, with `<` for spaces and hyphens; `nil` if it has a letter that no rule transcribes.
    static func transcribed(_ name: String) -> [UInt8]? {
        var text: [UInt8] = []
        for scalar in name.decomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar {
            case "A"..."Z": text.append(UInt8(scalar.value))
            case "a"..."z": text.append(UInt8(scalar.value - 0x20))
            case " ", "-": text.append(filler)
            case "'", "\u{2019}": break
            case "\u{300}"..."\u{36f}": break
            default:
                guard let letters = letters[scalar] else { return nil }
                text += letters.utf8
            }
        }
        // Two fillers in a row would end the name.
        return Array(text.split(separator: filler).joined(separator: [filler]))
    }

    /// A country as machine-readable zones have it: Germany and Kosovo have codes of their own (ICAO 9303-3, section 5).
    private static func code(_ country: String) -> String {
        switch country {
        case "DEU": "D<<"
        case "XKX": "RKS"
        default: country
        }
    }

    /// Letters that are not a letter of the alphabet with a mark (ICAO 9303-3, section 6).
    private static let letters: [Unicode.Scalar: String] = [
        "Æ": "AE", "æ": "AE", "Ø": "OE", "ø": "OE", "Œ": "OE", "œ": "OE", "ß": "SS", "ẞ": "SS", "Þ": "TH", "þ": "TH",
        "Ð": "D", "ð": "D", "Đ": "D", "đ": "D", "Ł": "L", "ł": "L", "Ħ": "H", "ħ": "H", "ı": "I", "Ŋ": "N", "ŋ": "N",
        "Ŧ": "T", "ŧ": "T",
    ]

    /// The zone of a travel document; `nil` if the type has none [S].
    ///
    /// - Parameter isDamaged: whether the check digit of the document number is wrong, which `validationErrors` names [D validation-errors].
    static func travelDocument(
        _ type: IdentityDocument, _ facts: DocumentFacts, isDamaged: Bool = false
    ) -> DocumentResult.Document.TravelDocumentMRZ? {
        let (code, lines): (String, [[UInt8]])
        switch type {
        case .passport: (code, lines) = ("P", passport(facts, isDamaged))
        case .idCard: (code, lines) = ("I", card("I<", facts, isDamaged))
        case .residencePermit: (code, lines) = ("IR", card("IR", facts, isDamaged))
        case .frenchIdCard: (code, lines) = ("ID", frenchCard(facts, isDamaged))
        default: return nil
        }
        let isFrench = type == .frenchIdCard
        return DocumentResult.Document.TravelDocumentMRZ(
            rawMrz: lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"),
            documentCode: code, issuingCountry: facts.issuingCountry,
            documentNumber: facts.documentNumber,
            expirationDate: isFrench ? nil : facts.expirationDate.text, firstNames: facts.firstNames,
            lastNames: facts.lastNames, birthDate: facts.birthDate.text,
            nationality: isFrench ? nil : facts.nationality, gender: facts.gender.rawValue,
            validationErrors: isDamaged ? ["documentNumber"] : [])
    }

    /// Two lines of 44 (TD3).
    private static func passport(_ facts: DocumentFacts, _ isDamaged: Bool) -> [[UInt8]] {
        let number = padded(facts.documentNumber.utf8, 9)
        let personal = padded([], 14)
        var line = number + [digit(number, isDamaged)] + code(facts.nationality).utf8 + dated(facts.birthDate)
        line += [sex(facts.gender)] + dated(facts.expirationDate) + personal + [filler]
        line.append(checkDigit(line[0..<10] + line[13..<20] + line[21..<43]))
        return [padded(Array("P<\(code(facts.issuingCountry))".utf8) + names(facts), 44), line]
    }

    /// Three lines of 30 (TD1).
    private static func card(_ type: String, _ facts: DocumentFacts, _ isDamaged: Bool) -> [[UInt8]] {
        let number = padded(facts.documentNumber.utf8, 9)
        let first = padded(
            Array("\(type)\(code(facts.issuingCountry))".utf8) + number + [digit(number, isDamaged)], 30)
        var second = dated(facts.birthDate) + [sex(facts.gender)] + dated(facts.expirationDate)
        second += Array(code(facts.nationality).utf8) + padded([], 11)
        second.append(checkDigit(first[5..<30] + second[0..<7] + second[8..<15] + second[18..<29]))
        return [first, second, padded(names(facts), 30)]
    }

    /// Two lines of 36, as the French identity card had until 2021 [D french-card].
    private static func frenchCard(_ facts: DocumentFacts, _ isDamaged: Bool) -> [[UInt8]] {
        let surname = facts.lastNames.compactMap(transcribed).joined(separator: [filler])
        let office = Array(facts.office.utf8)
        let first = padded(Array("IDFRA".utf8) + padded(surname, 25) + padded(office, 6), 36)
        let number = padded(facts.documentNumber.utf8, 12)
        let given = facts.firstNames.compactMap(transcribed).joined(separator: [filler, filler])
        var second = number + [digit(number, isDamaged)] + padded(given, 14)
        second += dated(facts.birthDate) + [sex(facts.gender)]
        second.append(checkDigit(first + second))
        return [first, second]
    }

    /// One line of 30, of the Dutch driving licence.
    static func drivingLicence(
        _ facts: DocumentFacts, isDamaged: Bool = false
    ) -> DocumentResult.Document.DrivingLicenceMRZ {
        let line = padded(Array("D1NLD1".utf8) + padded(facts.documentNumber.utf8, 10), 29)
        return DocumentResult.Document.DrivingLicenceMRZ(
            rawMrz: String(decoding: line + [digit(line, isDamaged)], as: UTF8.self),
            documentNumber: facts.documentNumber, validationErrors: isDamaged ? ["documentNumber"] : [])
    }

    private static func digit(_ field: [UInt8], _ isDamaged: Bool) -> UInt8 {
        let right = checkDigit(field)
        return isDamaged ? 0x30 + (right - 0x30 + 1) % 10 : right
    }

    private static func dated(_ date: CivilDate) -> [UInt8] {
        let text = Array(date.short.utf8)
        return text + [checkDigit(text)]
    }

    private static func sex(_ gender: Gender) -> UInt8 {
        switch gender {
        case .female: UInt8(ascii: "F")
        case .male: UInt8(ascii: "M")
        case .other, .unknown: filler
        }
    }

    /// The surname and the given names, which the caller cuts to the length of the line.
    private static func names(_ facts: DocumentFacts) -> [UInt8] {
        let last = facts.lastNames.compactMap(transcribed).joined(separator: [filler])
        let first = facts.firstNames.compactMap(transcribed).joined(separator: [filler])
        return Array(last) + [filler, filler] + first
    }

    private static func padded(_ text: some Sequence<UInt8>, _ length: Int) -> [UInt8] {
        let cut = Array(text.prefix(length))
        return cut + Array(repeating: filler, count: length - cut.count)
    }
}
