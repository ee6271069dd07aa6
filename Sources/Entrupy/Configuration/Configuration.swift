import EntrupyAPI
import Simulation

/// `GET /sdk/config`: the product categories, brands and capture steps [S].
package struct FetchConfiguration: Operation {
    package static let access = Access.reads
    let type: ConfigType

    /// The time for which a client may cache a configuration [D configuration-lifetime].
    static let lifetime = Span.day

    package init(_ type: ConfigType) {
        self.type = type
    }

    package func perform(_ job: JobContext, as user: SDKUser) -> SDKConfiguration {
        let catalogue = job.catalogue
        return SDKConfiguration(
            config_type: type, config_id: "\(catalogue.id)-\(type.rawValue)", issued_at: job.now.epoch,
            expires_at: (job.now + Self.lifetime).epoch,
            product_categories: catalogue.categories.map { category in
                ProductCategory(
                    id: category.id, required_fields: category.neededFields,
                    brands: catalogue.brands.compactMap { $0.configured(in: category.id) },
                    capture_steps: category.steps(type).map { $0.configured(job.language) })
            })
    }
}

extension Catalogue.Category {
    /// The fields that an item needs if it has a category or an item type. It then needs no style [P].
    var neededFields: [String] { requiredFields.filter { $0 != ItemField.styleName.rawValue } }

    /// The images a workflow asks for.
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
