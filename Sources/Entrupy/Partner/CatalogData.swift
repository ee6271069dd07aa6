import EntrupyStorage
import Foundation
import Hashes
import Simulation
import SimulationAPI

/// The catalogue data of an item: product information, condition, marketplace listings [P shape].
///
/// Derived from the item, and always the same for the same item, until the control API changes it [D v2-catalog].
enum CatalogData {
    static func value(_ item: ItemRecord, _ metadata: ItemMetadata) throws -> JSONValue {
        try item.catalog.map { try StoredJSON.decode($0) } ?? made(item, metadata)
    }

    private static let ratings = ["fair", "good", "very good", "excellent", "new"]
    private static let colorways = ["Black", "Brown", "Navy", "Red", "White"]

    private static func made(_ item: ItemRecord, _ metadata: ItemMetadata) -> JSONValue {
        let digest = Array(SHA256.hash(data: Data(item.entrupyID.utf8)))
        let score = 5 + Int(digest[0]) % 5
        let style = metadata.text(.styleName) ?? metadata.text(.itemType)?.spelledOut
        // A fingerprint may have no brand.
        let brand = item.brandName.nonEmpty
        let title = [brand, style].compactMap(\.self).joined(separator: " ")
        let rating = ratings[score - 5]
        return .object([
            "product_information": .object([
                "brand": brand.map { .string($0) } ?? .null, "category": .string(item.category.spelledOut),
                "style": style.map { .string($0) } ?? .null,
                "material": metadata.text(.material).map { .string($0.spelledOut) } ?? .null,
                "colorway": .string(colorways[Int(digest[1]) % colorways.count]),
                "description": .string("\(title), \(rating) condition"),
            ]),
            "condition_assessment": .object([
                "score": .number(JSONNumber(score)), "rating": .string(rating), "issues": .array([]),
                "details": .object([
                    "exterior_condition": .string(rating), "interior_condition": .string(rating),
                    "hardware_condition": .string(rating),
                ]),
            ]),
            "marketplace_listings": .array([
                .object([
                    "platform": .string("Example Market"), "title": .string(title),
                    "price": .string("\(100 + Int(digest[2]) * 10).00"), "currency": .string("USD"),
                    "link": .string("https://market.example/listings/\(Hex.string(digest.prefix(6)))"),
                    "confidence": .number(JSONNumber(text: "0.\(50 + Int(digest[3]) % 50)")),
                ])
            ]),
        ])
    }

    /// Merges a patch from the control API into the data. Writes, unless nothing changes.
    static func patch(_ item: inout ItemRecord, _ patch: JSONObject, _ job: JobContext) throws {
        let metadata = try ItemMetadata(stored: item.metadata)
        let before = try value(item, metadata)
        let after = before.merging(.object(patch))
        guard after != before else { return }
        item.catalog = try StoredJSON.encode(after)
        try Items.save(&item, job)
        try job.record(.catalogChanged, item.entrupyID)
    }

    /// The problems of a merge patch from the control API.
    static func problems(_ patch: JSONObject) -> [ErrorDetail] {
        let known = ["product_information", "condition_assessment", "marketplace_listings"]
        var problems: [ErrorDetail] = []
        for (key, value) in patch.sorted {
            // Compared as bytes: the key may be long.
            if !key.isOne(of: known) {
                problems.add("catalog.\(key)", "is not known here; expected \(known.joined(separator: ", "))")
            } else if value == .null {
                continue
            } else if key.isIdentical(to: "marketplace_listings") {
                let areObjects = value.elements?.allSatisfy { $0.members != nil } ?? false
                if !areObjects { problems.add("catalog.\(key)", "must be an array of objects") }
            } else if value.members == nil {
                problems.add("catalog.\(key)", "must be an object, got \(value.typeName)")
            }
        }
        return problems
    }
}
