import EntrupyAPI
import Simulation

/// `POST /sdk/search`: the user's own submissions, newest first [S]. For its cursors see [D search-cursor].
package struct SearchSubmissions: Operation {
    package static let access = Access.reads
    let request: SearchRequest

    /// The page size if the caller gives none [D search-limits].
    package static let defaultLimit = 20

    package init(_ request: SearchRequest) {
        self.request = request
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> EncodedJSON {
        let query = try ItemQuery(request, keys: SearchKey.ofUser, surface: ["sdk search", String(user.id)], job)
        let page = try query.page(of: .users([user.id]), key: job.renderingKey, job)
        let renderings = Renderings(job)
        return .page(try page.items.map { try renderings.sdk($0) }, nextCursor: Cursor.array(page.next))
    }
}
