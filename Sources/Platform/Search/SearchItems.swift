import EntrupyAPI
import Storage

/// `POST /sdk/search`: the user's own submissions, newest first [S].
package struct SearchItems: UserOperation {
    package static let access = Access.reads
    let request: SearchRequest

    /// How many items a page has where the caller does not say [D].
    package static let defaultLimit = 20
    /// The most filters [D].
    package static let maxFilters = ItemQuery.maxFilters

    package init(_ request: SearchRequest) {
        self.request = request
    }

    package func perform(_ job: JobContext, for user: SignedInUser) throws -> EncodedJSON {
        let query = try ItemQuery(request, keys: SearchKey.ofUser, surface: ["sdk search", String(user.id)], job)
        let page = try query.page(of: .users([user.id]), key: job.state.renderingKey, job)
        return .page(try page.items.map { try Renderings.sdk($0, job) }, nextCursor: Cursor.array(page.next))
    }
}
