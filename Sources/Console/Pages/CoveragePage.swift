import Foundation
import SimulationAPI

/// Which documented edges were met, as a map: in the console, and as a page of its own that opens without a server [D coverage].
package enum CoveragePage {
    /// The page of the console: the namespace's coverage, in `default` that of the whole server.
    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let coverage = try await api.get("coverage", as: Coverage.self)
        let isServer = request.namespace == "default"
        let view: View = [
            "isServer": isServer, "isNamespace": !isServer, "map": try map(coverage, nil),
            "since": Moment.text(coverage.since), "serverLink": "/_sim/console/coverage",
        ]
        return PagePart(section: "coverage", title: "Coverage", template: "coverage", view: view)
    }

    /// The page in a file.
    ///
    /// - Parameter difference: the differences from a baseline; `nil` if there is none.
    package static func file(
        _ coverage: Coverage, _ difference: Coverage.Difference?, version: String
    ) throws -> String {
        let style = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
        let lost = difference?.lost ?? []
        return try PageTemplates.render(
            [
                "version": version, "style": style, "since": Moment.text(coverage.since),
                "policy":
                    "default-src 'none'; style-src \(ContentPolicy.source(of: style)); base-uri 'none'; form-action 'none'",
                "map": try map(coverage, difference), "hasBaseline": difference != nil, "hasLost": !lost.isEmpty,
                "lost": lost.map { ["axis": $0.axis, "edge": $0.edge] },
                "lostCount": ReportReasons.count(lost.count, "edge"),
                "unknown": (difference?.unknown ?? []).map { ["axis": $0.axis, "edge": $0.edge] },
                "hasUnknown": difference?.unknown.isEmpty == false,
                "gained": ReportReasons.count(difference?.gained.count ?? 0, "edge"),
            ], "coverage-file")
    }

    /// The map of all axes.
    private static func map(_ coverage: Coverage, _ difference: Coverage.Difference?) throws -> String {
        let lost = Set(difference?.lost ?? [])
        let axes = coverage.axes.enumerated().map { index, axis in axisView(axis, "a\(index)", lost) }
        return try PageTemplates.render(["axes": axes, "hasLost": !lost.isEmpty], "coverage-map")
    }

    private static func axisView(_ axis: Coverage.Axis, _ anchor: String, _ lost: Set<Coverage.Name>) -> View {
        let cells = axis.edges.enumerated().map { index, edge in
            cell(edge, "\(anchor)-\(index)", isLost: lost.contains(Coverage.Name(axis.id, edge.id)))
        }
        let missing = zip(cells, axis.edges).filter { !$1.isMet }.map(\.0)
        let met = zip(cells, axis.edges).filter { $1.isMet }.map(\.0)
        let rows = axis.id == "answers" ? answerRows(axis, cells) : []
        return [
            "id": axis.id, "title": axis.title, "reached": axis.reached, "of": axis.of, "anchor": anchor,
            "percentless": "\(axis.reached) of \(axis.of)", "isMatrix": !rows.isEmpty, "rows": rows,
            "isList": rows.isEmpty, "cells": rows.isEmpty ? cells : [], "missing": missing, "met": met,
            "hasMissing": !missing.isEmpty, "hasMet": !met.isEmpty, "missingCount": missing.count,
            "metCount": met.count,
            "max": max(1, axis.of),
        ]
    }

    /// A row for each operation, with a cell for each of its statuses.
    private static func answerRows(_ axis: Coverage.Axis, _ cells: [View]) -> [View] {
        var rows: [(operation: String, cells: [View])] = []
        for (edge, cell) in zip(axis.edges, cells) {
            let parts = edge.id.split(separator: " ").map(String.init)
            let operation = parts.dropLast().joined(separator: " ")
            var cell = cell
            cell["label"] = parts.last ?? ""
            if rows.last?.operation != operation { rows.append((operation, [])) }
            rows[rows.count - 1].cells.append(cell)
        }
        return rows.map { operation, cells in
            let words = operation.split(separator: " ", maxSplits: 1).map(String.init)
            return ["method": words.first ?? "", "path": words.dropFirst().first ?? "", "cells": cells]
        }
    }

    private static func cell(_ edge: Coverage.Edge, _ anchor: String, isLost: Bool) -> View {
        let state =
            isLost ? "lost" : edge.isMet ? "met" : edge.injected > 0 ? "injected" : "missing"
        let words = [
            "lost": "met before, not now", "met": "met", "injected": "injected only", "missing": "not met",
        ]
        let count = edge.fault_only ? edge.reached + edge.injected : edge.reached
        return [
            "name": edge.id, "label": edge.id, "state": state, "stateWords": words[state] ?? state, "anchor": anchor,
            "count": count, "injected": edge.injected, "hasInjected": edge.injected > 0 && !edge.fault_only,
            "isFaultOnly": edge.fault_only, "tests": edge.tests, "hasTests": !edge.tests.isEmpty,
            "firstNamespace": edge.first?.namespace ?? "", "firstRequest": edge.first?.request ?? "",
            "hasFirst": edge.first != nil, "meetWith": edge.meet_with ?? "",
            "hasWay": edge.meet_with?.isEmpty == false,
        ]
    }
}
