import Console
import Mustache
import Resources
import Simulation
import SimulationAPI
import Yams

/// The description as an HTML page at `/_sim/docs`. It loads nothing from other hosts.
struct DocsPage: Encodable {
    let title: String
    let version: String
    let summary: String
    let description: String
    let groups: [Group]
    /// The errors that many routes answer, each once, in the order of their statuses.
    let errors: [Answer]
    let shapes: [Shape]
    /// The script's function that quotes words of a command line.
    let quoting: String

    struct Group: Encodable {
        let name: String
        let description: String
        let operations: [Operation]
    }

    struct Operation: Encodable {
        let id: String
        let method: String
        let path: String
        /// The path as HTML that breaks lines only between its parts.
        let breakablePath: String
        let summary: String
        let description: String
        /// The token that the route needs, as HTML. `nil` if it needs none.
        let token: String?
        let needsControlToken: Bool
        /// The options of curl that the answer needs: where bytes go that a terminal cannot show. `nil` if none.
        let options: String?
        let hasParameters: Bool
        let parameters: [Row]
        let inputs: [Input]
        let body: Body?
        let answers: [Answer]
    }

    /// A parameter, or a member of an object.
    struct Row: Encodable {
        let name: String
        /// The place of a parameter, or the alternative that a member belongs to.
        var place: String?
        var required: Bool
        let type: String
        let description: String
        /// The number of objects around a member of an unnamed inner object.
        var depth = 0
    }

    struct Input: Encodable {
        let name: String
        let place: String
        let value: String
        /// The example of a field that may stay empty.
        var placeholder: String?
        var required = false
        /// The kind of token that the field takes. `nil` for other fields.
        var token: String?
    }

    struct Body: Encodable {
        let type: String
        let required: Bool
        /// The media type of the text or the file that the form sends.
        let mediaType: String
        /// The file that commands send. `nil` if the body is a text.
        let file: String?
        let rows: [Row]
        let examples: [Example]
        let first: String
    }

    struct Answer: Encodable {
        let status: String
        /// The name of an error that many routes answer. It is shown once. `nil` for other answers.
        let shared: String?
        let description: String
        let type: String?
        /// The values of `code` and `sdk_error` of an error.
        let codes: [String]
        let headers: [Row]
        let examples: [Example]
    }

    struct Example: Encodable {
        let name: String
        let text: String
    }

    struct Shape: Encodable {
        let name: String
        let description: String
        let type: String
        let rows: [Row]
    }

    static func html(needsControlToken: Bool = false) throws -> String {
        let template = try EscapedHTML.template(Resource.text("pages/api.mustache"))
        let page = try DocsPage(Description.tree(), needsControlToken: needsControlToken)
        return template.render(ViewValue(try JSONValue(withAbsentMembersOf: page)))
    }

    /// The sources that the page may load: its own style and script, which stand in it, and this server.
    static func policy(of html: String) -> String {
        let style = text(between: "<style>", "</style>", in: html)
        let script = text(between: "<script>", "</script>", in: html)
        return
            "script-src \(ContentPolicy.source(of: script)); style-src \(ContentPolicy.source(of: style)); connect-src 'self'"
    }

    /// The text between the first occurrence of a text and another text.
    private static func text(between start: String, _ end: String, in whole: String) -> String {
        let rest = whole.split(atEach: start).dropFirst().first ?? ""
        return String(rest.split(atEach: end).first ?? "")
    }

    /// The function of the console's script that quotes words of a command line. Both pages quote in one way.
    static func quotingFunction() -> String {
        let (start, end) = ("  function quoted(value) {", "\n  }\n")
        let script = String(decoding: ConsoleAsset.script.bytes, as: UTF8.self)
        return start + text(between: start, end, in: script) + end
    }

    init(_ document: Node, needsControlToken: Bool) {
        let reader = DescriptionReader(document: document, needsControlToken: needsControlToken)
        quoting = Self.quotingFunction()
        let info = document["info"] ?? .nothing
        title = info.text("title")
        version = info.text("version")
        summary = info.text("summary")
        description = Prose.html(info.text("description"))
        groups = (document["tags"]?.elements ?? []).map { tag in
            Group(
                name: tag.text("name"), description: Prose.html(tag.text("description")),
                operations: reader.operations(tag: tag.text("name")))
        }
        var names: Set<String> = []
        errors = groups.flatMap(\.operations).flatMap(\.answers)
            .filter { $0.shared.map { names.insert($0).inserted } ?? false }
            .sorted { ($0.status, $0.shared ?? "") < ($1.status, $1.shared ?? "") }
        shapes = (document["components"]?["schemas"]?.members ?? []).map { name, schema in
            Shape(
                name: name, description: Prose.html(schema.text("description")), type: reader.type(schema),
                rows: reader.rows(schema))
        }
    }
}
