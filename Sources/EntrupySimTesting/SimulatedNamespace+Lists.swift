import ClientTransport
import Foundation
import SimulationAPI

// Lists of items, deliveries, events and scheduled work, and single requests.
extension SimulatedNamespace {
    /// The items, newest first.
    ///
    /// - Parameters:
    ///   - text: the beginning of an item's id, its certificate's id or its `customer_item_id`; `nil` for all.
    ///   - brand: the brand's id or name; `nil` for all.
    ///   - category: the id of the category; `nil` for all.
    ///   - result: the id of the result; `nil` for all.
    ///   - flag: the id of the flag, such as `flagged`; `nil` for all.
    ///   - username: the user's name; `nil` for all.
    ///   - limit: the maximum number of items, at least 1.
    /// - Returns: objects as `GET /_sim/authentications` lists them.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or neither the platform nor an item has such a value.
    public func items(
        text: String? = nil, brand: String? = nil, category: String? = nil, result: String? = nil, flag: String? = nil,
        username: String? = nil, limit: Int = 1000
    ) async throws -> [JSONValue] {
        struct Page: Decodable {
            var authentications: [JSONValue]
            var next_cursor: String?
        }
        let filter = [
            ("text", text), ("brand", brand), ("category", category), ("result", result), ("flag", flag),
            ("username", username),
        ]
        return try await pages("/_sim/authentications", filter, limit: limit, perPage: 25, as: Page.self) { page in
            (page.authentications, page.next_cursor)
        }
    }

    /// An item with its timeline, and as the SDK and versions 1 and 2 of the partner API have it: its members `sdk`, `v1`, `v2`.
    ///
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or there is no such item.
    public func item(_ entrupyID: String) async throws -> JSONValue {
        try await control.send("GET", "/_sim/authentications/\(entrupyID.segment)", as: JSONValue.self)
    }

    /// A request with headers and bodies, secrets masked, by its number in the journal.
    ///
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or the journal has no such request.
    public func request(_ sequence: Int64) async throws -> JournaledRequest {
        try await control.send("GET", "/_sim/requests/sequence:\(sequence)", as: JournaledRequest.self)
    }

    /// A request with headers and bodies, secrets masked, by its id.
    ///
    /// - Throws: ``SimulatorError`` if the server cannot be asked, the journal has no such request, or several have the id.
    public func request(_ id: String) async throws -> JournaledRequest {
        try await control.send("GET", "/_sim/requests/\(id.segment)", as: JournaledRequest.self)
    }

    /// The deliveries of webhooks, newest first.
    ///
    /// - Parameters:
    ///   - entrupyID: only those of this item; `nil` for all.
    ///   - status: only those in this state, such as `retrying`; `nil` for all.
    ///   - limit: the maximum number of deliveries, at least 1.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or there is no such item or state.
    public func deliveries(
        of entrupyID: String? = nil, status: String? = nil, limit: Int = 1000
    ) async throws -> [WebhookDelivery] {
        let filter = [("entrupy_id", entrupyID), ("status", status)]
        return try await pages(
            "/_sim/webhook-deliveries", filter, limit: limit, perPage: 100, as: WebhookDeliveryList.self
        ) { page in
            (page.deliveries, page.next_cursor)
        }
    }

    /// The event log, newest first.
    ///
    /// - Parameters:
    ///   - subject: only events about this item, capture, user or other object; `nil` for all.
    ///   - kind: a glob for the kind, such as `result.*`; `nil` for all.
    ///   - limit: the maximum number of events, at least 1.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or no kind matches.
    public func events(
        subject: String? = nil, kind: String? = nil, limit: Int = 1000
    ) async throws -> [StateChange] {
        let filter = [("subject", subject), ("kind", kind)]
        return try await pages("/_sim/event-log", filter, limit: limit, perPage: 1000, as: EventList.self) { page in
            (page.events, page.next_cursor)
        }
    }

    /// The scheduled work, the next first.
    public func due() async throws -> [DueEntry] {
        try await control.send("GET", "/_sim/due", as: DueList.self).due
    }

    /// The entries of a list, page by page.
    ///
    /// - Parameters:
    ///   - filter: the parameters that narrow it down; those that are `nil` are left out.
    ///   - read: the entries of a page, and the start of the next one; `nil` on the last page.
    private func pages<Page: Decodable, Entry>(
        _ path: String, _ filter: [(String, String?)], limit: Int, perPage: Int, as type: Page.Type,
        _ read: (Page) -> ([Entry], String?)
    ) async throws -> [Entry] {
        guard limit >= 1 else { throw SimulatorError("limit must be a whole number of at least 1, got \(limit)") }
        var found: [Entry] = []
        var cursor: String?
        repeat {
            let parameters = filter + [("limit", "\(min(perPage, limit - found.count))"), ("cursor", cursor)]
            let page = try await control.send("GET", ControlConnection.path(path, parameters), as: type)
            let (entries, next) = read(page)
            found += entries
            cursor = next
        } while cursor != nil && found.count < limit
        return found
    }
}
