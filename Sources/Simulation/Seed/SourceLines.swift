import SimulationAPI

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
