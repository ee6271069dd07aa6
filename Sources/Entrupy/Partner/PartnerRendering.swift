import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// Renders an item for the partner API, in either version.
struct PartnerRendering {
    private let job: JobContext
    private let item: ItemRecord
    private let metadata: ItemMetadata
    let user: UserRecord
    let organization: OrganizationRecord

    init(_ item: ItemRecord, _ job: JobContext) throws {
        self.job = job
        self.item = item
        metadata = try ItemMetadata(stored: item.metadata)
        (user, organization) = try job.owner(of: item)
    }

    /// The item as `/v1` shows it for `Api-Version` 1.`minor` [P]: with `form_factor`, `reason`, `style_code` and
    /// `us_size` from 1.2, `order_id` up to 1.2, `product_category` from 1.3, `material`, `item_type` and `eta` from 1.4.
    func v1(minor: Int) throws -> V1Item {
        let activity = item.activity
        var result = ResultRendering(job).result(item)
        if minor < 2 { result.reason = nil }
        return V1Item(
            activity: .init(
                name: activity.name, mode: activity.mode, form_factor: minor >= 2 ? item.formFactor.rawValue : nil,
                product_category: minor >= 3 ? item.category : nil),
            certificate: ResultRendering(job).certificate(item, preview: minor >= 3 ? .sharable : .legacy),
            entrupy_id: item.entrupyID,
            owner: .init(organization: .init(name: organization.name), user: .init(username: user.username)),
            properties: properties(minor: minor),
            status: .init(
                flag: flag, result: result, eta: minor >= 4 ? try ResultRendering(job).eta(item) : nil),
            text_fields: textFields(minor: minor),
            timestamp: item.submittedAt.timestamp)
    }

    /// The properties by version: a luxury item's model is its material up to 1.3 [P].
    private func properties(minor: Int) -> V1Item.Properties {
        func named(_ text: String) -> EntrupyCaptureResult.Properties.Named {
            .init(id: ItemMetadata.identifier(text), display: ["name": text])
        }
        let isLuxury = item.category.isIdentical(to: Catalogue.luxury)
        let material = isLuxury ? metadata.text(.material) : nil
        let style = metadata.text(.styleName)
        let type = item.category.isIdentical(to: Catalogue.apparel) ? metadata.text(.itemType) : nil
        return V1Item.Properties(
            brand: .init(id: item.brandID, display: ["name": item.brandName]),
            model: ((minor < 4 ? material : nil) ?? style).map { .init(id: ItemMetadata.identifier($0)) },
            material: minor >= 4 ? material.map(named) : nil,
            item_type: minor >= 4
                ? type.map { text in
                    metadata.itemType(job.catalogue).map {
                        .init(id: $0.id, display: ["name": $0.name(job.language)])
                    } ?? named(text)
                } : nil)
    }

    /// The name of the item type, or of the category if there is no item type [D v2-names].
    private var kind: String {
        if let type = metadata.itemType(job.catalogue) { return type.name(job.language) }
        return metadata.text(.itemType) ?? item.category.spelledOut
    }

    /// The item as `/v2` shows it [P]. `owner` holds names instead of ids [D v2-owner].
    func v2(_ parts: PartnerParts) throws -> V2Item {
        let activity = item.activity
        return V2Item(
            entrupy_id: item.entrupyID,
            timestamp: .init(created_at: item.submittedAt.wholeSeconds, last_updated_at: item.updatedAt.wholeSeconds),
            status: .init(
                result: .init(id: item.result, final: item.resultFinal),
                initial_result: item.initialResult.map { .init(id: $0, final: false) }, flag: flag,
                eta: try ResultRendering(job).dueTime(item).map { .init(display: $0.wholeSeconds, epoch: $0.epoch) }),
            activity: .init(
                mode: activity.mode ?? "standard_authentication", form_factor: item.formFactor.rawValue,
                name: activity.name, product_category: item.category),
            properties: .init(
                customer_item_id: item.customerItemID, brand: item.brandName.nonEmpty,
                brand_name: item.brandName.nonEmpty, category: kind, category_name: item.category.spelledOut,
                material: metadata.text(.material)),
            owner: .init(organization_id: organization.name, user_id: user.username),
            certificate: ResultRendering(job).certificateID(item).map {
                .init(certificate_id: $0, url: job.certificateURL($0))
            },
            text_fields: textFields(minor: PartnerVersion.lastMinor), images: parts.images ? try images() : nil,
            catalog: parts.catalog ? try CatalogData.value(item, metadata) : nil,
            fingerprint_parent: item.fingerprintParent)
    }

