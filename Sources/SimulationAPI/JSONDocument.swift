/// A JSON document whose members have an order, which ``JSONValue`` does not keep.
package indirect enum JSONDocument: Sendable {
    /// A text, number, truth value or null.
    case scalar(JSONValue)
    /// The members in order, each name once.
    case object([(name: String, value: JSONDocument)])
    case array([JSONDocument])

    /// The document of a value, with members in the order of the bytes of their names.
    package init(_ value: JSONValue) {
        switch value {
        case .object(let members): self = .object(members.sorted.map { ($0.name, JSONDocument($0.value)) })
        case .array(let elements): self = .array(elements.map { JSONDocument($0) })
        default: self = .scalar(value)
        }
    }

    /// The document of a wire type, with members in the order in which the type lists them: that of the description.
    ///
    /// - Throws: `EncodingError` if the value holds a number that JSON cannot represent.
    package init(encoding value: some Encodable) throws {
        self.init(try JSONTextEncoder.part(value))
    }

    private init(_ part: JSONPart) {
        switch part {
        case .value(let value): self.init(value)
        case .number(let text): self = .scalar(.number(JSONNumber(text: text)))
        case .object(let members): self = .object(members.listed.map { ($0.name, JSONDocument($0.value)) })
        case .array(let elements): self = .array(elements.list.map { JSONDocument($0) })
        case .nested(let encoder): self.init(encoder.part)
        }
    }

    /// The bytes of the document, with its members in their order. Without spaces they are written as ``WireJSON`` writes answers.
    ///
    /// - Parameter isSpaced: whether a space follows each colon, and none the commas. No common encoder writes so: a receiver that
    ///   verifies JSON which it has encoded again is refused, as in production [D webhook-body].
    package func bytes(isSpaced: Bool = false) -> [UInt8] {
        var text = JSONText()
        text.document(self, isSpaced: isSpaced)
        return text.bytes
    }
}

extension JSONText {
    fileprivate mutating func document(_ document: JSONDocument, isSpaced: Bool) {
        switch document {
        case .scalar(let value): self.value(value)
        case .array(let elements): array(elements) { $0.document($1, isSpaced: isSpaced) }
        case .object(let members): object(members, isSpaced: isSpaced) { $0.document($1, isSpaced: isSpaced) }
        }
    }
}
