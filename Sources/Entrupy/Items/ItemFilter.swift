import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

extension ListAuthentications {
    /// The items that are listed. All given parts must fit.
    struct Filter: Sendable {
        /// The beginning of the item's id, its certificate's id or its `customer_item_id`.
        var text: String?
        /// The name or id of each, in any letter case.
        var brand: String?
        var category: String?
        var result: String?
        var flag: String?
        var username: String?

        /// The conditions for items, without the text and the user.
        var terms: [ItemSearch.Term] {
            let values: [(ItemSearch.Field, String?)] = [
                (.brand, brand), (.category, category), (.result, result), (.flag, flag),
            ]
            return values.compactMap { field, value in value.map { ItemSearch.Term(field, [$0]) } }
        }

        var isEmpty: Bool { text == nil && username == nil && terms.isEmpty }

        var identity: [String] {
            [text, brand, category, result, flag, username].map { $0 ?? "" }
        }
    }
}

extension ListAuthentications.Filter {
    /// The filter with ids in place of names, which may have any letter case [D control-filters].
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` for a value that neither the platform nor an item has: its list would look like
    ///   one of items that do not exist.
    func identified(_ job: JobContext) throws -> Self {
        var (found, problems) = (self, [ErrorDetail]())
        func identify(
            _ value: String?, _ field: ItemSearch.Field, _ name: String, _ known: [String], id: (String) -> String?
        ) throws -> String? {
            guard let value else { return nil }
            if let id = id(value) { return id }
            if let id = try kept(value, field, job) { return id }
            let lower = known.map { $0.lowercased() }
            let near = NearestName.nearest(to: value.lowercased(), among: lower).flatMap { lower.firstIndex(of: $0) }
            let names = known.count <= 20 ? "; expected one of \(known.joined(separator: ", "))" : ""
            let question = near.map { "; did you mean \(known[$0])?" } ?? names
            problems.add(name, "is no \(name) that the platform or an item has, got \"\(value.excerpt)\"\(question)")
            return nil
        }
        let catalogue = job.catalogue
        found.brand = try identify(brand, .brand, "brand", catalogue.brands.map(\.name)) {
            catalogue.brand(matching: $0)?.id
        }
        found.category = try identify(category, .category, "category", catalogue.categories.map(\.id)) {
            catalogue.category(matching: $0)?.id
        }
        found.result = try identify(result, .result, "result", ResultID.names) { name in
            let wanted = name.lowercased()
            return ResultID.allCases.first { id in
                let header = catalogue.texts.result(id)?.header
                return [id.rawValue, header?.english.lowercased(), header?.japanese.lowercased()].compactMap(\.self)
                    .contains { $0.isIdentical(to: wanted) }
            }?.rawValue
        }
        found.flag = try identify(flag, .flag, "flag", FlagID.names) { name in
            FlagID.names.first { $0.isIdentical(to: name.lowercased()) }
        }
        try problems.check()
        return found
    }

    /// The id that items keep of a value which the platform does not know; `nil` if no item has it.
    private func kept(_ value: String, _ field: ItemSearch.Field, _ job: JobContext) throws -> String? {
        let organizations =
            try username.map { [try NamedUser.find($0, job).organizationID] } ?? ListAuthentications.organizations(job)
        return try [value, ItemMetadata.identifier(value)].first { id in
            let search = ItemSearch(
                scope: .organizations(organizations),
                terms: [ItemSearch.Term(field, [id])], from: nil, to: nil, after: nil)
            return try !job.transaction.items(search, limit: 1, key: nil).isEmpty
        }
    }
}
