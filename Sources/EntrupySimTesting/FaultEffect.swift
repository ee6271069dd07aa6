import SimulationAPI

/// The effect of a fault. Those that the server has are constants and functions of this type, made from the description.
public struct FaultEffect: Sendable {
    let value: JSONValue

    /// An effect by its name on the wire, for effects of a newer server.
    public init(_ name: String, _ value: JSONValue = .bool(true)) {
        self.value = .object([name: value])
    }

    /// - Parameter beside: further members of the effect; those that are `nil` are left out.
    init(_ name: String, _ value: JSONValue, beside others: KeyValuePairs<String, JSONValue?>) {
        self.value = .object(JSONObject([(name, value)] + others.compactMap { key, value in value.map { (key, $0) } }))
    }

    /// - Parameter options: the members of the effect's argument, which is `true` if all are `nil`.
    init(_ name: String, options: KeyValuePairs<String, JSONValue?>) {
        let given = options.compactMap { key, value in value.map { (key, $0) } }
        self.init(name, given.isEmpty ? .bool(true) : .object(JSONObject(given)))
    }
}

/// A value in a request to the control API, with its form on the wire.
protocol ControlValue {
    var json: JSONValue { get }
}

/// The name of such a value in the generated effects.
typealias FaultArgument = ControlValue

extension ControlValue where Self: RawRepresentable, RawValue == String {
    var json: JSONValue { .string(rawValue) }
}

extension JSONValue: ControlValue { var json: JSONValue { self } }
extension Bool: ControlValue { var json: JSONValue { .bool(self) } }
extension String: ControlValue { var json: JSONValue { .string(self) } }
extension Int: ControlValue { var json: JSONValue { .number(JSONNumber(self)) } }
extension SimulatedDuration: ControlValue { var json: JSONValue { .string(text) } }
extension Array: ControlValue where Element: ControlValue { var json: JSONValue { .array(map(\.json)) } }
extension Dictionary: ControlValue where Key == String, Value: ControlValue {
    var json: JSONValue { .object(JSONObject(map { ($0, $1.json) })) }
}
