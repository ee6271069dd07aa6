import SimulationAPI

extension ScenarioDocument {
    /// Notes on parts of the scenario that can never match [D scenarios].
    ///
    /// These are routes, methods and webhook events that do not exist, and names that the seed data lacks. They are
    /// probably misspelt, but each may be intended.
    ///
    /// - Returns: the notes, in the order of the scenario's parts; each problem begins with its line.
    package func notes(_ surroundings: ScenarioSurroundings) throws -> [ErrorDetail] {
        var notes: [ErrorDetail] = []
        func add(_ found: [ErrorDetail], of part: String) {
            notes += found.map { note in
                let path = "\(part).\(note.field)"
                return ErrorDetail(path, "line \(place.lines[path]): \(note.problem)")
            }
        }
        for (section, parts) in parts {
            for (index, part) in parts.enumerated() {
                add(try part.notes(surroundings), of: "\(section.key)[\(index)]")
            }
        }
        for (index, event) in timeline.enumerated() {
            add(try event.action.notes(surroundings), of: "timeline[\(index)]")
        }
        for (index, expectation) in expectations.enumerated() {
            add(expectation.notes(surroundings), of: "expect[\(index)]")
        }
        return notes
    }
}
