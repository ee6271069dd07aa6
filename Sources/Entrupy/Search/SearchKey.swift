import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// The keys of search filters [S, P].
enum SearchKey: String, CaseIterable, Sendable {
    case brand = "properties.brand.id"
    case result = "status.result.id"
    case flag = "status.flag"
    case sku = "text_fields.sku"
    case customerItemIDField = "text_fields.customer_item_id"
    case customerItemID = "customer_item_id"
    /// The names of ``customerItemID`` up to version 1.2 of the partner API [P].
    case orderIDField = "text_fields.order_id"
    case orderID = "order_id"
    /// The item's id [P].
    case entrupyID = "entrupy_id"
    /// Another name of ``entrupyID`` [P].
    case authenticationID = "authentication_id"
    case category = "activity.product_category"
    case formFactor = "activity.form_factor"
    /// Allowed in the searches of organizations only.
    case activityName = "activity.name"
    case username = "owner.user.username"

    /// The keys that a user's search may use.
    static let ofUser = allCases.filter { ![.username, .activityName, .orderID, .orderIDField].contains($0) }

    /// The keys that a search of the partner API may use.
    static func ofPartner(_ version: PartnerVersion) -> [SearchKey] {
        if case .v1(let minor) = version, minor <= 2 { return allCases }
        return allCases.filter { ![.orderID, .orderIDField].contains($0) }
    }

    /// The column that the filter compares. `nil` for usernames, which have none.
    var field: ItemSearch.Field? {
        switch self {
        case .brand: .brand
        case .result: .result
        case .flag: .flag
        case .sku, .customerItemIDField, .customerItemID, .orderIDField, .orderID: .customerItemID
        case .entrupyID, .authenticationID: .entrupyID
        case .category: .category
        case .activityName: .activity
        case .formFactor: .formFactor
        case .username: nil
        }
    }

    /// The accepted values; `nil` if any text is accepted.
    func accepted(_ catalogue: Catalogue) -> [String]? {
        switch field {
        case .brand: catalogue.brands.map(\.id)
        case .result: ResultID.names
        case .flag: FlagID.names
        case .category: catalogue.categories.map(\.id)
        case .activity: ["authentication", "fingerprint"]
        case .formFactor: FormFactor.allCases.map(\.rawValue)
        case .customerItemID, .entrupyID, .user, nil: nil
        }
    }
}

struct FilterReader {
    private(set) var terms: [ItemSearch.Term] = []
    /// The wanted usernames: an item's user must be in each of these lists, and not in ``excludedUsernames``.
    private(set) var usernames: [[String]] = []
    private(set) var excludedUsernames: [String] = []
    private(set) var problems: [ErrorDetail] = []
    private let keys: [SearchKey]

    /// The maximum number of values of one filter [D search-limits].
    static let maxValues = 100

    init(_ filters: [SearchFilter], keys: [SearchKey], _ catalogue: Catalogue) {
        self.keys = keys
        for (index, filter) in filters.enumerated() { read(filter, "filters[\(index)]", catalogue) }
    }

    private mutating func read(_ filter: SearchFilter, _ path: String, _ catalogue: Catalogue) {
        guard let key = keys.first(where: { $0.rawValue.isIdentical(to: filter.key) }) else {
            let keys = keys.map(\.rawValue).joined(separator: ", ")
            let problem = filter.key.isEmpty ? "is missing or empty" : "\"\(filter.key.excerpt)\" is not a valid key"
            problems.add("\(path).key", "\(problem); keys are \(keys)")
            return
        }
        let values: [String]
        switch (filter.value, filter.values) {
        case (let value?, nil): values = [value]
        case (nil, let several?): values = several
        case (nil, nil), (.some, .some):
            let values = key.accepted(catalogue).map { "; values are \($0.joined(separator: ", "))" } ?? ""
            problems.add(path, "must have either value or values (\(key.rawValue))\(values)")
            return
        }
        guard (1...Self.maxValues).contains(values.count) else {
            problems.add("\(path).values", "must be 1 to \(Self.maxValues) values, got \(values.count)")
            return
        }
        let accepted = key.accepted(catalogue)
        for (index, value) in values.enumerated() {
            let place = filter.values == nil ? "\(path).value" : "\(path).values[\(index)]"
            if let accepted, !value.isOne(of: accepted) {
                problems.add(
                    place,
                    "\"\(value.excerpt)\" is invalid for \(key.rawValue); values are \(accepted.joined(separator: ", "))"
                )
            } else {
                problems.add(place, TextRules.tooLong(value, scalars: ItemField.customerItemID.maxScalars))
            }
        }
        let isExcluded = filter.exclude ?? false
        if key == .activityName {
            // The column holds the mode too.
            let stored = Activity.allCases.filter { $0.name.isOne(of: values) }.map(\.rawValue)
            terms.append(ItemSearch.Term(.activity, stored, isExcluded: isExcluded))
        } else if let field = key.field {
            terms.append(ItemSearch.Term(field, values, isExcluded: isExcluded))
        } else if isExcluded {
            excludedUsernames += values
        } else {
            usernames.append(values)
        }
    }
}
