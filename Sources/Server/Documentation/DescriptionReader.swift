import Console
import Simulation
import SimulationAPI
import Yams

/// Reads the parts of the page from the description.
struct DescriptionReader {
    let document: Node
    let needsControlToken: Bool

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
        return DocsPage.Operation(
            id: node.text("operationId"), method: method, path: path, breakablePath: Prose.breakable(path),
            summary: node.text("summary"), description: Prose.html(node.text("description")),
            token: scheme.map { name in
                Prose.line(document["components"]?["securitySchemes"]?[name]?.text("description") ?? "")
            },
            needsControlToken: needsControlToken && ControlKey.isRequired(for: path),
            options: options(node["responses"]?.members ?? []), hasParameters: !parameters.isEmpty,
            parameters: parameters.map { parameter in
                DocsPage.Row(
                    name: parameter.text("name"), place: parameter.text("in"),
                    required: parameter["required"]?.bool ?? false, type: type(parameter["schema"] ?? .nothing),
                    description: Prose.line(parameter.text("description")))
            },
            inputs: inputs(parameters, scheme), body: node["requestBody"].map(body),
            answers: answers(node["responses"]?.members ?? []))
    }

    /// The fields of the form that tries a route. Only those that it needs have a value.
    private func inputs(_ parameters: [Node], _ scheme: String?) -> [DocsPage.Input] {
        let inputs = parameters.filter { !["X-Request-Id", "Accept-Language"].contains($0.text("name")) }.map {
            let isRequired = $0["required"]?.bool ?? false
            let example = $0["example"]?.scalar?.string ?? ""
            return DocsPage.Input(
                name: $0.text("name"), place: $0.text("in"), value: isRequired ? example : "",
                placeholder: isRequired || example.isEmpty ? nil : example, required: isRequired)
        }
        guard let scheme else { return inputs }
        let kind = scheme.replacing(each: "Token", with: "")
        let value = kind == "api" ? "Token demo-api-token" : "Token "
        return [.init(name: "Authorization", place: "header", value: value, token: kind)] + inputs
    }

    /// The options of curl for a stream, and for bytes that a terminal cannot show.
    private func options(_ responses: [(key: String, value: Node)]) -> String? {
        let content = responses.first { $0.key == "200" }?.value.resolved(in: document)["content"]?.members ?? []
        return switch content.first?.key {
        case "text/event-stream": "--no-buffer"
        case "image/jpeg": "--output answer.jpg"
        case "video/mp4": "--output answer.mp4"
        case "application/octet-stream": "--output answer.tar"
        default: nil
        }
    }

    private func body(_ node: Node) -> DocsPage.Body {
        let node = node.resolved(in: document)
        let content = node["content"]?.members ?? []
        let isJSON = content.first?.key == "application/json"
        // JSON is the form that other routes take, so a form offers it where there is a choice.
        let chosen = content.first { $0.key == "application/json" } ?? content.first
        let schema = content.first?.value["schema"] ?? .nothing
        let examples = examples(
            chosen?.value ?? .nothing, isForm: chosen?.key == "application/x-www-form-urlencoded")
        return DocsPage.Body(
            type: isJSON ? type(schema) : content.map { "<code>\($0.key)</code>" }.joined(separator: ", "),
            required: node["required"]?.bool ?? false, mediaType: chosen?.key ?? "",
            file: file(chosen?.key ?? ""), rows: isJSON ? rows(schema.resolved(in: document)) : [],
            examples: examples, first: examples.first?.text ?? "")
    }

    /// A file of the repository that can be sent as a media type. `nil` for texts.
    private func file(_ mediaType: String) -> String? {
        if mediaType.begins(with: "image/") { return "demo/sneaker.jpg" }
        return mediaType.begins(with: "video/") ? "demo/clip.mp4" : nil
    }

    private func answers(_ responses: [(key: String, value: Node)]) -> [DocsPage.Answer] {
        responses.map { status, response in
            let isError = status.hasPrefix("4") || status.hasPrefix("5")
            let name = isError ? response["$ref"]?.string?.split(separator: "/").last.map(String.init) : nil
            let response = response.resolved(in: document)
            let content = response["content"]?.members ?? []
            let schema = content.first?.value["schema"]
            return DocsPage.Answer(
                status: status, shared: name, description: Prose.line(response.text("description")),
                type: status.hasPrefix("2") ? schema.map(type) : nil, codes: isError ? codes(schema ?? .nothing) : [],
                headers: (response["headers"]?.members ?? []).filter { $0.key != "X-Request-Id" }.map { name, header in
                    let header = header.resolved(in: document)
                    return .init(
                        name: name, required: true, type: "", description: Prose.line(header.text("description")))
                },
                examples: content.first.map { examples($0.value) } ?? [])
        }
    }

    /// The values that an error's schema fixes.
    private func codes(_ schema: Node) -> [String] {
        var codes: [String] = []
        for part in [schema] + (schema["allOf"]?.elements ?? []) {
            for (_, member) in part["properties"]?.members ?? [] {
                let values: [Node] = [member["const"]].compactMap(\.self) + (member["enum"]?.elements ?? [])
                codes += values.filter { $0.null == nil }.compactMap(\.string)
            }
        }
        return codes
    }

    private func examples(_ media: Node, isForm: Bool = false) -> [DocsPage.Example] {
        if isForm {
            let fields = (media["example"]?.members ?? []).map {
                "\(URLPart.escaped($0.key))=\(URLPart.escaped($0.value.string ?? ""))"
            }
            return [.init(name: "", text: fields.joined(separator: "&"))]
        }
        if let example = media["example"] { return [.init(name: "", text: example.json())] }
        return (media["examples"]?.members ?? []).map { name, example in
            .init(name: name, text: example["value"]?.json() ?? "")
        }
    }

    /// The members of an object, including the members of its `allOf` parts and of its alternatives. Members of unnamed
    /// inner objects follow, indented.
    func rows(_ schema: Node, depth: Int = 0) -> [DocsPage.Row] {
        var rows: [DocsPage.Row] = []
        func add(_ more: [DocsPage.Row]) {
            rows += more.filter { row in !rows.contains { $0.name == row.name && $0.depth == row.depth } }
        }
        let required = Set((schema["required"]?.elements ?? []).compactMap(\.string))
        for (name, member) in schema["properties"]?.members ?? [] where member["not"] == nil {
            rows.append(
                DocsPage.Row(
                    name: name, required: required.contains(name), type: type(member),
                    description: Prose.line(member.text("description")), depth: depth))
            let inner = member["items"] ?? member
            if inner["$ref"] == nil { rows += self.rows(inner, depth: depth + 1) }
        }
        for part in schema["allOf"]?.elements ?? [] { add(self.rows(part.resolved(in: document), depth: depth)) }
        for part in (schema["oneOf"] ?? schema["anyOf"])?.elements ?? [] where part["$ref"] == nil {
            add(alternative(part, depth))
        }
        if let then = schema["then"] {
            let condition = schema["if"]?["properties"]?.members.first
            let value = condition?.value["const"]?.string.map { "if \(condition?.key ?? "") is \($0)" }
            add(
                self.rows(then, depth: depth).map { row in
                    var row = row
                    if row.depth == depth { row.place = value }
                    return row
                })
        }
        return rows
    }

    /// The members of one alternative. None is required in all alternatives; optional ones name the one beside them.
    private func alternative(_ schema: Node, _ depth: Int) -> [DocsPage.Row] {
        let names = (schema["required"]?.elements ?? []).compactMap(\.string)
        return rows(schema, depth: depth).map { row in
            var row = row
            guard row.depth == depth else { return row }
            if names.count == 1, row.name != names[0] { row.place = "with \(names[0])" }
            row.required = false
            return row
        }
    }

    /// A schema's type in a few words, with links to named schemas.
    func type(_ schema: Node) -> String {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return "<a href=\"#shape-\(name)\">\(name)</a>"
        }
        if let constant = schema["const"] { return "<code>\(EscapedHTML.escaped(constant.json()))</code>" }
        if let words = schema["enum"]?.elements {
            return "one of " + words.map { "<code>\(EscapedHTML.escaped($0.json()))</code>" }.joined(separator: ", ")
        }
        if schema["type"] == nil, let combined = combinedType(schema) { return combined }
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

    /// The type of a schema that is made of others. `nil` if it is not.
    private func combinedType(_ schema: Node) -> String? {
        if let parts = schema["allOf"]?.elements {
            return parts.map(type).filter { !$0.isEmpty && $0 != "anything" }.joined(separator: " and ")
        }
        guard let parts = (schema["oneOf"] ?? schema["anyOf"])?.elements else { return nil }
        let single = parts.map(onlyRequired)
        if schema["oneOf"] != nil, single.count > 1, !single.contains(nil) {
            return "object with exactly one of " + single.compactMap { $0 }.joined(separator: ", ")
        }
        let types = zip(parts, single).map { part, name in name.map { "object with \($0)" } ?? type(part) }
        return types.filter { !$0.isEmpty && $0 != "anything" }.joined(separator: " or ")
    }

    /// The member that tells an unnamed object from other alternatives: the only one that it requires.
    private func onlyRequired(_ schema: Node) -> String? {
        guard schema.text("type") == "object", let names = schema["required"]?.elements, names.count == 1 else {
            return nil
        }
        return "<code>\(EscapedHTML.escaped(names[0].string ?? ""))</code>"
    }

    private func limits(_ schema: Node) -> String {
        let words = [
            ("minimum", "at least"), ("maximum", "at most"), ("minLength", "characters, at least"),
            ("maxLength", "characters, at most"), ("minItems", "elements, at least"), ("maxItems", "elements, at most"),
            ("default", "default"), ("pattern", "matches"),
        ]
        let found = words.compactMap { key, word in
            schema[key]?.scalar.map { "\(word) <code>\(EscapedHTML.escaped($0.string))</code>" }
        }
        return found.isEmpty ? "" : " <span class=\"dim\">(\(found.joined(separator: "; ")))</span>"
    }
}
