import SimulationAPI

// The members of the types in this module have the same names on the wire.

/// The result of the Document Component [S].
public struct DocumentResult: Codable, Sendable {
    public var documentResult: Document
    /// The data extracted from the pictures; absent if the workflow extracts none.
    public var documentAnalysis: DocumentAnalysis?

    public init(documentResult: Document, documentAnalysis: DocumentAnalysis?) {
        self.documentResult = documentResult
        self.documentAnalysis = documentAnalysis
    }

    /// The pictures, the video and the data of the machine-readable zone.
    public struct Document: Codable, Sendable {
        /// The name of a ``IdentityDocument``.
        public var documentType: String
        public var images: [Image]
        /// Present only for identity cards, French identity cards, passports and residence permits [S].
        public var mrtdMrzInfo: TravelDocumentMRZ?
        /// Present only for Dutch driving licences [S].
        public var idlMrzInfo: DrivingLicenceMRZ?
        /// Absent if the workflow wants no video.
        public var videoRecording: Video?

        public init(
            documentType: String, images: [Image], mrtdMrzInfo: TravelDocumentMRZ?, idlMrzInfo: DrivingLicenceMRZ?,
            videoRecording: Video?
        ) {
            self.documentType = documentType
            self.images = images
            self.mrtdMrzInfo = mrtdMrzInfo
            self.idlMrzInfo = idlMrzInfo
            self.videoRecording = videoRecording
        }
    }

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

/// The result of the Biometrics Component [S].
public struct BiometricsResult: Codable, Sendable {
    public var selfie: Selfie
    /// Absent if the workflow wants no video.
    public var liveness: Video?

    public init(selfie: Selfie, liveness: Video?) {
        self.selfie = selfie
        self.liveness = liveness
    }

    /// A picture of the person's face.
    public struct Selfie: Codable, Sendable {
        /// The URL of the picture.
        public var image: String
        /// The time of the upload, ISO 8601 UTC.
        public var timestamp: String
        public var location: Location?

        public init(image: String, timestamp: String, location: Location?) {
            self.image = image
            self.timestamp = timestamp
            self.location = location
        }
    }
}

/// A video of the document or of the person's face.
public struct Video: Codable, Sendable {
    public var url: String
    /// The length in seconds, for instance `4.2` [D video-duration].
    public var duration: String
    public var location: Location?

    public init(url: String, duration: String, location: Location?) {
        self.url = url
        self.duration = duration
        self.location = location
    }
}

/// The place where a picture was taken, in degrees: latitude from -90 to 90, longitude from -180 to 180. Fourthline's
/// example prints the latitude as a string and the longitude as a number [D coordinates].
public struct Location: Codable, Sendable {
    public var latitude: String
    public var longitude: Double

    public init(latitude: String, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
