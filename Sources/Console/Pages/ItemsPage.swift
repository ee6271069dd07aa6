import EntrupyAPI
import Foundation
import SimulationAPI

/// The items of the namespace as a table that can be searched.
enum ItemsPage {
    private static let rows = 50
    /// Larger pictures are not loaded: they are shown as they are, and not scaled.
    static let maxPicture = 500_000

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let filters = ["text", "username", "brand", "result", "flag"]
        var query: [(String, String?)] = filters.map { ($0, request.given($0)) }
        let isFiltered = query.contains { $0.1 != nil }
        query += [
            ("limit", "\(rows)"), ("cursor", request.given("cursor")), ("thumbnails", "true"), ("sort", "submitted"),
        ]
        let choices = try await api.get("choices", as: Choices.self)
        let clock = try await api.get("clock", as: ClockState.self)
        var view: View = ["problems": [String](), "hasProblems": false]
        for name in filters { view[name] = request.given(name) ?? "" }
        var list = AuthenticationList(authentications: [], next_cursor: nil)
        do {
            list = try await api.get("authentications", query)
        } catch ConsoleProblem.refused(let status, let envelope?) where status == 400 {
            view["problems"] = envelope.details.map { "\($0.field) \($0.problem)" }
            view["hasProblems"] = true
        }
        let now = clock.epoch
        let lists = choices.lists
        view["rows"] = list.authentications.map { row($0, now: now, request) }
        view["hasRows"] = !list.authentications.isEmpty
        view["isEmpty"] = list.authentications.isEmpty && !isFiltered
        view["isNotFound"] = list.authentications.isEmpty && isFiltered
        view["results"] = Options.view(lists["results"], chosen: request.given("result"))
        view["flags"] = Options.view(lists["flags"], chosen: request.given("flag"))
        view["brands"] = Options.view(lists["brands"], chosen: request.given("brand"))
        view["hasNext"] = list.next_cursor != nil
        view["isLaterPage"] = request.given("cursor") != nil
        let filter = filters.map { ($0, request.given($0)) }
        view["firstLink"] = request.console + "/items" + Link.query(filter)
        view["nextLink"] = request.console + "/items" + Link.query(filter + [("cursor", list.next_cursor)])
        return PagePart(section: "items", title: "Items", template: "items", view: view)
    }

    static func row(_ item: AuthenticationSummary, now: Double, _ request: ConsoleRequest) -> View {
        let picture = item.thumbnail?.wrappedValue
        let isShown = picture.map { $0.bytes <= maxPicture } ?? false
        return [
            "key": item.entrupy_id, "itemID": item.entrupy_id,
            "link": "\(request.console)/items/\(Link.escaped(item.entrupy_id))",
            "itemLink": "\(request.console)/items/\(Link.escaped(item.entrupy_id))",
            "customerID": item.customer_item_id ?? "", "brand": item.brand, "category": item.product_category,
            "result": item.result.id.rawValue, "isPending": !item.result.final,
            "resultStyle": Style.result(item.result.id.rawValue, isFinal: item.result.final),
            "isFlagged": item.flag != .unflagged, "flagID": item.flag.rawValue,
            "flagStyle": Style.flag(item.flag.rawValue),
            "user": item.username, "userLink": "\(request.console)/users/\(Link.escaped(item.username))",
            "age": Moment.age(item.submitted_at, now: now), "at": Moment.text(item.submitted_at),
            "hasThumbnail": isShown, "thumbnail": picture.map { Picture.path($0.url, request) } ?? "",
            "tile": picture == nil ? "no photo" : "large",
        ]
    }
}

/// The options of a choice in a form.
enum Options {
    static func view(_ choices: [Choice]?, chosen: String?) -> [View] {
        (choices ?? []).map { choice in
            ["id": choice.id, "name": choice.name, "isChosen": chosen.map { choice.id.isIdentical(to: $0) } ?? false]
        }
    }
}

/// Pictures on pages.
enum Picture {
    /// The path of a picture in the control API, from its URL for clients. Pages load nothing from other hosts, and
    /// viewing a picture makes no request to the platform.
    static func path(_ url: String, _ request: ConsoleRequest) -> String {
        let parts = url.split(separator: "/")
        guard let index = parts.lastIndex(of: "images"), index + 1 < parts.count else { return "" }
        return "\(request.base)/_sim/images/\(Link.escaped(String(parts[index + 1])))"
    }
}
