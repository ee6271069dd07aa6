import SimulationAPI

/// The place of a node in a document. Its path is built only for error messages.
package indirect enum SeedPlace: Sendable {
    case document
    case member(String, of: SeedPlace)
    case element(Int, of: SeedPlace)

    /// The path, for instance `organizations[0].name`; empty for the document.
    package var path: String {
        var steps: [String] = []
        var place = self
        while true {
            switch place {
            case .document:
                let path = steps.reversed().joined()
                return path.begins(with: ".") ? String(decoding: path.utf8.dropFirst(), as: UTF8.self) : path
            case .member(let name, let parent):
                steps.append("." + name)
                place = parent
            case .element(let index, let parent):
                steps.append("[\(index)]")
                place = parent
            }
        }
    }
}

/// The line at which each part of a document begins.
package struct SourceLines: Sendable {
    package let line: Int
    package var members: [TextKey: SourceLines] = [:]
    package var elements: [SourceLines] = []

    /// The line of the innermost part on a path, for instance `timeline[1].at`.
    package subscript(path: String) -> Int {
        var part = self
        var rest = Substring(path)
        while let next = part.next(&rest) { part = next }
        return part.line
    }

    /// The part that the path's first step leads to, or `nil` if there is none. Removes the step from the path.
    private func next(_ path: inout Substring) -> SourceLines? {
        if path.begins(with: ".") { path = Substring(path.utf8.dropFirst()) }
        if path.begins(with: "[") {
            let number = Substring(path.prefix(before: "]").utf8.dropFirst())
            guard let index = Int(number), elements.indices.contains(index) else { return nil }
            path = Substring(path.utf8.dropFirst(number.utf8.count + 2))
            return elements[index]
        }
        // A name may itself contain separators. It is then found only as the last step of the path.
        for name in [path.prefix(before: ".").prefix(before: "["), path] {
            guard let member = members[TextKey(name)] else { continue }
            path = Substring(path.utf8.dropFirst(name.utf8.count))
            return member
        }
        return nil
    }
}

/// A list of names with fast lookup.
package struct KnownNames {
    package let names: [String]
    private let keys: Set<TextKey>

    package init(_ names: [String]) {
        self.names = names
        keys = Set(names.map { TextKey($0) })
    }

    package func contains(_ name: String) -> Bool { keys.contains(TextKey(name)) }
}