    /// The item as the vendor's shorter sample has it: without what is null or empty, and without some members that say nothing new
    /// [P, D sparse-items].
    func sparseV2(_ parts: PartnerParts) throws -> JSONDocument {
        try JSONDocument(encoding: v2(parts)).without(Self.leftOut) ?? .object([])
    }

    /// The paths of the members that say nothing new.
    private static let leftOut = [
        "/timestamp/last_updated_at", "/properties/brand", "/properties/category", "/certificate",
    ]

    /// The flag; `nil` if there is none [D v2-flags]. The control API can set an unknown flag, to test a client's `.other` case.
    private var flag: FlagID? { item.flag == .unflagged ? nil : item.flag }

    private func textFields(minor: Int) -> [String: String] {
        var fields: [String: String] = [:]
        for field in ItemField.shown where minor >= 2 || ![.styleCode, .usSize].contains(field) {
            fields[field.rawValue] = metadata.text(field)
        }
        if minor <= 2 { fields["order_id"] = metadata.text(.customerItemID) }
        return fields
    }

    /// The images of a v2 item [D v2-images].
    private func images() throws -> V2Item.Images {
        let pictures = try ResultRendering(job).pictures(item)
        return .init(
            item_photo: pictures.first?.url,
            uploaded_images: pictures.map {
                .init(type: $0.step.regionID, display_name: $0.step.displayName[job.language], url: $0.url)
            })
    }
}

/// The optional parts of a v2 item, which are sent on request only.
package struct PartnerParts: Hashable, Sendable {
    var images = false
    var catalog = false
}

extension PartnerParts {
    /// The optional parts that a v2 query asks for. v1 has no such parameters and ignores them.
    package init(_ input: some RequestInput, _ version: PartnerVersion) throws {
        self.init()
        guard version == .v2 else { return }
        var query = input.query
        images = query.optionalBool("include_images") ?? false
        catalog = query.optionalBool("include_catalog") ?? false
        try query.finish()
    }
}

extension JobContext {
    /// The URL of a certificate in answers and webhooks, in the form of the setting `certificates.url` [P].
    func certificateURL(_ id: String) -> String {
        entrupy.settings.certificates.url?.replacing(each: EntrupySettings.certificateID, with: id)
            ?? certificatePage(id)
    }

    /// The URL of the simulator's own page of a certificate.
    func certificatePage(_ id: String) -> String { "\(publicURL)/certificates/\(id)" }
}

extension JSONDocument {
    /// The document without members and elements that are null or empty, and without members at some paths; `nil` if nothing is
    /// left.
    fileprivate func without(_ paths: [String], at path: String = "") -> JSONDocument? {
        switch self {
        case .scalar(.null): return nil
        case .scalar(.string(let text)): return text.isEmpty ? nil : self
        case .scalar: return self
        case .array(let elements):
            let left = elements.compactMap { $0.without(paths, at: path) }
            return left.isEmpty ? nil : .array(left)
        case .object(let members):
            let left = members.compactMap { name, value -> (name: String, value: JSONDocument)? in
                let place = "\(path)/\(name)"
                if paths.contains(place) { return nil }
                return value.without(paths, at: place).map { (name, $0) }
            }
            return left.isEmpty ? nil : .object(left)
        }
    }
}

extension String {
    /// An id as a readable name: `gg_canvas` is `Gg Canvas` [D v2-names].
    var spelledOut: String {
        split(at: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
    }
}

extension Collection {
    /// `nil` if it is empty, which counts as absent.
    var nonEmpty: Self? { isEmpty ? nil : self }
}
