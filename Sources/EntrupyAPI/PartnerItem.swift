import SimulationAPI

/// An answer that has one item as its only member.
public struct ItemAnswer<Item: Codable & Sendable>: Codable, Sendable {
    public var item: Item

    public init(item: Item) {
        self.item = item
    }
}

extension V1Item {
    /// A customer of the platform.
    public struct Organization: Codable, Sendable {
        /// The name, for instance `DemoOrg`.
        public var name: String

        public init(name: String) {
            self.name = name
        }
    }
}

extension V2Item {
    /// A result.
    public struct Outcome: Codable, Sendable {
        public var id: ResultID
        /// Whether the review is finished.
        public var final: Bool

        public init(id: ResultID, final: Bool) {
            self.id = id
            self.final = final
        }
    }

    /// The organization and user of an item.
    public struct Owner: Codable, Sendable {
        /// The organization's name [D v2-owner].
        public var organization_id: String
        /// The user's name, `OrganizationName-unique_user_id` [D v2-owner].
        public var user_id: String

        public init(organization_id: String, user_id: String) {
            self.organization_id = organization_id
            self.user_id = user_id
        }
    }

    /// A certificate.
    public struct Certificate: Codable, Sendable {
        /// The certificate's id.
        public var certificate_id: String
        /// The URL of the certificate as a page.
        public var url: String

        public init(certificate_id: String, url: String) {
            self.certificate_id = certificate_id
            self.url = url
        }
    }

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        /// The URL of the first region's picture; null if there are no pictures.
        @Nullable public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [Image]

        public init(item_photo: String?, uploaded_images: [Image]) {
            self._item_photo = Nullable(wrappedValue: item_photo)
            self.uploaded_images = uploaded_images
        }
    }

    /// One picture [D v2-images].
    public struct Image: Codable, Sendable {
        /// The region's id.
        public var type: String
        /// The region's name, in the caller's language.
        public var display_name: String
        /// The URL of the picture.
        public var url: String

        public init(type: String, display_name: String, url: String) {
            self.type = type
            self.display_name = display_name
            self.url = url
        }
    }
}
