import SimulationAPI

/// A header of a delivery attempt, or of the answer that a fault rule gives, in place of one of the same name [D fault-rules].
package struct HeaderField: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The maximum number of headers of a fault rule, and the maximum length of a value, in bytes.
    private static let (maxCount, maxValue) = (20, 1000)
    /// The headers that the server sets by the answer's body and connection.
    private static let refused = ["connection", "content-length", "date", "transfer-encoding"]

    /// Reads `headers` of an effect. Problems go to `effect`.
    static func read(_ effect: inout FieldReader) -> [HeaderField] {
        let expected = "must be an object of texts, for instance {\"Retry-After\": \"30\"}"
        guard let members = effect.value("headers", expected, \.members) else { return [] }
        guard members.count <= maxCount else {
            effect.report("headers", "must have at most \(maxCount) members, got \(members.count)")
            return []
        }
        var fields = effect.object("headers")
        var known: Set<String> = []
        return members.sorted.compactMap { name, value in
            guard name.utf8.count <= 100, name.isHTTPToken else {
                fields.report(name, "is not the name of a header: letters, digits and !#$%&'*+-.^_`|~, at most 100")
                return nil
            }
            guard !refused.contains(name.lowercased()) else {
                fields.report(name, "is set by the server; it cannot be \(refused.joined(separator: ", "))")
                return nil
            }
            guard known.insert(name.lowercased()).inserted else {
                fields.report(name, "is given twice, in upper and lower case")
                return nil
            }
            guard let text = value.text, isValue(text) else {
                fields.report(
                    name,
                    "must be a text of visible ASCII characters and spaces, at most \(maxValue), got \(value.quoted)")
                return nil
            }
            return HeaderField(name: name, value: text)
        }
    }

    private static func isValue(_ text: String) -> Bool {
        text.utf8.count <= maxValue && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            && text.utf8.first != UInt8(ascii: " ") && text.utf8.last != UInt8(ascii: " ")
    }
}
