import EntrupyAPI
import Simulation

/// `GET /_sim/authentications`: the namespace's items, newest first.
package struct ListAuthentications: Operation {
    package static let access = Access.reads
    let limit: Int
    let cursor: String?

    /// The allowed sizes of a page; ``defaultLimit`` applies if the caller gives none [D authentication-pages].
    package static let limits = 1...1000
    package static let defaultLimit = 100

    package init(limit: Int, cursor: String?) {
        self.limit = limit
        self.cursor = cursor
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationList {
        let query = ["authentications"]
        let before = try Cursor.position(cursor, of: query, job)
        let found = try job.transaction.items(before: before, limit: limit + 1)
        let page = found.prefix(limit)
        var usernames: [Int64: String] = [:]
        return AuthenticationList(
            authentications: try page.map { item in
                let username = try usernames[item.userID] ?? job.transaction.user(id: item.userID)?.username ?? ""
                usernames[item.userID] = username
                return AuthenticationSummary(
                    entrupy_id: item.entrupyID, username: username, customer_item_id: item.customerItemID,
                    brand: item.brandID, product_category: item.category, submitted_at: item.submittedAt.epoch,
                    result: .init(id: item.result, final: item.resultFinal, reason: item.resultReason),
                    flag: item.flag, decided_by: item.decidedBy)
            },
            next_cursor: found.count > limit ? Cursor.seal(String(page.last!.position), of: query, job) : nil)
    }
}
