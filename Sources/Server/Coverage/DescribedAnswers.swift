import SimulationAPI

/// The documented answers of the platforms' routes. `make generate` makes their lines from the description.
enum DescribedAnswers {
    struct Operation: Equatable, Sendable {
        let method: String
        /// With `{name}` for its parameters.
        let path: String
        let statuses: [Int]
    }

    /// The documented statuses of an operation; `nil` if it is not documented.
    static func statuses(_ method: String, _ path: String) -> [Int]? {
        all.first { $0.method.isIdentical(to: method) && $0.path.isIdentical(to: path) }?.statuses
    }

    /// The operations of the platforms, in the order of the description.
    static let all: [Operation] = lines.split(at: "\n").compactMap { line in
        let words = line.split(at: " ").map(String.init)
        guard !Target(words[1]).isSimulators, words[1] != "/" else { return nil }
        return Operation(method: words[0], path: words[1], statuses: words.dropFirst(2).compactMap { Int($0) })
    }
}

struct AnswerEdges: Sendable {
    let edges: [(status: Int, edge: Int)]

    /// The number of the edge of a status; `nil` if the status is not documented.
    subscript(status: Int) -> Int? { edges.first { $0.status == status }?.edge }
}
