import SimulationAPI

extension ScenarioDocument {
    /// Notes on parts of the scenario that can never match [D scenarios].
    ///
    /// These are routes, methods and webhook events that do not exist, and brands, categories and item types that the
    /// catalogue lacks. They are probably misspelt, but each may be intended.
    ///
    /// - Parameters:
    ///   - routes: the platform's routes.
    ///   - catalogue: the catalogue of the namespace that the scenario is started in.
    /// - Returns: the notes, in the order of the scenario's parts; each problem begins with its line.
    func notes(_ routes: [(method: String, path: Glob)], _ catalogue: Catalogue) throws -> [ErrorDetail] {
        var notes: [ErrorDetail] = []
        func add(_ found: [ErrorDetail], of part: String) {
            notes += found.map { note in
                let path = "\(part).\(note.field)"
                return ErrorDetail(path, "line \(place.lines[path]): \(note.problem)")
            }
        }
        for (index, items) in items.enumerated() { add(items.notes(catalogue), of: "items[\(index)]") }
        for (index, rule) in outcomes.enumerated() {
            let rule = try OutcomeRule(rule, id: "", catalogue: catalogue, acceptsUnknownCategory: true)
            add(rule.notes(catalogue), of: "outcomes[\(index)]")
        }
        for (index, rule) in faults.enumerated() {
            add(try FaultRule(rule, id: "").notes(routes), of: "faults[\(index)]")
        }
        for (index, event) in timeline.enumerated() {
            switch event.action {
            case .fault(let rule):
                add(try FaultRule(rule, id: "").notes(routes), of: "timeline[\(index)].fault")
            case .insertItems(let items): add(items.notes(catalogue), of: "timeline[\(index)].insert_items")
            default: break
            }
        }
        for (index, expectation) in expectations.enumerated() {
            add(expectation.notes(routes), of: "expect[\(index)]")
        }
        return notes
    }
}

extension ScenarioItems {
    /// Notes on a brand and an item type that the catalogue lacks. Texts with a placeholder (`{n}`) are not looked
    /// up.
    fileprivate func notes(_ catalogue: Catalogue) -> [ErrorDetail] {
        let item = ItemMetadata(members: template.item)
        func given(_ field: ItemField) -> String? { item.text(field).flatMap { $0.contains("{n}") ? nil : $0 } }
        var notes: [ErrorDetail] = []
        if let brand = given(.brand), catalogue.brand(matching: brand) == nil {
            notes.append(ErrorDetail("\(prefix)brand", "the catalogue has no brand \"\(brand)\""))
        }
        if let type = given(.itemType) {
            let known = catalogue.brands.flatMap { $0.categories.flatMap(\.itemTypes) }
            if !known.contains(where: { $0.lowercased().isIdentical(to: type.lowercased()) }) {
                notes.append(ErrorDetail("\(prefix)item_type", "the catalogue has no item type \"\(type)\""))
            }
        }
        return notes
    }
}
