import SimulationAPI

extension JSONValue {
    /// The value at a path such as `status.result.id` or `steps.0.region_id`; null where there is none.
    public subscript(path: String) -> JSONValue {
        path.split(separator: ".").reduce(self) { value, key in
            switch value {
            case .object(let members): members[String(key)] ?? .null
            case .array(let elements): Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null
            default: .null
            }
        }
    }

    /// The elements of an array; none where it is no array.
    public var items: [JSONValue] { elements ?? [] }
    public var double: Double? { if case .number(let number) = self { number.double } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(text: String(value))) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}
