import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

extension Partner: ItemOwner {
    package var author: String { organization.name }

    package func item(_ entrupyID: String, _ job: JobContext) throws -> ItemRecord {
        let found = try job.transaction.item(entrupyID: entrupyID)
        guard let item = found, item.organizationID == organization.id else {
            throw try missing(entrupyID, found?.organizationID, job)
        }
        return item
    }

    /// Throws if an item has another form factor than the only one that the version of the request shows [P].
    fileprivate func check(_ found: FoundItem, is only: FormFactor, _ job: JobContext) throws {
        guard let item = try job.transaction.item(entrupyID: found.entrupyID), item.formFactor != only else { return }
        throw PlatformError.notFound(
            "the organization has no such item",
            because: Because(
                "the item is of the form factor \(item.formFactor.rawValue); Api-Version 1.0 and 1.1 show \(only.rawValue) items alone",
                found.entrupyID, [.itemSubmitted]))
    }

    /// - Parameter ownerID: the organization it belongs to; `nil` if there is no such item.
    fileprivate func missing(_ entrupyID: String, _ ownerID: Int64?, _ job: JobContext) throws -> PlatformError {
        .notFound(
            "the organization has no such item",
            because: try Ownership.because(.item, entrupyID, of: ownerID, asked: organization, job))
    }
}

