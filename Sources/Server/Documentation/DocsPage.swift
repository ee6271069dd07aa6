import Console
import Entrupy
import Mustache
import Simulation
import SimulationAPI
import Yams

/// The description as an HTML page at `/_sim/docs`. It loads nothing from other hosts.
struct DocsPage {
    let title: String
    let version: String
    let summary: String
    let description: String
    let groups: [Group]
    let shapes: [Shape]

    /// The routes of one tag.
    struct Group {
        let name: String
        let description: String
        let operations: [Operation]
    }

    struct Operation {
        let id: String
        let method: String
        let path: String
        let summary: String
        let description: String
        /// The token that the route needs. `nil` if it needs none.
        let token: String?
        let hasParameters: Bool
        let parameters: [Row]
        let inputs: [Input]
        let body: Body?
        let answers: [Answer]
    }

    /// A parameter, or a member of an object.
    struct Row {
        let name: String
        var place = ""
        let required: Bool
        let type: String
        let description: String
        /// The number of objects around a member of an unnamed inner object.
        var depth = 0
    }

    /// A field of the form that tries a route.
    struct Input {
        let name: String
        let place: String
        let value: String
    }

    struct Body {
        let type: String
        let required: Bool
        let isJSON: Bool
        let rows: [Row]
        let examples: [Example]
        let first: String
    }

    struct Answer {
        let status: String
        let description: String
        let type: String?
        let headers: [Row]
        let examples: [Example]
    }

    struct Example {
        let name: String
        let text: String
    }

    /// A named schema.
    struct Shape {
        let name: String
        let description: String
        let type: String
        let rows: [Row]
    }

    static func html() throws -> String {
        let template = try EscapedHTML.template(PackageResources.page_mustache)
        return template.render(try DocsPage(Description.tree()))
    }

    /// The sources that the page may load: its own style and script, which stand in it, and this server.
    static func policy(of html: String) -> String {
        let (style, script) = (content(of: "style", in: html), content(of: "script", in: html))
        return
            "script-src \(ContentPolicy.source(of: script)); style-src \(ContentPolicy.source(of: style)); connect-src 'self'"
    }

    /// The text of the first element with a name.
    private static func content(of name: String, in html: String) -> String {
        let rest = html.split(atEach: "<\(name)>").dropFirst().first ?? ""
        return String(rest.split(atEach: "</\(name)>").first ?? "")
    }

    init(_ document: Node) {
        let reader = DescriptionReader(document: document)
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
        shapes = (document["components"]?["schemas"]?.members ?? []).map { name, schema in
            Shape(
                name: name, description: Prose.html(schema.text("description")), type: reader.type(schema),
                rows: reader.rows(schema))
        }
    }
}

// The members as the template asks for them. Without these, each would be found by reflection, which took most of the time of
// the page.
extension DocsPage: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "title": title
        case "version": version
        case "summary": summary
        case "description": description
        case "groups": groups
        case "shapes": shapes
        default: nil
        }
    }
}

extension DocsPage.Group: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "description": description
        case "operations": operations
        default: nil
        }
    }
}

extension DocsPage.Operation: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "id": id
        case "method": method
        case "path": path
        case "summary": summary
        case "description": description
        case "token": token
        case "hasParameters": hasParameters
        case "parameters": parameters
        case "inputs": inputs
        case "body": body
        case "answers": answers
        default: nil
        }
    }
}

extension DocsPage.Row: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "place": place
        case "required": required
        case "type": type
        case "description": description
        case "depth": depth
        default: nil
        }
    }
}

extension DocsPage.Input: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "place": place
        case "value": value
        default: nil
        }
    }
}

extension DocsPage.Body: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "type": type
        case "required": required
        case "isJSON": isJSON
        case "rows": rows
        case "examples": examples
        case "first": first
        default: nil
        }
    }
}

extension DocsPage.Answer: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "status": status
        case "description": description
        case "type": type
        case "headers": headers
        case "examples": examples
        default: nil
        }
    }
}

extension DocsPage.Example: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "text": text
        default: nil
        }
    }
}

extension DocsPage.Shape: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "description": description
        case "type": type
        case "rows": rows
        default: nil
        }
    }
}

/// Reads the parts of the page from the description.
private struct DescriptionReader {
    let document: Node

    func operations(tag: String) -> [DocsPage.Operation] {
        (document["paths"]?.members ?? []).flatMap { path, item in
            item.members.filter { $0.value["tags"]?.elements.contains { $0.string == tag } == true }.map {
                operation($0.key.uppercased(), path, $0.value)
            }
        }
    }

    private func operation(_ method: String, _ path: String, _ node: Node) -> DocsPage.Operation {
        let parameters = (node["parameters"]?.elements ?? []).map { $0.resolved(in: document) }
        let scheme = node["security"]?.elements.first?.members.first?.key
        let token = scheme.map { $0 == "apiToken" ? "an organization's API token" : "a session token" }
        var inputs = parameters.filter { !["X-Request-Id", "Accept-Language"].contains($0.text("name")) }.map {
            DocsPage.Input(
                name: $0.text("name"), place: $0.text("in"), value: $0["example"]?.scalar?.string ?? "")
        }
        if let scheme {
            inputs.insert(
                .init(
                    name: "Authorization", place: "header",
                    value: scheme == "apiToken" ? "Token demo-api-token" : "Token "), at: 0)
        }
        return DocsPage.Operation(
            id: node.text("operationId"), method: method, path: path, summary: node.text("summary"),
            description: Prose.html(node.text("description")), token: token, hasParameters: !parameters.isEmpty,
            parameters: parameters.map { parameter in
                DocsPage.Row(
                    name: parameter.text("name"), place: parameter.text("in"),
                    required: parameter["required"]?.bool ?? false, type: type(parameter["schema"] ?? .nothing),
                    description: Prose.line(parameter.text("description")))
            },
            inputs: inputs, body: node["requestBody"].map(body), answers: answers(node["responses"]?.members ?? []))
    }

