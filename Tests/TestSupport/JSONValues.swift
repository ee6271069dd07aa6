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

extension JSONValue: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}
