import SimulationAPI

extension FieldReader {
    /// A size in bytes in a range: text with a unit such as `64MB`, or a whole number.
    package mutating func size(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let bounds = "from \(range.lowerBound) to \(range.upperBound) bytes"
        return value(key, "must be a size such as \(SizeText.examples), \(bounds)") { value in
            value.bytes.flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension JSONValue {
    /// The size of text such as `64MB`, or of a whole number; `nil` if the value is neither.
    fileprivate var bytes: Int? {
        switch self {
        // 25.0 is a whole number too.
        case .number(let number): number.integer ?? Int(exactly: number.double)
        case .string(let text): SizeText.bytes(text)
        default: nil
        }
    }

    /// The document with the size at a path as a number of bytes, so that answers have numbers whatever a client sent. Unchanged
    /// if there is no text of a size.
    ///
    /// - Parameter path: the names of members, from the outermost on.
    package func countingBytes(at path: [String]) -> JSONValue {
        guard let name = path.first else {
            guard case .string(let text) = self, let bytes = SizeText.bytes(text) else { return self }
            return .number(JSONNumber(bytes))
        }
        guard var members, let value = members[name] else { return self }
        members[name] = value.countingBytes(at: Array(path.dropFirst()))
        return .object(members)
    }
}
