import Foundation
import Mustache
import SimulationAPI

/// A call of the control API: answers a GET of a path with a query, within the namespace of the page.
package typealias ControlAPI = @Sendable (_ path: String) async -> (status: Int, body: Data)

/// A request for a page of the console.
package struct ConsoleRequest: Sendable {
    /// The namespace's name.
    package let namespace: String
    /// The path after `/_sim/console`, split at slashes and percent-decoded.
    package let path: [String]
    /// The parameters of the query, decoded; the last value of each.
    package let query: [String: String]
    /// Whether pages show no actions.
    package let isReadOnly: Bool
    /// The beginning of absolute URLs that clients use.
    package let url: String

    package init(
        namespace: String, path: [String], query: [String: String], isReadOnly: Bool, url: String
    ) {
        self.namespace = namespace
        self.path = path
        self.query = query
        self.isReadOnly = isReadOnly
        self.url = url
    }

    /// The first component of the path, which names a page; `?` if it is not ASCII, because no page has such a name and
    /// comparing such a text may take quadratic time.
    var section: String {
        guard let first = path.first else { return "" }
        return first.utf8.allSatisfy { $0 < 0x80 } ? first : "?"
    }

    /// The path of the namespace: empty for `default`.
    var base: String { namespace == "default" ? "" : "/ns/\(namespace)" }

    /// The path of the console in this namespace.
    var console: String { base + "/_sim/console" }

    /// A parameter; `nil` if it is absent or empty.
    func given(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The one of a page's words that a parameter is; `nil` if it is absent or none of them.
    func given(_ name: String, of words: [String]) -> String? {
        given(name).flatMap { text in words.first { $0.isIdentical(to: text) } }
    }
}

/// A page of the console.
package struct ConsolePage: Sendable {
    package let status: Int
    package let html: String
    /// The name of the file that a browser writes the page to; `nil` if it shows the page.
    package var file: String?
}

/// The web console: pages that the server renders. It reads the control API through a closure. The script of the pages
/// changes things through the same API.
package struct Console: Sendable {
    /// The program's version.
    let version: String
    /// Proves that a change comes from a page of this run of the server. The pages' script sends it with each change.
    package let proof: String
    private let forms = DescribedForms.Cache()

    package init(version: String, proof: String) {
        self.version = version
        self.proof = proof
    }

    /// Renders the page that a request asks for. Problems are pages too.
    package func page(_ request: ConsoleRequest, _ api: @escaping ControlAPI) async -> ConsolePage {
        let reader = ControlReader(api: api)
        var part: PagePart
        do {
            if request.section == "report", request.path.count == 2 {
                return try await ReportPage.file(request.path[1], request, self, api)
            }
            part = try await self.part(request, reader)
        } catch {
            part = ProblemPage.part(error, request)
        }
        let frame = await Frame(request, reader, part, proof: proof)
        do {
            return ConsolePage(status: part.status, html: try PageTemplates.render(frame, part))
        } catch {
            return ConsolePage(status: 500, html: "the page cannot be made: \(error)")
        }
    }

    /// The number of entries that are newer than those of the live view, and whether there are more than were counted.
    package func news(_ request: ConsoleRequest, _ api: @escaping ControlAPI) async -> (count: Int, isMore: Bool) {
        await ActivityPage.news(request, ControlReader(api: api))
    }

    /// Finds the page of a path.
    private func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let path = request.path
        switch (request.section, path.count) {
        case ("", _): return try await ActivityPage.part(request, api)
        case ("requests", 2): return try await RequestPage.part(path[1], request, api)
        case ("explain", 2): return try await ExplanationPage.part(path[1], request, api)
        case ("audit", 1): return try await AuditPage.part(request, api)
        case ("items", 1): return try await ItemsPage.part(request, api)
        case ("items", 2): return try await ItemPage.part(path[1], request, api)
        case ("timeline", 1): return try await TimelinePage.part(request, api)
        case ("captures", 1): return try await CapturesPage.part(request, api)
        case ("users", 1): return try await UsersPage.part(request, api)
        case ("users", 2): return try await UserPage.part(path[1], request, api)
        case ("components", 1): return try await ComponentsPage.part(request, api)
        case ("rules", 1): return try await RulesPage.part(request, api, forms.read(api).effects)
        case ("scenarios", 1): return try await ScenariosPage.part(request, api)
        case ("scenarios", 2): return try await ScenarioPage.part(path[1], request, api)
        case ("webhooks", 1): return try await WebhooksPage.part(request, api)
        case ("webhooks", 2) where path[1].isIdentical(to: "check"):
            return PagePart(
                section: "webhooks", title: "Check a signature", template: "check", view: [String: String]())
        case ("webhooks", 3) where path[1].isIdentical(to: "deliveries"):
            return try await DeliveryPage.part(path[2], request, api)
        case ("report", 1): return try await ReportPage.part(request, api)
        case ("coverage", 1): return try await CoveragePage.part(request, api)
        case ("namespaces", 1): return try await NamespacesPage.part(request, api)
        case ("diff", 1): return try await DifferencePage.part(request, api)
        case ("settings", 1): return try await SettingsPage.part(request, api, forms.read(api).settings)
        default: throw ConsoleProblem.noSuchPage
        }
    }
}

/// The content of a page, without the frame around it.
struct PagePart {
    var status = 200
    /// The name of the page's section in the navigation.
    let section: String
    let title: String
    /// The name of the template.
    let template: String
    /// The values of the template.
    let view: any Encodable & Sendable
}

enum ConsoleProblem: Error {
    case noSuchPage
    /// The program has no template of the name, which a test rules out.
    case noTemplate(String)
    /// The control API refused a call.
    case refused(status: Int, ErrorEnvelope?)
}

/// Reads answers of the control API as their wire types.
struct ControlReader: Sendable {
    let api: ControlAPI

    /// - Parameters:
    ///   - path: the path after `/_sim/`.
    ///   - query: names and values; a pair without a value is left out.
    /// - Throws: ``ConsoleProblem``.
    func get<Value: Decodable>(
        _ path: String, _ query: [(String, String?)] = [], as type: Value.Type = Value.self
    ) async throws -> Value {
        try WireJSON.decode(type, from: try await answer("/_sim/\(path)\(Link.query(query))"))
    }

    /// Entries of the event log, newest first.
    func events(_ query: [(String, String?)]) async throws -> [StateChange] {
        try await get("event-log", query, as: EventList.self).events
    }

    /// The API's own description: OpenAPI as JSON.
    ///
    /// - Throws: ``ConsoleProblem``.
    func description() async throws -> JSONValue {
        try WireJSON.decode(JSONValue.self, from: try await answer("/openapi.json"))
    }

    private func answer(_ path: String) async throws -> Data {
        let (status, body) = await api(path)
        guard (200..<300).contains(status) else {
            // Without an envelope the problem is told by its status.
            throw ConsoleProblem.refused(status: status, try? WireJSON.decode(ErrorEnvelope.self, from: body))
        }
        return body
    }
}

/// Builds URLs of pages.
enum Link {
    /// A query with its `?`; empty if no pair has a value.
    static func query(_ pairs: [(String, String?)]) -> String {
        let given = pairs.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "\(name)=\(URLPart.escaped($0))" }
        }
        return given.isEmpty ? "" : "?" + given.joined(separator: "&")
    }
}
