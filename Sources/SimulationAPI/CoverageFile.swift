import Foundation

extension Coverage {
    /// The limits of a file of coverage. What this program writes stays far below [D coverage].
    package enum FileLimits {
        package static let bytes = 16_000_000
        static let axes = 100
        static let edges = 10_000
        static let idBytes = 500
        /// The end of the year 9999, in epoch seconds.
        static let time = 253_402_300_799.0
    }

    /// The maximum number of tests that an edge names.
    package static let maxTests = 20
    /// The maximum length of the name of a test, in bytes.
    package static let maxTestBytes = 200

    /// A file that does not hold coverage.
    package struct FileProblem: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads a file of coverage.
    ///
    /// - Throws: ``FileProblem``.
    package init(file data: Data) throws {
        func problem(_ text: String) -> FileProblem { FileProblem(description: text) }
        guard data.count <= FileLimits.bytes else {
            throw problem("it has \(data.count) bytes, more than the \(FileLimits.bytes) that coverage can have")
        }
        do {
            // The strict reader bounds depth and names before the decoder sees the text.
            _ = try StrictJSON.parse([UInt8](data))
            self = try WireJSON.decode(Coverage.self, from: data)
        } catch {
            throw problem("it does not hold the JSON that \"entrupy-sim coverage --save\" writes")
        }
        guard sources.allSatisfy({ $0.utf8.count <= FileLimits.idBytes }) else {
            throw problem("one of its \"sources\" is too long")
        }
        guard axes.count <= FileLimits.axes else { throw problem("it has \(axes.count) axes") }
        for axis in axes {
            guard axis.edges.count <= FileLimits.edges else {
                throw problem("the axis \(axis.id.excerpt) has \(axis.edges.count) edges")
            }
            for edge in axis.edges {
                guard edge.reached >= 0, edge.injected >= 0 else {
                    throw problem("the edge \(edge.id.excerpt) was met fewer than 0 times")
                }
                guard edge.id.utf8.count <= FileLimits.idBytes, axis.id.utf8.count <= FileLimits.idBytes else {
                    throw problem("the name of the edge \(edge.id.excerpt) is too long")
                }
            }
        }
        // The sums of the file are not believed.
        axes = axes.map { Axis(id: $0.id, title: $0.title, edges: $0.edges.map(\.bounded)) }
    }

    /// The sum of counts of which none has those of another. Edges that only some have are kept. Those are of other versions.
    package static func sum(_ parts: [Coverage]) -> Coverage { combined(parts) { Edge.sum($0, $1) } }

    /// Puts edges together, with the numbers that `numbers` makes of two.
    static func combined(_ parts: [Coverage], _ numbers: (Int, Int) -> Int) -> Coverage {
        let ordered = parts.sorted { $0.since < $1.since }
        var axes: [(id: String, title: String)] = []
        var edges: [String: [Edge]] = [:]
        var places: [Name: Int] = [:]
        for axis in ordered.flatMap(\.axes) {
            if edges[axis.id] == nil {
                axes.append((axis.id, axis.title))
                edges[axis.id] = []
            }
            for edge in axis.edges {
                let name = Name(axis.id, edge.id)
                if let place = places[name] {
                    edges[axis.id]?[place].add(edge, numbers)
                } else {
                    places[name] = edges[axis.id]?.count
                    edges[axis.id]?.append(edge)
                }
            }
        }
        return Coverage(
            since: ordered.first?.since ?? 0, since_restart: parts.contains(where: \.since_restart),
            sources: Set(parts.flatMap(\.sources)).sorted(),
            axes: axes.map { Axis(id: $0.id, title: $0.title, edges: edges[$0.id] ?? []) })
    }
}

extension Coverage.Edge {
    /// The edge with as many tests, of such a length, as this program keeps.
    fileprivate var bounded: Self {
        var edge = self
        edge.tests = tests.prefix(Coverage.maxTests).map { Coverage.boundedTest($0) }
        if edge.isMet { edge.meet_with = nil }
        return edge
    }

    /// Adds what another part counted, which began later.
    package mutating func add(_ other: Self, _ numbers: (Int, Int) -> Int) {
        reached = numbers(reached, other.reached)
        injected = numbers(injected, other.injected)
        fault_only = fault_only || other.fault_only
        for test in other.tests where tests.count < Coverage.maxTests {
            if !tests.contains(where: { $0.isIdentical(to: test) }) { tests.append(test) }
        }
        first = first ?? other.first
        meet_with = isMet ? nil : meet_with ?? other.meet_with
    }

    /// A sum that stays at the largest number: the numbers of a file may be any.
    package static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

extension Coverage {
    /// The name of a test, cut to ``maxTestBytes``.
    package static func boundedTest(_ name: String) -> String {
        guard name.utf8.count > maxTestBytes else { return name }
        var cut = String.UnicodeScalarView()
        var bytes = 0
        for scalar in name.unicodeScalars {
            bytes += scalar.utf8.count
            if bytes > maxTestBytes - "…".utf8.count { break }
            cut.append(scalar)
        }
        return String(cut) + "…"
    }
}
