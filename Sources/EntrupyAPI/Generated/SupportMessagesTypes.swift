// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// The conversation between the platform's support and a customer about an item [D support-conversations].
public struct SupportMessageList: Codable, Sendable {
    /// The messages, oldest first.
    public var support_messages: [SupportMessage]

    public init(support_messages: [SupportMessage]) {
        self.support_messages = support_messages
    }
}

/// A message from support, or an answer to one [D support-conversations].
public struct SupportMessage: Codable, Sendable {
    public var id: String
    /// `retake` or `question` from support, `answer` from the customer.
    public var type: String
    /// The text; null for a retake without one.
    @Nullable public var message: String?
    /// The possible answers to a question.
    public var options: [String]?
    /// The regions of a retake.
    public var regions: [String]?
    /// Who answered: a username, or the name of the organization.
    public var author: String?
    /// The time, in ISO 8601.
    public var created_at: String

    public init(
        id: String, type: String, message: String?, options: [String]? = nil, regions: [String]? = nil,
        author: String? = nil, created_at: String
    ) {
        self.id = id
        self.type = type
        _message = Nullable(wrappedValue: message)
        self.options = options
        self.regions = regions
        self.author = author
        self.created_at = created_at
    }
}

/// The transfers of an item's certificate [D certificate-transfers].
public struct CertificateTransferList: Codable, Sendable {
    /// The transfers, oldest first.
    public var transfers: [CertificateTransfer]

    public init(transfers: [CertificateTransfer]) {
        self.transfers = transfers
    }
}

/// A transfer of a certificate to another holder [D certificate-transfers].
public struct CertificateTransfer: Codable, Sendable {
    /// The id; null if it has none.
    @Nullable public var id: String?
    /// The new holder.
    public var to: Holder
    /// The time, in ISO 8601.
    public var created_at: String

    /// The new holder.
    public struct Holder: Codable, Sendable {
        public var email: String
        /// The name; null if it is not known.
        @Nullable public var name: String?

        public init(email: String, name: String?) {
            self.email = email
            _name = Nullable(wrappedValue: name)
        }
    }

    public init(id: String?, to: Holder, created_at: String) {
        _id = Nullable(wrappedValue: id)
        self.to = to
        self.created_at = created_at
    }
}
