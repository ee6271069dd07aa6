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
    ///   - thing: the kind of object, for instance `item`.
    ///   - ownerID: the user it belongs to; `nil` if the namespace has no such object.
    static func because(_ thing: String, of ownerID: Int64?, asked user: SDKUser, _ job: JobContext) throws -> String {
        guard let ownerID else { return missing(thing) }
        let owner = try job.transaction.user(id: ownerID)?.username ?? "a user who is gone"
        return "the \(thing) belongs to \(owner); the session is \(user.username)'s"
    }

    /// - Parameter ownerID: the organization it belongs to; `nil` if the namespace has no such object.
    static func because(
        _ thing: String, of ownerID: Int64?, asked organization: OrganizationRecord, _ job: JobContext
    ) throws -> String {
        guard let ownerID else { return missing(thing) }
        let owner = try job.transaction.organization(id: ownerID)?.name ?? "an organization that is gone"
        return "the \(thing) belongs to \(owner); the API token is \(organization.name)'s"
    }

    /// The fact behind a look-up that found no item.
    static func because(
        lookup customerItemID: String, asked organization: OrganizationRecord, _ job: JobContext
    ) throws -> String {
        if let item = try job.transaction.item(entrupyID: customerItemID) {
            let owner = try job.transaction.organization(id: item.organizationID)?.name ?? "another organization"
            return "this is the entrupy_id of an item of \(owner); a look-up takes a customer_item_id"
        }
        guard let ownerID = try job.transaction.ownerOfItem(customerItemID: customerItemID) else {
            return "no item of the namespace has this customer_item_id"
        }
        return try because("item with this customer_item_id", of: ownerID, asked: organization, job)
    }

    private static func missing(_ thing: String) -> String { "the namespace has no \(thing) with this id" }
}
