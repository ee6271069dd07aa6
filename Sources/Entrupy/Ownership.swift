import EntrupyStorage
import Simulation
import Storage

/// A caller to whom items belong.
package protocol ItemOwner: Authenticated {
    /// The name under which the caller answers support.
    var author: String { get }
    /// The caller's item with an id. An item of others is reported as missing.
    func item(_ entrupyID: String, _ job: JobContext) throws -> ItemRecord
}

extension JobContext {
    /// The user and the organization of an item.
    func owner(of item: ItemRecord) throws -> (user: UserRecord, organization: OrganizationRecord) {
        guard let user = try transaction.user(id: item.userID),
            let organization = try transaction.organization(id: item.organizationID)
        else { throw PlatformError.bug("item \(item.entrupyID) without an owner") }
        return (user, organization)
    }
}

/// Whose an object is: the fact behind a 404, which the journal shows and no answer has [D because].
///
/// Each function reads the owner, so it is called only where a request is refused.
enum Ownership {
    /// - Parameters:
    ///   - thing: the kind of object.
    ///   - ownerID: the user it belongs to; `nil` if the namespace has no such object.
    static func because(
        _ thing: Thing, _ id: String, of ownerID: Int64?, asked user: SDKUser, _ job: JobContext
    ) throws -> Because {
        guard let ownerID else { return try thing.missing(id, job) }
        let owner = try job.transaction.user(id: ownerID)?.username ?? "a user who is gone"
        return Because(
            "the \(thing) belongs to \(owner); the session is \(user.username)'s", id, [thing.made])
    }

    /// - Parameter ownerID: the organization it belongs to; `nil` if the namespace has no such object.
    static func because(
        _ thing: Thing, _ id: String, of ownerID: Int64?, asked organization: OrganizationRecord, _ job: JobContext
    ) throws -> Because {
        guard let ownerID else { return try thing.missing(id, job) }
        let owner = try job.transaction.organization(id: ownerID)?.name ?? "an organization that is gone"
        return Because(
            "the \(thing) belongs to \(owner); the API token is \(organization.name)'s", id, [thing.made])
    }

    /// The fact behind a look-up that found no item.
    static func because(
        lookup customerItemID: String, asked organization: OrganizationRecord, _ job: JobContext
    ) throws -> Because {
        if let item = try job.transaction.item(entrupyID: customerItemID) {
            let owner = try job.transaction.organization(id: item.organizationID)?.name ?? "another organization"
            return Because(
                "this is the entrupy_id of an item of \(owner); a look-up takes a customer_item_id", customerItemID,
                [.itemSubmitted])
        }
        guard let ownerID = try job.transaction.ownerOfItem(customerItemID: customerItemID) else {
            return "no item of the namespace has this customer_item_id"
        }
        let owner = try job.transaction.organization(id: ownerID)?.name ?? "an organization that is gone"
        return "the item with this customer_item_id belongs to \(owner); the API token is \(organization.name)'s"
    }

    /// A kind of object that belongs to somebody.
    enum Thing: String {
        case item, capture, webhook

        /// The kind of the event that makes one.
        var made: EventKind {
            switch self {
            case .item: .itemSubmitted
            case .capture: .captureStarted
            case .webhook: .subscriptionCreated
            }
        }

        /// The fact that the namespace has none. Ids are looked up as they are, but those of items are all in upper case [D item-ids].
        func missing(_ id: String, _ job: JobContext) throws -> Because {
            let upper = id.utf8.count <= Self.longestItemID ? id.uppercased() : id
            if self == .item, !upper.isIdentical(to: id), try job.transaction.hasItem(entrupyID: upper) {
                return Because(
                    "the namespace has no item with this id, but \(upper): an id is looked up as it is, in upper case",
                    upper, [made])
            }
            return Because("the namespace has no \(self) with this id", id, [])
        }

        /// In bytes.
        private static let longestItemID = 16
    }
}