    private func body(_ node: Node) -> DocsPage.Body {
        let node = node.resolved(in: document)
        let content = node["content"]?.members ?? []
        let isJSON = content.first?.key == "application/json"
        let media = content.first?.value ?? .nothing
        let schema = media["schema"] ?? .nothing
        let examples = examples(media)
        return DocsPage.Body(
            type: isJSON ? type(schema) : content.map { "<code>\($0.key)</code>" }.joined(separator: ", "),
            required: node["required"]?.bool ?? false, isJSON: isJSON,
            rows: isJSON ? rows(schema.resolved(in: document)) : [], examples: examples,
            first: examples.first?.text ?? "")
    }

    private func answers(_ responses: [(key: String, value: Node)]) -> [DocsPage.Answer] {
        responses.map { status, response in
            let response = response.resolved(in: document)
            let content = response["content"]?.members ?? []
            let schema = content.first?.value["schema"]
            return DocsPage.Answer(
                status: status, description: Prose.line(response.text("description")),
                type: status.hasPrefix("2") ? schema.map(type) : nil,
                headers: (response["headers"]?.members ?? []).filter { $0.key != "X-Request-Id" }.map { name, header in
                    let header = header.resolved(in: document)
                    return .init(
                        name: name, required: true, type: "", description: Prose.line(header.text("description")))
                },
                examples: content.first.map { examples($0.value) } ?? [])
        }
    }

    private func examples(_ media: Node) -> [DocsPage.Example] {
        if let example = media["example"] { return [.init(name: "", text: example.json())] }
        return (media["examples"]?.members ?? []).map { name, example in
            .init(name: name, text: example["value"]?.json() ?? "")
        }
    }

    /// The members of an object, including the members of its `allOf` parts. Members of unnamed inner objects follow,
    /// indented.
    func rows(_ schema: Node, depth: Int = 0) -> [DocsPage.Row] {
        var rows: [DocsPage.Row] = []
        let required = Set((schema["required"]?.elements ?? []).compactMap(\.string))
        for (name, member) in schema["properties"]?.members ?? [] where member["not"] == nil {
            rows.append(
                DocsPage.Row(
                    name: name, required: required.contains(name), type: type(member),
                    description: Prose.line(member.text("description")), depth: depth))
            let inner = member["items"] ?? member
            if inner["$ref"] == nil { rows += self.rows(inner, depth: depth + 1) }
        }
        for part in schema["allOf"]?.elements ?? [] {
            rows += self.rows(part.resolved(in: document), depth: depth).filter { row in
                !rows.contains { $0.name == row.name && $0.depth == row.depth }
            }
        }
        return rows
    }

    /// A schema's type in a few words, with links to named schemas.
    func type(_ schema: Node) -> String {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return "<a href=\"#shape-\(name)\">\(name)</a>"
        }
        if let constant = schema["const"] { return "<code>\(Prose.escaped(constant.json()))</code>" }
        if let words = schema["enum"]?.elements {
            return "one of " + words.map { "<code>\(Prose.escaped($0.json()))</code>" }.joined(separator: ", ")
        }
        if let parts = (schema["anyOf"] ?? schema["allOf"])?.elements, schema["type"] == nil {
            let named = parts.map(type).filter { !$0.isEmpty && $0 != "anything" }
            return named.joined(separator: schema["anyOf"] == nil ? " and " : " or ")
        }
        let names = (schema["type"]?.elements ?? []).compactMap(\.string)
        let types = names.isEmpty ? [schema.text("type")] : names
        let texts = types.map { name in
            switch name {
            case "array": "array of " + (schema["items"].map(type) ?? "anything")
            case "": "anything"
            default: name
            }
        }
        return texts.joined(separator: " or ") + limits(schema)
    }

    private func limits(_ schema: Node) -> String {
        let words = [
            ("minimum", "at least"), ("maximum", "at most"), ("minLength", "characters, at least"),
            ("maxLength", "characters, at most"), ("minItems", "elements, at least"), ("maxItems", "elements, at most"),
            ("default", "default"), ("pattern", "matches"),
        ]
        let found = words.compactMap { key, word in
            schema[key]?.scalar.map { "\(word) <code>\(Prose.escaped($0.string))</code>" }
        }
        return found.isEmpty ? "" : " <span class=\"dim\">(\(found.joined(separator: "; ")))</span>"
    }
}

/// Renders the Markdown of the description: paragraphs, `code` and **bold**.
enum Prose {
    static func html(_ text: String) -> String {
        text.split(separator: "\n\n").map { "<p>\(line(String($0)))</p>" }.joined(separator: "\n")
    }

    static func line(_ text: String) -> String {
        escaped(text)
            .replacing(/`([^`]+)`/) { "<code>\($0.1)</code>" }
            .replacing(/\*\*([^*]+)\*\*/) { "<strong>\($0.1)</strong>" }
    }

    static func escaped(_ text: String) -> String {
        EscapedHTML.escaped(text)
    }
}