/// `GET /v1|v2/authentications/{entrupy_id}` [P].
package struct ShowPartnerItem: Operation, Reads {
    let entrupyID: String
    let version: PartnerVersion
    let parts: PartnerParts

    package init(_ entrupyID: String, _ version: PartnerVersion, _ parts: PartnerParts) {
        self.entrupyID = entrupyID
        self.version = version
        self.parts = parts
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> EncodedJSON {
        let found = try job.transaction.foundItem(entrupyID: entrupyID, key: nil)
        guard let item = found, item.organizationID == partner.organization.id else {
            throw try partner.missing(entrupyID, found?.organizationID, job)
        }
        if let only = version.onlyFormFactor { try partner.check(item, is: only, job) }
        try Results.noteReview(item, job)
        return .item(try Renderings(job).partner(item, version, parts))
    }
}

/// `GET /v1|v2/lookup/authentications/{lookup_value}`: the latest item with that `customer_item_id` [P].
package struct LookUpItem: Operation, Reads {
    let customerItemID: String
    let version: PartnerVersion
    let parts: PartnerParts

    package init(_ customerItemID: String, _ version: PartnerVersion, _ parts: PartnerParts) {
        self.customerItemID = customerItemID
        self.version = version
        self.parts = parts
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> EncodedJSON {
        let latest = try job.transaction.lastItem(
            customerItemID: customerItemID, organizationID: partner.organization.id)
        if let latest, let only = version.onlyFormFactor, try found(only, of: partner, job) == nil {
            try partner.check(latest, is: only, job)
        }
        guard let found = try version.onlyFormFactor.map({ try found($0, of: partner, job) }) ?? latest else {
            throw PlatformError.notFound(
                "the organization has no such item",
                because: try Ownership.because(lookup: customerItemID, asked: partner.organization, job))
        }
        try Results.noteReview(found, job)
        return .item(try Renderings(job).partner(found, version, parts))
    }

    /// The latest item of a form factor; `nil` if there is none.
    private func found(_ formFactor: FormFactor, of partner: Partner, _ job: JobContext) throws -> FoundItem? {
        let terms: [ItemSearch.Term] = [
            .init(.customerItemID, [customerItemID]), .init(.formFactor, [formFactor.rawValue]),
        ]
        return try job.transaction.items(
            ItemSearch(
                scope: .organizations([partner.organization.id]), terms: terms, from: nil, to: nil, after: nil),
            limit: 1, key: nil
        ).first
    }
}

/// `POST /v1|v2/search/authentications`: the items of all users of the organization, newest first [P].
package struct SearchPartnerItems: Operation, Reads {
    let request: SearchRequest
    let version: PartnerVersion

    /// The page size if the caller gives none [P].
    package static let defaultLimit = 10

    package init(_ request: SearchRequest, _ version: PartnerVersion) {
        self.request = request
        self.version = version
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> EncodedJSON {
        let surface = version == .v2 ? "v2 search" : "v1 search"
        let query = try ItemQuery(
            request, keys: SearchKey.ofPartner(version), surface: [surface, String(partner.organization.id)], job)
        let excluded = try users(query.filters.excludedUsernames, of: partner.organization, job)
        let page = try query.page(
            of: try scope(query.filters, partner.organization, job),
            where: (excluded.isEmpty ? [] : [.init(.user, excluded.map { String($0) }, isExcluded: true)])
                + (version.onlyFormFactor.map { [.init(.formFactor, [$0.rawValue])] } ?? []), job)
        let renderings = Renderings(job)
        let items = try page.items.map { try renderings.partner($0, version, PartnerParts()) }
        return switch version {
        // v2 has one opaque string, which is null on the last page. v1 has an array, which is empty there.
        case .v2: .page(items, nextCursor: Cursor.text(page.next))
        case .v1: .page(items, nextCursor: Cursor.array(page.next))
        }
    }

    /// The scope of a search: all items of the organization, or those of the users that every filter on usernames
    /// names.
    private func scope(
        _ filters: FilterReader, _ organization: OrganizationRecord, _ job: JobContext
    ) throws -> ItemSearch.Scope {
        let lists = try filters.usernames.map { try users($0, of: organization, job) }
        guard let first = lists.first else { return .organizations([organization.id]) }
        return .users(first.filter { id in lists.allSatisfy { $0.contains(id) } })
    }

    /// The ids of the organization's users with some names, without duplicates. Unknown names are ignored.
    private func users(_ names: [String], of organization: OrganizationRecord, _ job: JobContext) throws -> [Int64] {
        var ids: [Int64] = []
        for name in names {
            guard let user = try job.transaction.user(username: name), user.organizationID == organization.id,
                !ids.contains(user.id)
            else { continue }
            ids.append(user.id)
        }
        return ids
    }
}

/// `POST|DELETE /v2/authentications/{entrupy_id}/flag`: changes the same flag that the SDK shows
/// [P] [D partner-flag-reason].
package struct FlagPartnerItem: Operation, Writes {
    let entrupyID: String
    /// `nil` if the flag is cleared.
    let request: PartnerFlagRequest?

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ entrupyID: String, _ request: PartnerFlagRequest?) throws {
        self.entrupyID = entrupyID
        self.request = request
        guard let request else { return }
        var problems: [ErrorDetail] = []
        if request.reason.isEmpty { problems.add("reason", "must not be empty") }
        for (field, text) in [("reason", request.reason), ("comments", request.comments ?? "")] {
            problems.add(field, TextRules.tooLong(text, scalars: Flags.maxText))
        }
        try problems.check()
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        let wanted = PartnerFlagRequest(reason: fields.string("reason"), comments: fields.optionalString("comments"))
        try fields.finish()
        try self.init(input.path("entrupy_id"), wanted)
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> EncodedJSON {
        var item = try partner.item(entrupyID, job)
        try Flags.checkIsEligible(item, job)
        if let request {
            let (reasonID, message) = Self.flag(request, job.catalogue)
            try Flags.set(&item, reasonID: reasonID, message: message, job)
        } else {
            try Flags.clear(&item, job)
        }
        return .item(try Renderings.v2(item, PartnerParts(), job))
    }

    /// The reason and message that the SDK shows [D partner-flag-reason].
    ///
    /// A text that is the id of a known reason becomes that reason. Any other text gives the reason `other` and goes
    /// into the message. Empty comments count as absent.
    private static func flag(_ request: PartnerFlagRequest, _ catalogue: Catalogue) -> (id: String, message: String?) {
        let reasons = catalogue.texts.flagReasons.map(\.id)
        let comments = request.comments?.nonEmpty
        if let known = reasons.first(where: { $0.isIdentical(to: request.reason) }) { return (known, comments) }
        let other = reasons.first { $0 == "other" } ?? reasons[reasons.count - 1]
        return (other, [request.reason, comments].compactMap(\.self).joined(separator: "\n\n"))
    }
}
