import SimulationAPI

/// A part of a scenario that changes its namespace: an action of the timeline, or an element of a list that sets the namespace
/// up [D scenarios].
package struct ScenarioAction: Sendable {
    /// Performs the action. Writes. Throws ``PlatformError`` if the action fails.
    package let perform: @Sendable (JobContext) throws -> Void
    /// Notes on parts that can never match.
    package let notes: @Sendable (ScenarioSurroundings) throws -> [ErrorDetail]

    package init(
        perform: @escaping @Sendable (JobContext) throws -> Void,
        notes: @escaping @Sendable (ScenarioSurroundings) throws -> [ErrorDetail] = { _ in [] }
    ) {
        self.perform = perform
        self.notes = notes
    }

    /// Reads and checks an action. Throws ``PlatformError/invalid(_:_:)``.
    package typealias Reader =
        @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws -> ScenarioAction

    /// A kind of action in the timeline.
    package struct Kind: Sendable {
        package let name: String
        /// Reads an action; the fields of errors begin with the name.
        package let read: Reader

        /// A kind whose value is an object with certain members.
        ///
        /// - Parameter read: reads the members; problems go to the fields.
        package init(
            _ name: String, members: [String],
            read:
                @escaping @Sendable (_ fields: inout FieldReader, _ surroundings: ScenarioSurroundings) throws
                -> @Sendable (JobContext) throws -> Void
        ) {
            self.init(name) { value, surroundings in
                var fields = FieldReader(value, at: name, known: members)
                let perform = try read(&fields, surroundings)
                try fields.finish()
                return ScenarioAction(perform: perform)
            }
        }

        /// A kind whose value is an element of a list that sets up namespaces.
        package init(_ name: String, as section: ScenarioSection) {
            self.init(name) { value, surroundings in
                let action = try Self.within(name) { try section.read(value, surroundings) }
                return ScenarioAction(perform: action.perform) {
                    try action.notes($0).map { ErrorDetail("\(name).\($0.field)", $0.problem) }
                }
            }
        }

        private init(_ name: String, read: @escaping Reader) {
            self.name = name
            self.read = read
        }

        /// Runs `body` and prefixes the fields of its errors with the action's name.
        private static func within<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch let error as PlatformError where error.kind == .invalid {
                throw PlatformError.invalid(
                    error.message,
                    error.details.map { ErrorDetail($0.field.isEmpty ? name : "\(name).\($0.field)", $0.problem) })
            }
        }
    }
}

/// The values that a scenario is read with.
package struct ScenarioSurroundings: Sendable {
    /// The seed data of the scenario's namespace.
    package let seed: Seed
    /// The initial settings of a namespace.
    package let settings: JSONValue
    /// The platform's routes; empty if they do not matter.
    package var routes: [KnownRoute] = []

    package var platforms: Platforms { seed.platforms }
}

extension ScenarioAction.Kind {
    private static let clearFaults = Self("clear_faults") { value, _ in
        guard [.bool(true), .null, .object([:])].contains(value) else {
            throw PlatformError.invalid(field: "clear_faults", "must be true")
        }
        return ScenarioAction { try RemoveFaults(nil).perform($0) }
    }

    /// Applies a merge patch to the settings.
    private static let settings = Self("settings") { value, surroundings in
        guard value.members != nil else {
            throw PlatformError.invalid(field: "settings", "must be an object, got \(value.quoted)")
        }
        _ = try within("settings") { try Settings(surroundings.settings.merging(value), surroundings.seed) }
        return ScenarioAction { _ = try PatchSettings(value).perform($0) }
    }

    /// The engine's own kinds.
    package static let ofEngine: [Self] = [Self("fault", as: .faults), clearFaults, settings]
}
