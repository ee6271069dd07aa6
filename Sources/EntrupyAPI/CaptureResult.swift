extension EntrupyCaptureResult {
    /// An id with its display names.
    public struct Named: Codable, Sendable {
        /// The id, in lower case with underscores.
        public var id: String
        /// The display names, as `{"name": …}` [P].
        public var display: [String: String]

        public init(id: String, display: [String: String]) {
            self.id = id
            self.display = display
        }
    }

    /// An id without display names.
    public struct Identified: Codable, Sendable {
        public var id: String

        public init(id: String) {
            self.id = id
        }
    }

    /// A result with its texts.
    public struct Result: Codable, Sendable {
        /// The result's id; ``ResultID`` lists the documented ones [S, P].
        public var id: ResultID
        /// The texts of the result, in the caller's language.
        public var display: Display
        /// Whether the review is finished.
        public var final: Bool
        /// The id of an invalid result's reason [P].
        public var reason: String?

        public init(id: ResultID, display: Display, final: Bool, reason: String?) {
            self.id = id
            self.display = display
            self.final = final
            self.reason = reason
        }
    }

    /// The texts of a result.
    public struct Display: Codable, Sendable {
        /// The header, for instance `Unidentified` [S].
        public var header: String
        /// One sentence about the result.
        public var message: String?
        /// The reasons of an invalid result [P].
        public var reasons: [Reason]?

        public init(header: String, message: String?, reasons: [Reason]?) {
            self.header = header
            self.message = message
            self.reasons = reasons
        }
    }

    /// The reason of an invalid result.
    public struct Reason: Codable, Sendable {
        /// The URL of an example picture. The simulator never sends it.
        public var image: String?
        /// The reason, in the caller's language.
        public var text: String?

        public init(image: String? = nil, text: String?) {
            self.image = image
            self.text = text
        }
    }

    /// One picture.
    public struct UploadedImage: Codable, Sendable {
        /// The URLs of the picture.
        public var urls: URLs
        /// The region's name, in the caller's language.
        public var display_name: String

        public init(urls: URLs, display_name: String) {
            self.urls = urls
            self.display_name = display_name
        }
    }

    /// The URLs of a picture.
    public struct URLs: Codable, Sendable {
        /// The URL of the uploaded bytes.
        public var original: String
        /// The URL of a small rendering. The simulator serves the uploaded bytes here too [D images].
        public var scale_micro: String

        public init(original: String, scale_micro: String) {
            self.original = original
            self.scale_micro = scale_micro
        }
    }

    /// The URLs of an item's certificate.
    public struct Certificate: Codable, Sendable {
        /// The URL of the certificate as a picture.
        public var preview: String?
        /// The URL of the certificate as a page.
        public var site: String?

        public init(preview: String?, site: String?) {
            self.preview = preview
            self.site = site
        }
    }
}
