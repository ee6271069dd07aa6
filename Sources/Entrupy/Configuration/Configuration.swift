import EntrupyAPI
import NIOCore
import Simulation
import SimulationAPI

/// `GET /sdk/config`: the product categories, brands and capture steps [S].
package struct FetchConfiguration: Operation, Reads {
    let type: ConfigType

    /// The time for which a client may cache a configuration [D configuration-lifetime].
    static let lifetime = Span.day

    package init(_ input: some RequestInput) throws {
        var query = input.query
        type = query.word("config_type", ConfigType.self) ?? .production
        try query.finish()
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> FetchedConfiguration {
        let catalogue = job.catalogue
        let categories = try job.entrupy.encoded(.categories(type, job.language)) {
            catalogue.categories.map { category in
                ProductCategory(
                    id: category.id, required_fields: category.neededFields,
                    brands: catalogue.brands.compactMap { $0.configured(in: category.id) },
                    capture_steps: category.steps(type).map { $0.configured(job.language) })
            }
        }
        return FetchedConfiguration(
            type: type, id: "\(catalogue.id)-\(type.rawValue)", language: job.language, issuedAt: job.now,
            categories: categories, future: job.settings.future)
    }
}

/// A configuration. Its categories are already encoded.
package struct FetchedConfiguration: Sendable {
    fileprivate let type: ConfigType
    fileprivate let id: String
    fileprivate let language: Language
    fileprivate let issuedAt: Instant
    fileprivate let categories: ByteBuffer
    /// How the answer is changed after it is made.
    fileprivate let future: FutureChanges

    /// A text that changes with the answer, its times aside [D config-tag].
    package var tag: String {
        let changes = future.changesBodies ? "-\(future.addsMembers)-\(future.reorders)" : ""
        return "\(id)-\(language.rawValue)\(changes)"
    }

    /// The answer, ``EntrupyAPI/SDKConfiguration``.
    package func encoded() -> EncodedJSON {
        var text = JSONText()
        text.raw(#"{"config_id":"#)
        text.string(id)
        text.raw(#","config_type":"#)
        text.string(type.rawValue)
        text.raw(#","expires_at":"#)
        text.number((issuedAt + FetchConfiguration.lifetime).epoch)
        text.raw(#","issued_at":"#)
        text.number(issuedAt.epoch)
        text.raw(#","product_categories":"#)
        text.raw(categories.readableBytesView)
        text.raw("}")
        return EncodedJSON(bytes: ByteBuffer(bytes: text.bytes))
    }
}

extension Catalogue.Category {
    /// The fields that an item needs if it has a category or an item type. It then needs no style [P].
    var neededFields: [String] { requiredFields.filter { $0 != ItemField.styleName.rawValue } }

    func steps(_ type: ConfigType) -> [Catalogue.Step] {
        switch type {
        case .production: production
        case .debug: debug
        }
    }
}

extension Catalogue.Step {
    func configured(_ language: Language) -> ConfiguredStep {
        ConfiguredStep(
            region_id: regionID, display_name: displayName[language], required: required, guidance: guidance[language])
    }
}

extension Catalogue.Brand {
    fileprivate func configured(in category: String) -> ConfiguredBrand? {
        categories.first { $0.id.isIdentical(to: category) }.map {
            ConfiguredBrand(id: id, display: ["name": name], item_types: $0.itemTypes, materials: $0.materials)
        }
    }
}
