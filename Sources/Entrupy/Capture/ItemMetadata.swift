import EntrupyAPI
import Simulation
import SimulationAPI

/// The fields of an item that the SDK documents.
enum ItemField: String, CaseIterable, Sendable {
    case productCategory = "product_category"
    case brand
    case styleName = "style_name"
    case usSize = "us_size"
    case upc
    case styleCode = "style_code"
    case customerItemID = "customer_item_id"
    case itemType = "item_type"
    case material

    /// The fields that results show as text fields, in this order.
    static let shown: [ItemField] = [.customerItemID, .styleName, .styleCode, .usSize, .upc, .itemType, .material]

    /// Whether the field may be sent as a number [D item-empty-fields].
    var mayBeNumber: Bool { self == .usSize || self == .upc }

    /// The longest value, in Unicode scalars: 256 for `customer_item_id` [S], else 1,000 [D item-lengths].
    var maxScalars: Int { self == .customerItemID ? 256 : 1000 }
}

/// An item as the app describes it. The value of `material` is not checked against the catalogue [D item-types].
struct ItemMetadata: Sendable {
    /// Everything that was sent, including unknown members.
    let members: JSONObject

    /// The category if the app sends none, as in the v1 SDK [S].
    static let defaultCategory = "sneakers"

    /// A field's text; `nil` if it is absent, null or empty [D item-empty-fields].
    func text(_ field: ItemField) -> String? {
        switch members[field.rawValue] {
        case .string(let text) where !text.isEmpty: text
        case .number(let number): number.text
        default: nil
        }
    }

    /// The category of the item, which the catalogue may lack: the app's own; else that of the item type; else sneakers [S, P].
    ///
    /// A category is found in any case. One that the catalogue lacks gives way to brand and item type if these match [P].
    ///
    /// An item type may belong to several categories: the brand's first counts, else the catalogue's. An item type that
    /// the catalogue lacks has the brand's first category [D item-types].
    ///
    /// - Returns: also whether the catalogue knows the item type and the brand has it. Always true if the app named the category.
    func flow(_ catalogue: Catalogue) -> (category: String, isSupported: Bool) {
        let brand = text(.brand).flatMap { catalogue.brand(matching: $0) }
        if let name = text(.productCategory) {
            if let category = catalogue.category(matching: name) { return (category.id, true) }
            if let brand, let type = itemType(catalogue),
                let category = catalogue.itemTypes.categories(of: type, brand).first
            {
                return (category, true)
            }
            return (name, true)
        }
        guard let name = text(.itemType) else { return (Self.defaultCategory, true) }
        guard let type = catalogue.itemTypes.type(matching: name) else {
            return (brand?.categories.first?.id ?? Self.defaultCategory, false)
        }
        let ofBrand = brand.map { catalogue.itemTypes.categories(of: type, $0) } ?? []
        return (ofBrand.first ?? type.categories[0], brand == nil || !ofBrand.isEmpty)
    }

    /// The fields that the item must have. One with neither category nor item type, as in the v1 SDK, needs a style [S].
    func requiredFields(of category: Catalogue.Category) -> [String] {
        let isOfFirstSDK = text(.productCategory) == nil && text(.itemType) == nil
        return category.neededFields + (isOfFirstSDK ? [ItemField.styleName.rawValue] : [])
    }

    /// The item type of the catalogue; `nil` if there is none, or the catalogue lacks it.
    func itemType(_ catalogue: Catalogue) -> ItemType? {
        text(.itemType).flatMap { catalogue.itemTypes.type(matching: $0) }
    }

