import SimulationAPI

/// A list of names with fast lookup.
package struct KnownNames {
    package let names: [String]
    /// The names for messages. Those of a document may be many, and each of its problems may name them.
    package let listed: String
    private let places: [TextKey: Int]

    /// The number of names that a message has.
    private static let maxListed = 20

    package init(_ names: [String]) {
        self.names = names
        let more = names.count > Self.maxListed ? " and \(names.count - Self.maxListed) more" : ""
        listed = names.prefix(Self.maxListed).joined(separator: ", ") + more
        places = Dictionary(names.enumerated().map { (TextKey($1), $0) }) { first, _ in first }
    }

    package func contains(_ name: String) -> Bool { places[TextKey(name)] != nil }

    /// The known ones of some names, in the order of this list.
    package func sorted(_ names: some Sequence<String>) -> [String] {
        names.compactMap { name in places[TextKey(name)].map { (place: $0, name: name) } }
            .sorted { $0.place < $1.place }.map(\.name)
    }
}
