import Foundation
import SimulationAPI

/// Which documented edges were met, as a map: in the console, and as a page of its own that opens without a server [D coverage].
package enum CoveragePage {
    private struct View: Encodable, Sendable {
        let isServer, isSinceRestart: Bool
        let since: Double
        /// HTML.
        let map: String
    }

    /// The page of the console: the namespace's coverage, in `default` that of the whole server.
    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let coverage = try await api.get("coverage", as: Coverage.self)
        let view = View(
            isServer: request.namespace == "default", isSinceRestart: coverage.since_restart, since: coverage.since,
            map: try map(coverage, nil))
        return PagePart(section: "coverage", title: "Coverage", template: "coverage", view: view)
    }

    private struct File: Encodable {
        let version, style, policy, since: String
        /// The differences from the baseline; `nil` if there is none.
        let baseline: Baseline?
        /// HTML.
        let map: String

        struct Baseline: Encodable {
            let lost: Rows<[String: String]>?
            let lostCount, gained: String
            let unknown: Rows<[String: String]>?
        }
    }

    /// The page in a file.
    ///
    /// - Parameter difference: the differences from a baseline; `nil` if there is none.
    package static func file(
        _ coverage: Coverage, _ difference: Coverage.Difference?, version: String
    ) throws -> String {
        let style = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
        let policy =
            "default-src 'none'; style-src \(ContentPolicy.source(of: style)); base-uri 'none'; form-action 'none'"
        func rows(_ edges: [Coverage.Name]) -> Rows<[String: String]>? {
            Rows(edges.map { ["axis": $0.axis, "edge": $0.edge] })
        }
        let baseline = difference.map {
            File.Baseline(
                lost: rows($0.lost), lostCount: Counted.text($0.lost.count, "edge"),
                gained: Counted.text($0.gained.count, "edge"), unknown: rows($0.unknown))
        }
        return try PageTemplates.render(
            File(
                version: version, style: style, policy: policy, since: Moment.text(coverage.since),
                baseline: baseline, map: try map(coverage, difference)), "coverage-file")
    }

    private struct Map: Encodable {
        let axes: [Axis]
        let hasLost: Bool
    }

    private struct Axis: Encodable {
        let id, title, anchor: String
        let reached, of, max: Int
        /// The answers by operation; `nil` on another axis.
        let rows: Rows<Operation>?
        let cells: [Cell]
        let missing, met: Rows<Cell>?
    }

    private struct Operation: Encodable, Sendable {
        let method, path: String
        var cells: [Cell]
    }

    private struct Cell: Encodable, Sendable {
        let edge: Coverage.Edge
        let anchor: String
        /// The last word of the name, which is an answer's status.
        let status: String
        let state, stateWords: String
        let count: Int
        /// The number of times that a fault injected it, where that proves nothing; `nil` for none.
        let injected: Int?
        let tests: Rows<String>?
        let meetWith: String?

        init(_ edge: Coverage.Edge, _ anchor: String, isLost: Bool) {
            let state = isLost ? "lost" : edge.isMet ? "met" : edge.injected > 0 ? "injected" : "missing"
            let words = [
                "lost": "met before, not now", "met": "met", "injected": "injected only", "missing": "not met",
            ]
            (self.edge, self.anchor) = (edge, anchor)
            status = edge.id.split(separator: " ").last.map(String.init) ?? ""
            self.state = state
            stateWords = words[state] ?? state
            count = edge.count
            injected = edge.injected > 0 && !edge.fault_only ? edge.injected : nil
            tests = Rows(edge.tests)
            meetWith = edge.meet_with?.nonEmpty
        }
    }

    private static func map(_ coverage: Coverage, _ difference: Coverage.Difference?) throws -> String {
        let lost = Set(difference?.lost ?? [])
        let axes = coverage.axes.enumerated().map { axis($1, "a\($0)", lost) }
        return try PageTemplates.render(Map(axes: axes, hasLost: !lost.isEmpty), "coverage-map")
    }

    private static func axis(_ axis: Coverage.Axis, _ anchor: String, _ lost: Set<Coverage.Name>) -> Axis {
        let cells = axis.edges.enumerated().map { index, edge in
            Cell(edge, "\(anchor)-\(index)", isLost: lost.contains(Coverage.Name(axis.id, edge.id)))
        }
        let missing = zip(cells, axis.edges).filter { !$1.isMet }.map(\.0)
        let met = zip(cells, axis.edges).filter { $1.isMet }.map(\.0)
        let rows = axis.id == "answers" ? Rows(operations(cells)) : nil
        return Axis(
            id: axis.id, title: axis.title, anchor: anchor, reached: axis.reached, of: axis.of, max: max(1, axis.of),
            rows: rows, cells: rows == nil ? cells : [], missing: Rows(missing), met: Rows(met))
    }

    /// A row for each operation, with a cell for each of its statuses.
    private static func operations(_ cells: [Cell]) -> [Operation] {
        var rows: [Operation] = []
        for cell in cells {
            let parts = cell.edge.id.split(separator: " ").map(String.init)
            let (method, path) = (parts.first ?? "", parts.dropFirst().dropLast().joined(separator: " "))
            if rows.last?.method != method || rows.last?.path != path {
                rows.append(Operation(method: method, path: path, cells: []))
            }
            rows[rows.count - 1].cells.append(cell)
        }
        return rows
    }
}
