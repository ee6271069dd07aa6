/// Reads the pages of a list one after the other, until one is the last or there are `max` entries.
///
/// - Parameter page: reads the page that begins at a cursor; `nil` for the first one.
/// - Returns: the entries in the order of the list, and whether there are more.
package func allPages<Entry>(
    max: Int, _ page: (_ cursor: String?) async throws -> (entries: [Entry], next: String?)
) async rethrows -> (list: [Entry], isCut: Bool) {
    var list: [Entry] = []
    var cursor: String?
    repeat {
        let page = try await page(cursor)
        list += page.entries
        cursor = page.next
    } while cursor != nil && list.count < max
    return (list, cursor != nil)
}
