import Foundation

/// The result of the Document Component [S].
public struct DocumentComponentResult: Sendable, Equatable {
    public let documentResult: WorkflowResults.Component.Document
    /// `nil` if the workflow extracts no data.
    public let documentAnalysis: WorkflowResults.Component.DocumentAnalysis?
}

/// The result of the Biometrics Component [S].
public struct BiometricsComponentResult: Sendable, Equatable {
    public let selfie: WorkflowResults.IDV.Selfie
    /// `nil` if the workflow wants no video.
    public let liveness: WorkflowResults.IDV.SelfieVideo?
}

/// The data that components hand to the app [S].
public enum WorkflowResults {
    public enum Component {
        /// The pictures and the video of a document, and its machine-readable zone.
        public struct Document: Sendable, Equatable {
            public let documentType: DocumentType
            public let images: [Image]
            /// Of French identity cards, identity cards, passports and residence permits.
            public let mrtdMrzInfo: MrtdMrzInfo?
            /// Of Dutch driving licences.
            public let idlMrzInfo: IdlMrzInfo?
            public let videoRecording: Video?

            /// A picture of one side.
            public struct Image: Sendable, Equatable {
                /// The file, JPEG, PNG or HEIC.
                public let image: Data
                public let isAngled: Bool
                /// ISO 8601 UTC, on the clock of the platform.
                public let timestamp: String
                public let fileSide: String
                public let location: Location?
            }
        }

        /// The data extracted from the pictures. Dates are `YYYY-MM-DD`.
        public struct DocumentAnalysis: Sendable, Equatable, Decodable {
            public let firstName: String?
            public let lastName: String?
            public let initials: String?
            public let gender: String?
            public let nationality: String?
            public let issuingCountry: String?
            public let issueDate: String?
            public let expirationDate: String?
            public let dateOfBirth: String?
            public let birthPlace: String?
            public let documentNumber: String?
            public let documentType: String?
            public let taxIdentificationNumber: String?
        }
    }

    public enum IDV {
        /// The picture of the face.
        public struct Selfie: Sendable, Equatable {
            /// The file, JPEG, PNG or HEIC.
            public let image: Data
            /// ISO 8601 UTC, on the clock of the platform.
            public let timestamp: String
            public let location: Location?
        }

        /// The video of the face.
        public typealias SelfieVideo = Video
    }

    /// The data of a travel document's machine-readable zone.
    public struct MrtdMrzInfo: Sendable, Equatable, Decodable {
        public let rawMrz: String
        public let documentCode: String
        public let issuingCountry: String
        public let documentNumber: String
        public let expirationDate: String?
        public let firstNames: [String]
        public let lastNames: [String]
        public let birthDate: String
        public let nationality: String?
        public let gender: String
        public let validationErrors: [String]
    }

    /// The data of a driving licence's machine-readable zone.
    public struct IdlMrzInfo: Sendable, Equatable, Decodable {
        public let rawMrz: String
        public let documentNumber: String
        public let validationErrors: [String]
    }

    /// A video.
    public struct Video: Sendable, Equatable {
        /// The file, MP4 or QuickTime.
        public let video: Data
        /// The length in seconds, for instance `4.2`.
        public let duration: String
        public let location: Location?
    }

    /// The place where pictures were taken, in degrees.
    public struct Location: Sendable, Equatable, Decodable {
        public let latitude: String
        public let longitude: Double

        public init(latitude: String, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }
}
