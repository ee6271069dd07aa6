import EntrupyAPI
import Foundation
import Resources
import Simulation
import SimulationAPI

/// A kind of item that apps name as `item_type`, for instance handbags. It belongs to product categories.
struct ItemType: Sendable {
    let id: String
    /// The name that apps and back ends see; `nil` if it is made from the id.
    let name: LocalizedText?
    /// Other names that apps may send, compared like ids and names: ignoring case.
    let aliases: [String]
    /// The ids of the categories, in the catalogue's order.
    let categories: [String]

    /// The name in a language; made from the id if the seed data has none [D item-types].
    func name(_ language: Language) -> String { name?[language] ?? id.spelledOut }
}

/// The item types of a catalogue, and the brands that have them.
struct ItemTypes: Sendable {
    /// Those of the seed data, or else the built-in ones.
    let listed: [ItemType]
    /// ``listed``, and after them those that only brands name.
    private let all: [ItemType]
    /// The places in ``all`` by id, name and alias in lower case.
    private let places: [TextKey: Int]

    /// - Parameter listed: the item types of the seed data; `nil` for the built-in ones.
    init(_ listed: [ItemType]?, categories: [Catalogue.Category], brands: [Catalogue.Brand]) {
        let order = Dictionary(categories.enumerated().map { (TextKey($1.id), $0) }) { first, _ in first }
        // The ids of some categories, in the catalogue's order.
        func sorted(_ ids: some Sequence<String>) -> [String] {
            Set(ids.compactMap { order[TextKey($0)] }).sorted().map { categories[$0].id }
        }
        // Seed data without categories of a built-in type has no use for it.
        let kept = (listed ?? BuiltInTexts.itemTypes).compactMap { type -> ItemType? in
            let categories = sorted(type.categories)
            guard !categories.isEmpty else { return nil }
            return ItemType(id: type.id, name: type.name, aliases: type.aliases, categories: categories)
        }
        self.listed = kept
        var places: [TextKey: Int] = [:]
        for (place, type) in kept.enumerated() {
            for name in Self.names(of: type) where places[TextKey(name)] == nil { places[TextKey(name)] = place }
        }
        // A brand may name types that the list lacks.
        var named: [(id: String, categories: [String])] = []
        for category in brands.flatMap(\.categories) {
            for id in category.itemTypes {
                let next = kept.count + named.count
                let place = places[TextKey(id)] ?? next
                if place == next {
                    places[TextKey(id)] = next
                    named.append((id, []))
                }
                if place >= kept.count { named[place - kept.count].categories.append(category.id) }
            }
        }
        all = kept + named.map { ItemType(id: $0.id, name: nil, aliases: [], categories: sorted($0.categories)) }
        self.places = places
    }

    /// The names under which a type is found.
    static func names(of type: ItemType) -> [String] {
        ([type.id] + [type.name?.english, type.name?.japanese].compactMap(\.self) + type.aliases).map {
            $0.lowercased()
        }
    }

    /// The type with this id, name or alias, ignoring case; `nil` if the catalogue lacks it.
    func type(matching text: String) -> ItemType? {
        let wanted = text.lowercased()
        return (places[TextKey(wanted)] ?? places[TextKey(ItemMetadata.identifier(wanted))]).map { all[$0] }
    }

    /// The categories in which a brand has a type, in the catalogue's order.
    func categories(of type: ItemType, _ brand: Catalogue.Brand) -> [String] {
        brand.categories.filter { category in
            type.categories.contains { $0.isIdentical(to: category.id) }
                && category.itemTypes.contains { self.type(matching: $0)?.id.isIdentical(to: type.id) == true }
        }.map(\.id)
    }
}

/// The parts of the built-in seed data that other seed data may leave out. They are read once.
enum BuiltInTexts {
    private static let parts: (itemTypes: [ItemType], results: [ResultID: Catalogue.ResultText]) = {
        let text = Resource.text("seed-data/standard.yaml")
        // A test reads the built-in seed data, so this does not fail.
        let parts = try? SourceDocument(yaml: text, file: "standard").read(known: nil) { fields in
            var texts = fields.object("texts")
            return (
                itemTypes: ItemType.list(&fields, categories: nil) ?? [], results: Catalogue.Texts.results(&texts)
            )
        }
        return parts ?? ([], [:])
    }()

    static var itemTypes: [ItemType] { parts.itemTypes }

    /// The texts of results that other seed data lacks [D seed-texts].
    static var results: [ResultID: Catalogue.ResultText] { parts.results }
}

extension ItemType {
    /// The item types of seed data; `nil` if it has no such member.
    ///
    /// - Parameter known: the categories that they may belong to; `nil` for any.
    static func list(_ fields: inout FieldReader, categories known: KnownNames?) -> [ItemType]? {
        fields.objects("item_types", known: ["id", "display_name", "aliases", "categories"]) { ItemType(&$0, known) }
    }

    private init(_ fields: inout FieldReader, _ known: KnownNames?) {
        fields.require("categories")
        id = fields.requiredIdentifier("id")
        name = fields.localized("display_name")
        aliases = fields.list("aliases") { $0.text($1, maxBytes: 200) } ?? []
        categories =
            fields.list("categories") { fields, name in
                guard let id = fields.identifier(name) else { return nil }
                guard let known, !known.contains(id) else { return id }
                fields.report(name, "must be one of \(known.listed), got \"\(id)\"")
                return nil
            } ?? []
        if fields.isEmptyList("categories") { fields.report("categories", "must name at least one category") }
    }
}