    /// The problems of the item, including the catalogue's required fields that are missing [S, P].
    ///
    /// - Parameter hasWorkflow: whether the item names the workflow of a fingerprint, which needs less of it.
    func problems(
        _ catalogue: Catalogue, _ activity: Activity, hasWorkflow: Bool = false, needsCustomerItemID: Bool = false
    ) -> [ErrorDetail] {
        var problems = fieldProblems()
        func isUnreported(_ field: String) -> Bool { !problems.contains { $0.field == "item.\(field)" } }
        if hasWorkflow, activity == .fingerprintRegister, isUnreported("item_type"), itemType(catalogue) == nil {
            let types = catalogue.itemTypes.listed.map(\.id).joined(separator: ", ")
            let problem =
                text(.itemType).map { "must be one of \(types) for \(activity.rawValue), got \"\($0.excerpt)\"" }
                ?? "is required for \(activity.rawValue); types are \(types)"
            problems.add("item.item_type", problem)
        }
        if let category = catalogue.category(flow(catalogue).category) {
            for name in hasWorkflow ? [] : requiredFields(of: category) {
                guard text(ItemField(rawValue: name)!) == nil, isUnreported(name) else { continue }
                let other = FieldReader.otherForm(of: name, in: members)
                let given =
                    members[name].map { $0 == .null ? "null" : "empty" } ?? other.map {
                        "missing: the item has \($0), which is another name"
                    } ?? "missing"
                let reason =
                    name == ItemField.styleName.rawValue
                    ? "without product_category and item_type" : "for \(category.id)"
                problems.add("item.\(name)", "is required \(reason), but is \(given)")
            }
        } else if isUnreported("product_category") {
            let ids = catalogue.categories.map(\.id).joined(separator: ", ")
            let isAbsent = text(.productCategory) == nil
            let missing = isAbsent ? "is missing, and the seed data has no \"\(Self.defaultCategory)\"; it " : ""
            problems.add("item.product_category", missing + "must be one of \(ids)")
        }
        if needsCustomerItemID, text(.customerItemID) == nil, isUnreported("customer_item_id") {
            problems.add(
                "item.customer_item_id", "is required: settings.captures.require_customer_item_id is true")
        }
        problems.add("item.customer_item_id", text(.customerItemID).flatMap { MagicItemID.problem($0, activity) })
        return problems.isEmpty ? [] : otherNames(hasWorkflow: hasWorkflow, beside: problems) + problems
    }

    /// The fields that are absent where a member is called as in other languages. Unknown members are metadata, so this is no problem of
    /// its own; where the item has one, it is probably the reason.
    private func otherNames(hasWorkflow: Bool, beside problems: [ErrorDetail]) -> [ErrorDetail] {
        let names = ItemField.allCases.map(\.rawValue) + (hasWorkflow ? [] : [FingerprintWorkflow.key])
        return names.compactMap { name in
            guard members[name] == nil, let other = FieldReader.otherForm(of: name, in: members),
                !problems.contains(where: { $0.field == "item.\(name)" })
            else { return nil }
            return ErrorDetail("item.\(name)", "is missing: the item has \(other), which is another name")
        }
    }

    /// The problems of each field by itself: its type and length.
    func fieldProblems() -> [ErrorDetail] {
        ItemField.allCases.compactMap { field in
            let problem: String? =
                switch members[field.rawValue] {
                case nil, .null: nil
                case .string(let text): TextRules.tooLong(text, scalars: field.maxScalars)
                case .number where field.mayBeNumber: nil
                case .some(let other):
                    "must be \(field.mayBeNumber ? "a string or a number" : "a string"), got \(other.typeName)"
                }
            return problem.map { ErrorDetail("item.\(field.rawValue)", $0) }
        }
    }

    /// The brand's id and name: the catalogue's, or made from the given text if the catalogue lacks the brand
    /// [D unknown-brand]. Both are empty if the item has no brand [D fingerprints].
    func brand(_ catalogue: Catalogue) -> (id: String, name: String, isKnown: Bool) {
        guard let text = text(.brand) else { return ("", "", false) }
        if let brand = catalogue.brand(matching: text) { return (brand.id, brand.name, true) }
        return (Self.identifier(text), text, false)
    }

    /// An id made from a name: its letters and digits in lower case, with an underscore for each run of other
    /// characters.
    static func identifier(_ name: String) -> String {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.isEmpty ? "other" : words.joined(separator: "_")
    }
}

extension ItemMetadata {
    init(stored text: String) throws {
        members = try StoredJSON.members(text)
    }
}
