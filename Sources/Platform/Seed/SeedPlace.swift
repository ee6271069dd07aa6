import EntrupyAPI

/// Where a node stands in a document. Made into text only where something is wrong there.
indirect enum SeedPlace: Sendable {
    case document
    case member(String, of: SeedPlace)
    case element(Int, of: SeedPlace)

    /// For instance `organizations[0].name`; empty for the document.
    var path: String {
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
struct SourceLines: Sendable {
    let line: Int
    var members: [TextKey: SourceLines] = [:]
    var elements: [SourceLines] = []

    /// The line of the innermost part that a path leads to or through, for instance `timeline[1].at`.
    subscript(path: String) -> Int {
        var part = self
        var rest = Substring(path)
        while let next = part.next(&rest) { part = next }
        return part.line
    }

    /// The part that the path's first step leads to, which is taken off the path; `nil` at its end, or if there is none.
    private func next(_ path: inout Substring) -> SourceLines? {
        if path.begins(with: ".") { path = Substring(path.utf8.dropFirst()) }
        if path.begins(with: "[") {
            let number = Substring(path.prefix(before: "]").utf8.dropFirst())
            guard let index = Int(number), elements.indices.contains(index) else { return nil }
            path = Substring(path.utf8.dropFirst(number.utf8.count + 2))
            return elements[index]
        }
        // A name may itself hold what separates names: then it stands alone, or its part is not found.
        for name in [path.prefix(before: ".").prefix(before: "["), path] {
            guard let member = members[TextKey(name)] else { continue }
            path = Substring(path.utf8.dropFirst(name.utf8.count))
            return member
        }
        return nil
    }
}

/// Names of which each is known in a moment, however many they are.
struct KnownNames {
    let names: [String]
    private let keys: Set<TextKey>

    init(_ names: [String]) {
        self.names = names
        keys = Set(names.map { TextKey($0) })
    }

    func contains(_ name: String) -> Bool { keys.contains(TextKey(name)) }
}
