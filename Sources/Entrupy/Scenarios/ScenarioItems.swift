import Simulation
import SimulationAPI

/// Items that a scenario creates, in the format of `POST /_sim/authentications`: one item, or `{count, template}`.
struct ScenarioItems: Sendable {
    let template: ItemTemplate
    /// The prefix of the item's field names in errors.
    let prefix: String

    /// The maximum number of items in one entry [D scenario-sizes].
    static let maxCount = 10_000

    init(_ value: JSONValue) throws {
        guard let members = value.members else {
            throw PlatformError.invalid(field: "", "must be an object, got \(value.typeName)")
        }
        var (count, item, prefix): (Int?, JSONObject, String) = (nil, members, "")
        var fields = FieldReader(members)
        if fields.has("count") || fields.has("template") {
            fields = FieldReader(value, known: ["count", "template"])
            count = fields.number("count", in: 1...Self.maxCount)
            item = fields.members("template") ?? [:]
            prefix = "template."
            fields = fields.object("template")
        }
        self.prefix = prefix
        template = try ItemTemplate(&fields, item, count: count)
    }

    /// Creates the items. Writes.
    func make(_ job: JobContext) throws {
        let generation = try PlanGeneration(template: template).perform(job)
        var made = 0
        while made < template.count {
            made += try GenerateBatch(generation: generation, from: made).perform(job).count
        }
    }

    /// Notes on a brand and an item type that the catalogue lacks. Texts with a placeholder (`{n}`) are not looked
    /// up.
    func notes(_ catalogue: Catalogue) -> [ErrorDetail] {
        let item = ItemMetadata(members: template.item)
        func given(_ field: ItemField) -> String? { item.text(field).flatMap { $0.contains("{n}") ? nil : $0 } }
        var notes: [ErrorDetail] = []
        if let brand = given(.brand), catalogue.brand(matching: brand) == nil {
            notes.add("\(prefix)brand", "the catalogue has no brand \"\(brand)\"")
        }
        if let type = given(.itemType), catalogue.itemTypes.type(matching: type) == nil {
            notes.add("\(prefix)item_type", "the catalogue has no item type \"\(type)\"")
        }
        return notes
    }
}
