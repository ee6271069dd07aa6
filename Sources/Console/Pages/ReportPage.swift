import Foundation
import SimulationAPI

/// The history of the namespace, as one file that opens without a server.
enum ReportPage {
    private struct View: Encodable, Sendable {
        let isEmpty: Bool
        /// The name that the form offers for the files, without an ending.
        let offered: String
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let newest = try await api.get("requests", [("limit", "1")], as: RequestList.self)
        return PagePart(
            section: "report", title: "Report", template: "namespace-report",
            view: View(isEmpty: newest.requests.isEmpty, offered: request.namespace))
    }

    /// The file itself. Reads all that it shows, which takes seconds for thousands of requests.
    ///
    /// - Parameter name: the name of the file, of which the page has its title.
    /// - Throws: ``ConsoleProblem``.
    static func file(
        _ name: String, _ request: ConsoleRequest, _ console: Console, _ api: @escaping ControlAPI
    ) async throws -> ConsolePage {
        guard isFileName(name) else { throw ConsoleProblem.noSuchPage }
        let gate = try await gate(ControlReader(api: api))
        let report = try await Report(console, title: String(name.dropLast(5)), gate: gate, api) { path in
            let (status, body) = await api(path)
            return status == 200 ? body : nil
        }
        return ConsolePage(status: 200, html: report.html, file: name)
    }

    /// The verification of the scenario that the namespace was started from; `nil` if there is none.
    private static func gate(_ api: ControlReader) async throws -> ReportGate? {
        let started = try await api.events([("kind", "scenario.started"), ("limit", "1")])
        guard let name = started.first?.subject else { return nil }
        do {
            return try await api.get("scenarios/\(URLPart.escaped(name))", as: ScenarioDetails.self).run.map {
                .verified($0)
            }
        } catch ConsoleProblem.refused(_, let envelope?) {
            // The page says why its expectations could not be checked, and shows the rest.
            return .unverifiable(name: name, reason: envelope.error)
        }
    }

    /// Whether a name may stand in a header and be that of a file: letters, digits, `.`, `_` and `-`, with the ending `.html`.
    static func isFileName(_ name: String) -> Bool {
        let known = name.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
        return known && name.hasSuffix(".html") && !name.hasPrefix(".") && (6...105).contains(name.utf8.count)
    }
}
