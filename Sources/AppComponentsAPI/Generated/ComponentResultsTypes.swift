// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// The result of the Document Component [S].
public struct DocumentResult: Codable, Sendable {
    public var documentResult: Document
    /// The data extracted from the pictures; absent if the workflow extracts none.
    public var documentAnalysis: DocumentAnalysis?

    public struct Document: Codable, Sendable {
        /// The name of a `IdentityDocument`.
        public var documentType: String
        public var images: [Image]
        /// The machine-readable zone of a French identity card, identity card, passport or residence permit [S].
        public var mrtdMrzInfo: TravelDocumentMRZ?
        /// The machine-readable zone of a Dutch driving licence [S].
        public var idlMrzInfo: DrivingLicenceMRZ?
        /// Absent if the workflow wants no video.
        public var videoRecording: Video?

        public struct Image: Codable, Sendable {
            public var image: String
            public var isAngled: Bool
            public var timestamp: String
            public var fileSide: String
            public var location: Location?

            public init(image: String, isAngled: Bool, timestamp: String, fileSide: String, location: Location? = nil) {
                self.image = image
                self.isAngled = isAngled
                self.timestamp = timestamp
                self.fileSide = fileSide
                self.location = location
            }
        }

        /// The machine-readable zone of a French identity card, identity card, passport or residence permit.
        public struct TravelDocumentMRZ: Codable, Sendable {
            public var rawMrz: String
            public var documentCode: String
            public var issuingCountry: String
            public var documentNumber: String
            /// Source: [D french-card].
            public var expirationDate: String?
            public var firstNames: [String]
            public var lastNames: [String]
            public var birthDate: String
            /// Source: [D french-card].
            public var nationality: String?
            public var gender: String
            /// Source: [D validation-errors].
            public var validationErrors: [String]

            public init(
                rawMrz: String, documentCode: String, issuingCountry: String, documentNumber: String,
                expirationDate: String? = nil, firstNames: [String], lastNames: [String], birthDate: String,
                nationality: String? = nil, gender: String, validationErrors: [String]
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

        /// The machine-readable zone of a Dutch driving licence.
        public struct DrivingLicenceMRZ: Codable, Sendable {
            public var rawMrz: String
            public var documentNumber: String
            public var validationErrors: [String]

            public init(rawMrz: String, documentNumber: String, validationErrors: [String]) {
                self.rawMrz = rawMrz
                self.documentNumber = documentNumber
                self.validationErrors = validationErrors
            }
        }

        public init(
            documentType: String, images: [Image], mrtdMrzInfo: TravelDocumentMRZ? = nil,
            idlMrzInfo: DrivingLicenceMRZ? = nil, videoRecording: Video? = nil
        ) {
            self.documentType = documentType
            self.images = images
            self.mrtdMrzInfo = mrtdMrzInfo
            self.idlMrzInfo = idlMrzInfo
            self.videoRecording = videoRecording
        }
    }

    /// The data extracted from the pictures; absent if the workflow extracts none [S].
    public struct DocumentAnalysis: Codable, Sendable {
        public var firstName: String?
        public var lastName: String?
        /// Letters, without dots.
        public var initials: String?
        /// Source: [S].
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

        public init(
            firstName: String? = nil, lastName: String? = nil, initials: String? = nil, gender: String? = nil,
            nationality: String? = nil, issuingCountry: String? = nil, issueDate: String? = nil,
            expirationDate: String? = nil, dateOfBirth: String? = nil, birthPlace: String? = nil,
            documentNumber: String? = nil, documentType: String? = nil, taxIdentificationNumber: String? = nil
        ) {
            self.firstName = firstName
            self.lastName = lastName
            self.initials = initials
            self.gender = gender
            self.nationality = nationality
            self.issuingCountry = issuingCountry
            self.issueDate = issueDate
            self.expirationDate = expirationDate
            self.dateOfBirth = dateOfBirth
            self.birthPlace = birthPlace
            self.documentNumber = documentNumber
            self.documentType = documentType
            self.taxIdentificationNumber = taxIdentificationNumber
        }
    }

    public init(documentResult: Document, documentAnalysis: DocumentAnalysis? = nil) {
        self.documentResult = documentResult
        self.documentAnalysis = documentAnalysis
    }
}

/// The result of the Biometrics Component [S].
public struct BiometricsResult: Codable, Sendable {
    public var selfie: Selfie
    /// Absent if the workflow wants no video.
    public var liveness: Video?

    public struct Selfie: Codable, Sendable {
        /// The URL of the picture.
        public var image: String
        /// The time of the upload, ISO 8601 UTC.
        public var timestamp: String
        public var location: Location?

        public init(image: String, timestamp: String, location: Location? = nil) {
            self.image = image
            self.timestamp = timestamp
            self.location = location
        }
    }

    public init(selfie: Selfie, liveness: Video? = nil) {
        self.selfie = selfie
        self.liveness = liveness
    }
}

/// A video of the document or of the person's face.
public struct Video: Codable, Sendable {
    public var url: String
    /// The length in seconds, for instance `4.2` [D video-duration].
    public var duration: String
    public var location: Location?

    public init(url: String, duration: String, location: Location? = nil) {
        self.url = url
        self.duration = duration
        self.location = location
    }
}

/// The place where a picture was taken, in degrees: latitude from -90 to 90, longitude from -180 to 180. Fourthline's
/// example prints the latitude as a string and the longitude as a number [D coordinates].
public struct Location: Codable, Sendable {
    public var latitude: String
    /// A number; a text in the form of plugins.
    public var longitude: Double

    public init(latitude: String, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
