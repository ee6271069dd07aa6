import EntrupyAPI
import Foundation
import SimulationAPI

/// The items of the namespace as a table that can be searched.
enum ItemsPage {
    private static let rows = 50
    /// Larger pictures are not loaded: they are shown as they are, and not scaled.
    static let maxPicture = 500_000

    private struct View: Encodable, Sendable {
        let text, username: String
        let brands, results, flags: [Option]
        /// The results that an item without a fingerprint can have.
        let itemResults: [Option]
        let problems: [String]
        let rows: Rows<ItemRow>?
        let isFiltered: Bool
        let reasons: [Option]
        /// `nil` on the first page.
        let firstLink: String?
        let nextLink: String?
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let filter = ["text", "username", "brand", "result", "flag"].map { ($0, request.given($0)) }
        let isFiltered = filter.contains { $0.1 != nil }
        let query: [(String, String?)] = [
            ("limit", "\(rows)"), ("cursor", request.given("cursor")), ("thumbnails", "true"), ("sort", "submitted"),
        ]
        let lists = try await api.get("choices", as: Choices.self).lists
        let now = try await api.get("clock", as: ClockState.self).epoch
        var problems: [String] = []
        var list = AuthenticationList(authentications: [], next_cursor: nil)
        do {
            list = try await api.get("authentications", filter + query)
        } catch ConsoleProblem.refused(let status, let envelope?) where status == 400 {
            problems = envelope.details.map { "\($0.field) \($0.problem)" }
        }
        let items = list.authentications
        func link(_ pairs: [(String, String?)]) -> String { request.console + "/items" + Link.query(filter + pairs) }
        let view = View(
            text: request.given("text") ?? "", username: request.given("username") ?? "",
            brands: Option.all(lists["brands"], chosen: request.given("brand")),
            results: Option.all(lists["results"], chosen: request.given("result")),
            flags: Option.all(lists["flags"], chosen: request.given("flag")),
            itemResults: Option.all(lists["item_results"]), problems: problems,
            rows: Rows(items.map { ItemRow($0, now: now, request) }), isFiltered: isFiltered,
            reasons: Option.all(lists["invalid_reasons"]),
            firstLink: request.given("cursor") == nil ? nil : link([]),
            nextLink: list.next_cursor.map { link([("cursor", $0)]) })
        return PagePart(section: "items", title: "Items", template: "items", view: view)
    }
}

struct ItemRow: Encodable, Sendable {
    let item: AuthenticationSummary
    /// The brand's name.
    let brand: String
    let resultStyle: String
    /// `nil` if the item has no flag.
    let flag: String?
    let flagStyle, age: String
    let thumbnail: String?
    /// The text in place of a thumbnail.
    let tile: String

    init(_ item: AuthenticationSummary, now: Double, _ request: ConsoleRequest) {
        let picture = item.thumbnail?.wrappedValue
        let isShown = picture.map { $0.bytes <= ItemsPage.maxPicture } ?? false
        self.item = item
        brand = item.brand_name
        resultStyle = Style.result(item.result.id.rawValue, isFinal: item.result.final)
        flag = item.flag == .unflagged ? nil : item.flag.rawValue
        flagStyle = Style.flag(item.flag.rawValue)
        age = Moment.age(item.submitted_at, now: now)
        thumbnail = isShown ? picture.map { Picture.path($0.url, request) } : nil
        tile = picture == nil ? "no photo" : "large"
    }
}

struct Option: Encodable, Sendable {
    let id, name: String
    let isChosen: Bool

    static func all(_ choices: [Choice]?, chosen: String? = nil) -> [Option] {
        (choices ?? []).map { choice in
            Option(id: choice.id, name: choice.name, isChosen: chosen.map { choice.id.isIdentical(to: $0) } ?? false)
        }
    }
}

enum Picture {
    /// The path of a picture in the control API, from its URL for clients. Pages load nothing from other hosts, and
    /// viewing a picture makes no request to the platform.
    static func path(_ url: String, _ request: ConsoleRequest) -> String {
        let parts = url.split(separator: "/")
        guard let index = parts.lastIndex(of: "images"), index + 1 < parts.count else { return "" }
        return "\(request.base)/_sim/images/\(URLPart.escaped(String(parts[index + 1])))"
    }
}
