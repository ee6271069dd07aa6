import SimulationAPI

/// An action in a scenario's timeline [D scenarios].
package struct ScenarioAction: Sendable {
    package let name: String
    /// Performs the action. Writes. Throws ``PlatformError`` if the action fails.
    package let perform: @Sendable (JobContext) throws -> Void
    /// Notes on parts that can never match.
    package let notes: @Sendable (ScenarioSurroundings) throws -> [ErrorDetail]

    package init(
        _ name: String, perform: @escaping @Sendable (JobContext) throws -> Void,
        notes: @escaping @Sendable (ScenarioSurroundings) throws -> [ErrorDetail] = { _ in [] }
    ) {
        self.name = name
        self.perform = perform
        self.notes = notes
    }

    /// A kind of action.
    package struct Kind: Sendable {
        package let name: String
        /// Reads and checks an action. Throws ``PlatformError/invalid(_:_:)``, with fields that begin with the name.
        package let read: @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws -> ScenarioAction

        package init(
            _ name: String,
            read:
                @escaping @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws
                -> ScenarioAction
        ) {
            self.name = name
            self.read = read
        }

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
                return ScenarioAction(name, perform: perform)
            }
        }
    }

    /// Runs `body` and prefixes the fields of its errors with the action's name.
    package static func within<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PlatformError where error.kind == .invalid {
            throw PlatformError.invalid(
                error.message,
                error.details.map { ErrorDetail($0.field.isEmpty ? name : "\(name).\($0.field)", $0.problem) })
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
    package var routes: [(method: String, path: Glob)] = []

    package var platforms: Platforms { seed.platforms }
}

extension ScenarioAction.Kind {
    /// Adds a fault rule, in the format of `POST /_sim/faults`.
    private static let fault = Self("fault") { value, surroundings in
        let rule = try ScenarioAction.within("fault") { try FaultRule(value, id: "", surroundings.platforms) }
        return ScenarioAction("fault") {
            _ = try AddFault(value).perform($0)
        } notes: { surroundings in
            rule.notes(surroundings.routes).map { ErrorDetail("fault.\($0.field)", $0.problem) }
        }
    }

    private static let clearFaults = Self("clear_faults") { value, _ in
        guard [.bool(true), .null, .object([:])].contains(value) else {
            throw PlatformError.invalid(field: "clear_faults", "must be true")
        }
        return ScenarioAction("clear_faults") { try RemoveFaults(nil).perform($0) }
    }

    /// Applies a merge patch to the settings.
    private static let settings = Self("settings") { value, surroundings in
        guard value.members != nil else {
            throw PlatformError.invalid(field: "settings", "must be an object, got \(value.quoted)")
        }
        _ = try ScenarioAction.within("settings") {
            try Settings(surroundings.settings.merging(value), surroundings.seed)
        }
        return ScenarioAction("settings") { _ = try PatchSettings(value).perform($0) }
    }

    /// The engine's own kinds.
    package static let ofEngine: [Self] = [fault, clearFaults, settings]
}
