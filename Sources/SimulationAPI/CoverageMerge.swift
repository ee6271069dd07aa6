extension Coverage {
    /// Several files as one, in which the same counts are there once.
    package struct Merge: Sendable {
        package let coverage: Coverage
        /// The number of files whose counts another one has too.
        package let repeated: Int
    }

    /// The sum of the coverage of several servers, runs or namespaces. Of the same counts, those of a namespace within its server's
    /// too, each edge has the larger number, which is the later one.
    ///
    /// - Throws: ``FileProblem`` if two parts share counts, and neither has all of the other's.
    package static func merged(_ parts: [Coverage]) throws -> Merge {
        var groups: [Coverage] = []
        var (owners, servers): ([String: Int], [String: Int]) = ([:], [:])
        // Those first that can have the counts of others.
        for part in parts.sorted(by: { $0.rank < $1.rank }) {
            let found = Set(part.sources.map { owners[$0] ?? owners[server(of: $0)] ?? servers[$0] })
            if let only = found.first, let group = only, found.count == 1,
                part.sources.allSatisfy({ owners[$0] ?? owners[server(of: $0)] != nil })
            {
                let sources = groups[group].sources
                groups[group] = combined([groups[group], part]) { max($0, $1) }
                groups[group].sources = sources
                continue
            }
            guard found.allSatisfy({ $0 == nil }) else {
                throw FileProblem(
                    description:
                        "some of the files share counts, and none of them has all: merge the files that they were made of"
                )
            }
            for source in part.sources {
                owners[source] = groups.count
                servers[server(of: source)] = groups.count
            }
            groups.append(part)
        }
        return Merge(coverage: sum(groups), repeated: parts.count - groups.count)
    }

    private var rank: (Int, Int) { (sources.contains { Self.server(of: $0) == $0 } ? 0 : 1, -sources.count) }

    /// The source of the server whose counts hold those of a source: it stands before the slash in that of a namespace.
    private static func server(of source: String) -> String { String(source.prefix { $0 != "/" }) }
}
