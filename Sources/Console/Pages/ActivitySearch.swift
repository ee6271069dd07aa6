import EntrupyAPI
import SimulationAPI

/// A search of the live view, with what its words name in this namespace.
struct ActivitySearch: Sendable {
    let terms: SearchTerms
    /// The users whom `user:` means without their organization; empty if there are none, or the name is a whole one.
    private(set) var users: [UserInfo] = []
    /// The items whose id or `customer_item_id` begins with the one free word.
    private(set) var items: [AuthenticationSummary] = []

    /// The number of items and of users that are named.
    private static let maxNamed = 5

    init(_ text: String, _ api: ControlReader) async {
        terms = SearchTerms(text)
        let limit = ("limit", "\(Self.maxNamed)" as String?)
        if let name = terms.value("user") {
            // Without an answer the name is taken as it is.
            let named = try? await api.get("users", [("unique_user_id", name), limit], as: UserInfoList.self)
            users = named?.users ?? []
            // A whole name may be another organization's id of a user.
            if !users.isEmpty, (try? await api.get("users/\(URLPart.escaped(name))", as: UserInfo.self)) != nil {
                users = []
            }
        }
        if let word = terms.freeWord {
            // Most words are none of an item.
            let found = try? await api.get("authentications", [("text", word), limit], as: AuthenticationList.self)
            items = found?.authentications ?? []
        }
    }

    /// The item that the free word is the whole id or `customer_item_id` of; `nil` if there is none, or several.
    private var item: AuthenticationSummary? {
        guard let word = terms.freeWord else { return nil }
        let named = items.filter {
            $0.entrupy_id.isIdentical(to: word) || $0.customer_item_id?.isIdentical(to: word) ?? false
        }
        return named.count == 1 ? named[0] : nil
    }

    var showsRequests: Bool { terms.showsRequests }
    /// With an item, what happened to it is shown too.
    var showsEvents: Bool { terms.showsEvents || item != nil && terms.value("show") == nil && !terms.hasKeysOfRequests }

    var requests: [(String, String?)] { terms.requests(username: users.first?.username ?? terms.value("user")) }

    var events: [(String, String?)] { terms.events(subject: terms.value("subject") ?? item?.entrupy_id) }

    /// The search field, its chips and the matches that are not entries.
    struct View: Encodable, Sendable {
        let text: String
        let chips: Rows<Chip>?
        let kinds: [Tab]
        let keys: [NamedText]
        let items: Rows<ItemRow>?
        /// The users of several organizations whom the name means; `nil` if it means one.
        let users: Rows<Tab>?

        struct Chip: Encodable, Sendable {
            let chip, without: String
        }
    }

    func view(_ request: ConsoleRequest) -> View {
        func link(_ text: String) -> String { request.console + Link.query([("q", text)]) }
        // The kinds that are shown have chips of their own.
        let words = terms.terms.enumerated().filter { $0.element.key != "show" }
        return View(
            text: terms.text,
            chips: Rows(words.map { View.Chip(chip: $1.text, without: link(terms.without($0))) }),
            kinds: SearchTerms.shown.map { kind in
                Tab(
                    name: kind ?? "all", link: link(terms.showing(kind)),
                    isCurrent: (terms.value("show") ?? "").isIdentical(to: kind ?? ""))
            },
            keys: SearchTerms.keys.map { NamedText(name: $0.0, value: $0.1) },
            items: Rows(items.map { ItemRow($0, now: 0, request) }),
            users: users.count < 2
                ? nil
                : Rows(
                    users.map { user in
                        Tab(
                            name: user.username, link: link(terms.replacing("user", with: user.username)),
                            isCurrent: user.username == users[0].username)
                    }))
    }
}
