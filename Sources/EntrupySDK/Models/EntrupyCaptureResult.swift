// The SDK's models, with the names of the vendor's public interface: members are optional exactly where it has them so [P]. A
// member that the simulated platform never sends says so.

/// An item with its result.
public struct EntrupyCaptureResult: Codable, Sendable {
    /// Never sent.
    public let session_uuid: String?
    /// The timeline, oldest first.
    public var events: [EntrupyCaptureResultEvents]?
    public var user: EntrupyCaptureResultUser?
    public var price: EntrupyCaptureResultPrice?
    /// The open request of support for new images; absent if there is none.
    public let batch_request: EntrupyCaptureResultBatchRequest?
    /// The item's id. Newer apps read ``entrupy_id``.
    public let authentication_id: String
    public let properties: EntrupyCaptureResultProperties
    public var status: EntrupyCaptureResultStatus
    /// The certificate; absent unless the result is authentic.
    public let more_details: EntrupyCaptureResultMoreDetails?
    public var text_fields: [EntrupyCaptureResultTextField]?
    public let images: EntrupyCaptureResultImages?
    public let event_times: EntrupyCaptureResultEventTimes?
    /// The time of the submission.
    public let timestamp: EntrupyCaptureResultTimestamp
    /// Never sent.
    public let transfer: EntrupyCertTransferInfo?

    /// The item's id.
    public var entrupy_id: String { authentication_id }
}

/// The images of an item, as URLs.
public struct EntrupyCaptureResultImages: Codable, Sendable {
    public let item_photo: String?
    public let uploaded_images: [EntrupyCaptureResultUploadedImages]?
}

/// One image of an item.
public struct EntrupyCaptureResultUploadedImages: Codable, Sendable {
    public let urls: EntrupyCaptureResultUploadedImagesUrls?
    public let display_name: String?
}

/// The URLs of an image.
public struct EntrupyCaptureResultUploadedImagesUrls: Codable, Sendable {
    public let original: String?
    /// The URL of a small rendering. The simulated platform serves the original there.
    public let scale_micro: String?
}

/// The times of an item's events. Each is absent until its event happens.
public struct EntrupyCaptureResultEventTimes: Codable, Sendable {
    public let submitted_at: EntrupyCaptureResultTimestamp?
    /// The time of the latest final result.
    public let result_returned_at: EntrupyCaptureResultTimestamp?
    /// The time of the first final result.
    public let initial_result_set_at: EntrupyCaptureResultTimestamp?
    public let capture_started_at: EntrupyCaptureResultTimestamp?
    /// Never sent.
    public let received_at: EntrupyCaptureResultTimestamp?
}

/// Further details of an authentic item.
public struct EntrupyCaptureResultMoreDetails: Codable, Sendable {
    public let certificate: EntrupyCaptureResultMoreDetailsCertificate
    /// Never sent.
    public let catalog_insights: EntrupyCaptureResultMoreDetailsCatalogInsights?
}

/// Whether an item has catalog insights.
public struct EntrupyCaptureResultMoreDetailsCatalogInsights: Codable, Sendable {
    public var supported: Bool
}

/// The URLs of a certificate.
public struct EntrupyCaptureResultMoreDetailsCertificate: Codable, Sendable {
    /// The certificate as an image.
    public var preview: String?
    /// The certificate as a page.
    public var site: String?
}

/// An item's brand, model and item type.
public struct EntrupyCaptureResultProperties: Codable, Sendable {
    public let model: EntrupyCaptureResultPropertiesModel?
    /// The item type of apparel.
    public let function: EntrupyCaptureResultPropertiesFunction?
    public let brand: EntrupyCaptureResultPropertiesBrand
}

/// A brand; `display["name"]` is its name.
public struct EntrupyCaptureResultPropertiesBrand: Codable, Sendable {
    public let display: [String: String]
    public let id: String
}

/// A model; `display["name"]` is its name.
public struct EntrupyCaptureResultPropertiesModel: Codable, Sendable {
    public let display: [String: String]
    public let id: String
}

/// An item type.
public struct EntrupyCaptureResultPropertiesFunction: Codable, Sendable {
    public let id: String
}

/// An item's result and flag.
public struct EntrupyCaptureResultStatus: Codable, Sendable {
    public var flag: EntrupyCaptureResultStatusFlag
    public let result: EntrupyCaptureResultStatusResult
    /// Never sent.
    public let integrations: [EntrupyCaptureResultStatusIntegration]?
}

