import EntrupyAPI
import Simulation

/// `POST /v2/config/authentications`: the brands and materials, from the same seed data as the SDK's configuration
/// [P].
package struct FetchPartnerConfiguration: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as partner: Partner) -> PartnerConfiguration {
        let now = Int(job.now.microseconds / 1_000_000)
        return PartnerConfiguration(
            config: .init(
                brands: job.catalogue.brands.map { brand in
                    .init(brand_id: brand.id, display: .init(name: brand.name), materials: materials(brand, job))
                }),
            iat: now, exp: now + Int(FetchConfiguration.lifetime.microseconds / 1_000_000))
    }

    /// A brand's materials. Each has the fields that its categories require besides the brand [D material-details].
    private func materials(_ brand: Catalogue.Brand, _ job: JobContext) -> [PartnerConfiguration.Config.Brand.Material]
    {
        var fields: [String: Set<String>] = [:]
        for category in brand.categories {
            let required = job.catalogue.category(category.id)?.requiredFields ?? []
            for material in category.materials { fields[material, default: []].formUnion(required) }
        }
        return fields.sorted { $0.key < $1.key }.map { material, fields in
            .init(
                material_id: material, display: .init(name: material.spelledOut),
                details: fields.subtracting([ItemField.brand.rawValue]).sorted().map { field in
                    .init(
                        field_alias: field,
                        display: .init(
                            name: job.catalogue.texts.textFields[field]?[job.language] ?? field.spelledOut))
                })
        }
    }
}

/// `POST /v2/catalog/brands` [P].
package struct ListBrands: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as partner: Partner) -> BrandCatalogue {
        BrandCatalogue(
            brands: job.catalogue.brands.map { brand in
                .init(
                    id: brand.id, display: .init(name: brand.name),
                    product_categories: brand.categories.map(\.id).sorted(),
                    // A brand may name its types by alias.
                    item_types: Set(
                        brand.categories.flatMap(\.itemTypes).map { name in
                            job.catalogue.itemTypes.type(matching: name)?.id ?? name
                        }
                    ).sorted())
            })
    }
}
