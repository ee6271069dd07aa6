import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// `GET /_sim/authentications`: the namespace's items, newest first [D authentication-filters].
package struct ListAuthentications: Operation, Reads {
    var filter = Filter()
    let limit: Int
    let cursor: String?
    /// Whether each item comes with its first picture.
    var hasThumbnails = false
    /// Whether items are in the order of their submission, as with a filter.
    var isBySubmission = false

    /// The allowed sizes of a page; ``defaultLimit`` applies if the caller gives none [D authentication-pages].
    static let limits = 1...1000
    static let defaultLimit = 100
    /// The maximum number of organizations whose items can be searched at once.
    static let maxOrganizations = 100

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationList {
        var search = self
        search.filter = try filter.identified(job)
        return try search.page(job)
    }

    private func page(_ job: JobContext) throws -> AuthenticationList {
        let page =
            if filter.isEmpty, !isBySubmission {
                try Cursor.page(cursor, of: ["authentications"], limit: limit, job, position: \.position) {
                    try job.transaction.items(before: $0, limit: $1)
                }
            } else if let text = filter.text { try search(text, job) } else { try search(job) }
        var usernames: [Int64: String] = [:]
        return AuthenticationList(
            authentications: try page.records.map { item in
                let username = try usernames[item.userID] ?? job.transaction.user(id: item.userID)?.username ?? ""
                usernames[item.userID] = username
                var summary = AuthenticationSummary(
                    entrupy_id: item.entrupyID, username: username, customer_item_id: item.customerItemID,
                    brand: item.brandID, brand_name: item.brandName, product_category: item.category,
                    submitted_at: item.submittedAt.epoch,
                    result: .init(id: item.result, final: item.resultFinal, reason: item.resultReason),
                    flag: item.flag, decided_by: item.decidedBy.rawValue)
                if hasThumbnails { summary.thumbnail = Nullable(wrappedValue: try thumbnail(of: item, job)) }
                return summary
            },
            next_cursor: page.next)
    }

    private func thumbnail(of item: ItemRecord, _ job: JobContext) throws -> AuthenticationSummary.Thumbnail? {
        guard let id = item.captureID, let image = try job.transaction.captureImages(captureID: id).first else {
            return nil
        }
        return .init(url: "\(job.publicURL)/images/\(image.sha256)/original", bytes: image.bytes)
    }

    private func scope(_ job: JobContext) throws -> ItemSearch.Scope? {
        if let username = filter.username { return .users([try NamedUser.find(username, job).id]) }
        let organizations = try Self.organizations(job)
        return organizations.isEmpty ? nil : .organizations(organizations)
    }

    static func organizations(_ job: JobContext) throws -> [Int64] {
        let all = try job.transaction.organizations().map(\.id)
        guard all.count <= maxOrganizations else {
            throw PlatformError.invalid(
                field: "username",
                "is needed here: there are \(all.count) organizations, and at most \(maxOrganizations) are searched"
            )
        }
        return all
    }

    /// The page of items that fit all parts of the filter.
    private func search(_ job: JobContext) throws -> (records: ArraySlice<ItemRecord>, next: String?) {
        let identity = ["authentications"] + filter.identity
        var after: ItemSearch.Position?
        if let cursor {
            let parts = Cursor.open(cursor, of: identity, job)?.split(at: " ") ?? []
            guard parts.count == 2, let moment = Int64(parts[0]) else {
                throw PlatformError.invalid([Cursor.damaged])
            }
            after = .init(submittedAt: Instant(microseconds: moment), entrupyID: String(parts[1]))
        }
        guard let scope = try scope(job) else { return ([], nil) }
        let found = try job.transaction.items(
            ItemSearch(scope: scope, terms: filter.terms, from: nil, to: nil, after: after), limit: limit + 1, key: nil)
        let records = try found.prefix(limit).compactMap { try job.transaction.item(entrupyID: $0.entrupyID) }
        guard found.count > limit, let last = records.last else { return (records[...], nil) }
        let position = "\(last.submittedAt.microseconds) \(last.entrupyID)"
        return (records[...], Cursor.seal(position, of: identity, job))
    }

    /// The items whose ids begin with a text and that fit the rest of the filter. There is one page.
    private func search(_ text: String, _ job: JobContext) throws -> (records: ArraySlice<ItemRecord>, next: String?) {
        guard cursor == nil else {
            throw PlatformError.invalid(field: "cursor", "does not go with \"text\", which has one page")
        }
        var terms = filter.terms
        let owners: [Int64]
        if let username = filter.username {
            let user = try NamedUser.find(username, job)
            terms.append(.init(.user, [String(user.id)]))
            owners = [user.organizationID]
        } else {
            owners = try Self.organizations(job)
        }
        var seen: Set<Int64> = []
        let found = try job.transaction.items(
            beginningWith: text, organizations: owners, where: terms, limit: limit
        ).filter { seen.insert($0.position).inserted }
        return (found.sorted { $0.position > $1.position }.prefix(limit), nil)
    }
}

extension ListAuthentications {
    /// The orders of the list, both with the newest item first.
    private enum Order: String, CaseIterable {
        case created, submitted
    }

    package init(_ input: some RequestInput) throws {
        var query = input.query
        let (limit, cursor) = query.page(of: Self.limits, default: Self.defaultLimit)
        self.init(
            filter: Filter(
                text: query.text("text"), brand: query.text("brand"), category: query.text("category"),
                result: query.text("result"), flag: query.text("flag"), username: query.text("username")),
            limit: limit, cursor: cursor, hasThumbnails: query.optionalBool("thumbnails") ?? false,
            isBySubmission: query.word("sort", Order.self) == .submitted)
        try query.finish()
    }
}
