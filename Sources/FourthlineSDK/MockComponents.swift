import Foundation

/// The results of the mock environment, made without a server. They equal those of the simulated platform; a test
/// compares both.
enum MockComponents {
    private static let location = WorkflowResults.Location(latitude: "45.464664", longitude: 9.18854)

    /// - Throws: ``WorkflowError`` where the configuration contradicts itself.
    static func document(_ config: DocumentComponentConfig, _ files: ComponentRun.Files) throws
        -> DocumentComponentResult
    {
        try check(config)
        let country = config.issuingCountry ?? "NLD"
        let timestamp = now()
        let images = config.type.sides.flatMap { side in
            (config.type.isPrimary ? [false, true] : [false]).map { isAngled in
                WorkflowResults.Component.Document.Image(
                    image: files.picture, isAngled: isAngled, timestamp: timestamp, fileSide: side, location: location)
            }
        }
        return DocumentComponentResult(
            documentResult: .init(
                documentType: config.type, images: images, mrtdMrzInfo: travelDocument(config.type, country),
                idlMrzInfo: config.type == .dutchDriversLicense
                    ? .init(
                        rawMrz: "D1NLD14898902003<<<<<<<<<<<<<3", documentNumber: "4898902003", validationErrors: [])
                    : nil,
                videoRecording: .init(video: files.video, duration: duration(of: files), location: location)),
            documentAnalysis: analysis(config.type, country))
    }

    static func biometrics(_ files: ComponentRun.Files) -> BiometricsComponentResult {
        BiometricsComponentResult(
            selfie: .init(image: files.picture, timestamp: now(), location: location),
            liveness: .init(video: files.video, duration: duration(of: files), location: location))
    }

    /// Checks a configuration as the platform does, but for the list of countries.
    ///
    /// - Throws: ``WorkflowError``.
    static func check(_ config: DocumentComponentConfig) throws {
        let country = config.issuingCountry
        let isCode = country.map { $0.utf8.count == 3 && $0.utf8.allSatisfy { (0x41...0x5a).contains($0) } } ?? true
        let problem: String? =
            if !isCode {
                "must be an ISO 3166-1 alpha-3 code in capitals, for instance NLD"
            } else if config.type.isPrimary {
                switch (config.type, country) {
                case (_, nil): "is missing; \(config.type.rawValue) needs one, for instance NLD"
                case (.frenchIdCard, let country?) where country != "FRA":
                    "must be FRA for frenchIdCard, got \(country)"
                case (.dutchDriversLicense, let country?) where country != "NLD":
                    "must be NLD for dutchDriversLicense, got \(country)"
                default: nil
                }
            } else {
                country == nil ? nil : "must be left out for \(config.type.rawValue)"
            }
        if let problem { throw WorkflowError.problem("issuingCountry \(problem)") }
    }

    private static func now() -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: Date())
    }

    /// The length of the placeholder; another video is not read.
    private static func duration(of files: ComponentRun.Files) -> String {
        files.video == Placeholder.video ? "4.2" : "0.0"
    }

    private static func travelDocument(_ type: DocumentType, _ country: String) -> WorkflowResults.MrtdMrzInfo? {
        // The codes of machine-readable zones differ for two countries.
        let zoneCode = country == "DEU" ? "D<<" : country == "XKX" ? "RKS" : country
        let zone: (code: String, lines: [String])
        switch type {
        case .passport:
            zone = (
                "P",
                [
                    "P<\(zoneCode)ERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<",
                    "L898902C36\(zoneCode)8408129F3404159<<<<<<<<<<<<<<<8",
                ]
            )
        case .idCard, .residencePermit:
            let code = type == .idCard ? "I<" : "IR"
            zone = (
                type == .idCard ? "I" : "IR",
                [
                    "\(code)\(zoneCode)L898902C36<<<<<<<<<<<<<<<", "8408129F3404159\(zoneCode)<<<<<<<<<<<8",
                    "ERIKSSON<<ANNA<MARIA<<<<<<<<<<",
                ]
            )
        case .frenchIdCard:
            zone = ("ID", ["IDFRAERIKSSON<<<<<<<<<<<<<<<<<751234", "2404751234565ANNA<<MARIA<<<8408129F3"])
        default: return nil
        }
        let isFrench = type == .frenchIdCard
        return WorkflowResults.MrtdMrzInfo(
            rawMrz: zone.lines.joined(separator: "\n"), documentCode: zone.code, issuingCountry: country,
            documentNumber: number(of: type), expirationDate: isFrench ? nil : "2034-04-15",
            firstNames: ["Anna", "Maria"], lastNames: ["Eriksson"], birthDate: "1984-08-12",
            nationality: isFrench ? nil : country, gender: "Female", validationErrors: [])
    }

    private static func number(of type: DocumentType) -> String {
        switch type {
        case .frenchIdCard: "240475123456"
        case .dutchDriversLicense: "4898902003"
        default: "L898902C3"
        }
    }

    private static func analysis(
        _ type: DocumentType, _ country: String
    ) -> WorkflowResults.Component.DocumentAnalysis {
        let isPrimary = type.isPrimary
        let isLicence = type == .driversLicense || type == .dutchDriversLicense
        return WorkflowResults.Component.DocumentAnalysis(
            firstName: "Anna Maria", lastName: "Eriksson", initials: "AM",
            gender: isPrimary ? isLicence ? "Unknown" : "Female" : nil,
            nationality: isPrimary && !isLicence ? country : nil, issuingCountry: isPrimary ? country : nil,
            issueDate: "2024-04-15", expirationDate: isPrimary ? "2034-04-15" : nil,
            dateOfBirth: isPrimary ? "1984-08-12" : nil, birthPlace: isPrimary ? "Leiden" : nil,
            documentNumber: isPrimary ? number(of: type) : nil, documentType: type.rawValue,
            taxIdentificationNumber: type == .tinReferenceDocument ? "123456782" : nil)
    }
}
