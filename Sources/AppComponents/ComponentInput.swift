import AppComponentsAPI
import Simulation
import SimulationAPI

/// Rules of what apps give to components.
enum ComponentInput {
    /// Looks at the fonts of a customization, which the platform must find. Nothing else of it is looked at [S].
    ///
    /// - Throws: ``WorkflowFailure/invalidFont`` as an error.
    static func checkFonts(_ customization: JSONObject?) throws {
        let fonts = customization?["flavor"]?.members?["fonts"]?.members ?? customization?["fonts"]?.members ?? [:]
        for key in fonts.keys.sorted() where isMissing(fonts[key]) {
            throw WorkflowFailure.invalidFont.error(
                "the font \(key) was not found", [ErrorDetail("customization.flavor.fonts.\(key)", "must name a font")])
        }
    }

    /// Whether a font names nothing [D fonts].
    private static func isMissing(_ font: JSONValue?) -> Bool {
        let name = font?.text ?? font?.members?["name"]?.text ?? font?.members?["font"]?.text
        return name.map { $0.isEmpty || $0.begins(with: "missing") } ?? false
    }

    /// A primary document has an issuing country, the others have none [S].
    ///
    /// - Throws: ``WorkflowFailure/incorrectConfiguration`` as an error.
    static func check(_ type: IdentityDocument, _ country: String?) throws {
        let problem: String? =
            switch (type, country) {
            case (_, nil): type.isPrimary ? "is missing; \(type.rawValue) needs one, for instance NLD" : nil
            case _ where !type.isPrimary: "must be left out for \(type.rawValue)"
            case (.frenchIdCard, let country?) where country != "FRA": "must be FRA for frenchIdCard, got \(country)"
            case (.dutchDriversLicense, let country?) where country != "NLD":
                "must be NLD for dutchDriversLicense, got \(country)"
            default: nil
            }
        guard let problem else { return }
        throw WorkflowFailure.incorrectConfiguration.error(
            "issuingCountry \(problem)", [ErrorDetail("issuingCountry", problem)])
    }
}

extension RequestInput {
    /// The members of a component's input. The plugins' input has them in `configuration`, beside `customization`, of which
    /// the fonts alone are looked at [S].
    ///
    /// - Throws: an error that plugins report as 800 or 802.
    func componentFields() throws -> JSONObject {
        var fields = FieldReader(body)
        let configuration = fields.members("configuration")
        let customization = fields.members("customization")
        let inputs = ["validationCode", "networkEnvironment", "documentType", "issuingCountry", "location", "client"]
        for key in inputs where configuration != nil && fields.has(key) {
            fields.report(key, "must stand in configuration, or without one beside it")
        }
        try decoding { try fields.finish() }
        try ComponentInput.checkFonts(customization)
        return configuration ?? body
    }

    /// Runs `body`, and makes its problems with the input those that plugins report as 800.
    func decoding<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PlatformError where error.kind == .invalid && error.payload == nil {
            throw WorkflowFailure.decodingError.error(error.message, error.details)
        }
    }
}

extension FieldReader {
    /// The place where the pictures are taken: as given, nowhere if it is null, else a fixed place [D coordinates].
    mutating func location(isGiven: Bool) -> Location? {
        guard value("location") != nil else {
            return isGiven ? nil : Location(latitude: "45.464664", longitude: 9.18854)
        }
        var location = object("location")
        location.require("latitude")
        location.require("longitude")
        let latitude = location.degrees("latitude", 90)
        return Location(latitude: "\(latitude)", longitude: location.degrees("longitude", 180))
    }

    /// A coordinate: a number, or a decimal text as results have it. The value is rounded to a ten-millionth of a degree, about
    /// a centimetre.
    private mutating func degrees(_ key: String, _ max: Int) -> Double {
        let range = -Double(max)...Double(max)
        let found = value(key, "must be a number from -\(max) to \(max)") { value -> Double? in
            let number: Double? =
                switch value {
                case .number(let number): number.double
                case .string(let text) where text.utf8.count <= 30: Double(text)
                default: nil
                }
            return number.flatMap { range.contains($0) ? $0 : nil }
        }
        let rounded = ((found ?? 0) * 1e7).rounded() / 1e7
        // Not as -0, and never with an exponent.
        return abs(rounded) < 1e-4 ? 0 : rounded
    }
}