/// A platform that the item is listed on.
public struct EntrupyCaptureResultStatusIntegration: Codable, Sendable {
    public let platform: String
    public let display_name: String
}

/// A result with its texts.
public struct EntrupyCaptureResultStatusResult: Codable, Sendable {
    public let display: EntrupyCaptureResultStatusResultDisplay
    public let id: EntrupyCaptureResultStatusId

    public init(display: EntrupyCaptureResultStatusResultDisplay, id: EntrupyCaptureResultStatusId) {
        self.display = display
        self.id = id
    }
}

/// The texts of a result, in the user's language.
public struct EntrupyCaptureResultStatusResultDisplay: Codable, Sendable {
    public let header: String
    public let message: String?
    /// The reasons of an invalid result.
    public let reasons: [EntrupyCaptureResultStatusResultDisplayReasons]?
}

/// A reason of an invalid result.
public struct EntrupyCaptureResultStatusResultDisplayReasons: Codable, Sendable {
    /// Never sent.
    public let image: String?
    public let text: String?
}

/// A field of the item as the app sent it.
public struct EntrupyCaptureResultTextField: Codable, Sendable, Equatable {
    /// Never sent.
    public let region_id: String?
    public let editable: Bool
    public let required: Bool
    /// Whether the field is the customer's own id of the item.
    public let is_identifier: Bool
    public var content: String?
    public let display_name: String
}

/// A moment: `display` in ISO 8601 UTC, `epoch` in seconds since 1970.
public struct EntrupyCaptureResultTimestamp: Codable, Sendable {
    public let display: String
    public let epoch: Double
}

/// The open request of support for new images.
public struct EntrupyCaptureResultBatchRequest: Codable, Sendable {
    /// `batch_open`.
    public let customer_state: String?
    /// Never sent; a search of retakes has the time in `retake.requested_at`.
    public let requested_at: Double?
    /// Never sent; a search of retakes has the message in `retake.message`.
    public let retake_reasons: String?
}

/// An entry of the timeline.
public struct EntrupyCaptureResultEvents: Codable, Sendable {
    public let label: String
    public let title: String
    public let type: String
    public var message: String?
    public let timestamp: EntrupyCaptureResultTimestamp
}

/// The user who submitted the item.
public struct EntrupyCaptureResultUser: Codable, Sendable {
    /// `OrganizationName-unique_user_id`.
    public let username: String
}

/// Whether the app shows a price.
public struct EntrupyCaptureResultPrice: Codable, Sendable {
    public let show_pricing_widget: Bool
}

/// The id of a result.
public enum EntrupyCaptureResultStatusId: Equatable, Hashable, CustomStringConvertible, Codable, Sendable {
    case authentic, unknown, not_supported, needs_review, invalid, analyzed
    /// A result that this version does not know, by its id.
    case other(String)
    /// The results of a comparison of fingerprints.
    case match, no_match
    // The vendor's SDK knows these too. The simulated platform sends them only if the control API sets them.
    case registered, canceled, data_required, not_available, registration_invalid, registration_not_supported
    case match_found, no_match_found, received

    private static let names: [(Self, String)] = [
        (.authentic, "authentic"), (.unknown, "unknown"), (.not_supported, "not_supported"),
        (.needs_review, "needs_review"), (.invalid, "invalid"), (.analyzed, "analyzed"), (.match, "match"),
        (.no_match, "no_match"), (.registered, "registered"), (.canceled, "canceled"),
        (.data_required, "data_required"), (.not_available, "not_available"),
        (.registration_invalid, "registration_invalid"), (.registration_not_supported, "registration_not_supported"),
        (.match_found, "match_found"), (.no_match_found, "no_match_found"), (.received, "received"),
    ]

    /// The result with the id `rawValue`; ``other(_:)`` if this version does not know it.
    ///
    /// - Parameter localizeValue: the result's header. It does not decide which result it is.
    public init(rawValue: String, localizeValue: String) {
        self = Self.names.first { $0.1.utf8.elementsEqual(rawValue.utf8) }?.0 ?? .other(rawValue)
    }

    /// The id of the result, as the platform sends it.
    public var description: String {
        if case .other(let id) = self { id } else { Self.names.first { $0.0 == self }?.1 ?? "" }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self), localizeValue: "")
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}
