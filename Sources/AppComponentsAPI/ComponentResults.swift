import SimulationAPI

// The members of the types in this module have the same names on the wire.

extension DocumentResult {
    /// A picture of a side of the document.
    public struct Image: Codable, Sendable {
        /// The URL of the picture.
        public var image: String
        public var isAngled: Bool
        /// The time of the upload, ISO 8601 UTC.
        public var timestamp: String
        public var fileSide: String
        public var location: Location?

        public init(image: String, isAngled: Bool, timestamp: String, fileSide: String, location: Location?) {
            self.image = image
            self.isAngled = isAngled
            self.timestamp = timestamp
            self.fileSide = fileSide
            self.location = location
        }
    }

    /// The data of the machine-readable zone of a travel document (ICAO 9303). Dates are `YYYY-MM-DD`.
    public struct TravelDocumentMRZ: Codable, Sendable {
        /// The lines, separated by line feeds.
        public var rawMrz: String
        public var documentCode: String
        public var issuingCountry: String
        public var documentNumber: String
        /// Absent from the French identity card of 1988 [D french-card].
        public var expirationDate: String?
        public var firstNames: [String]
        public var lastNames: [String]
        public var birthDate: String
        /// Absent from the French identity card of 1988 [D french-card].
        public var nationality: String?
        public var gender: String
        /// The fields whose check digits are wrong [D validation-errors].
        public var validationErrors: [String]

        public init(
            rawMrz: String, documentCode: String, issuingCountry: String, documentNumber: String,
            expirationDate: String?, firstNames: [String], lastNames: [String], birthDate: String,
            nationality: String?, gender: String, validationErrors: [String]
        ) {
            self.rawMrz = rawMrz
            self.documentCode = documentCode
            self.issuingCountry = issuingCountry
            self.documentNumber = documentNumber
            self.expirationDate = expirationDate
            self.firstNames = firstNames
            self.lastNames = lastNames
            self.birthDate = birthDate
            self.nationality = nationality
            self.gender = gender
            self.validationErrors = validationErrors
        }
    }

    /// The data of the machine-readable zone of a driving licence (ISO 18013).
    public struct DrivingLicenceMRZ: Codable, Sendable {
        public var rawMrz: String
        public var documentNumber: String
        /// The fields whose check digits are wrong [D validation-errors].
        public var validationErrors: [String]

        public init(rawMrz: String, documentNumber: String, validationErrors: [String]) {
            self.rawMrz = rawMrz
            self.documentNumber = documentNumber
            self.validationErrors = validationErrors
        }
    }

    /// The data extracted from the pictures. Every member is optional [S]; dates are `YYYY-MM-DD`.
    public struct DocumentAnalysis: Codable, Sendable {
        public var firstName: String?
        public var lastName: String?
        public var initials: String?
        /// `Female`, `Male`, `Other` or `Unknown` [S].
        public var gender: String?
        public var nationality: String?
        public var issuingCountry: String?
        public var issueDate: String?
        public var expirationDate: String?
        public var dateOfBirth: String?
        public var birthPlace: String?
        public var documentNumber: String?
        public var documentType: String?
        public var taxIdentificationNumber: String?

        public init() {}
    }
}
