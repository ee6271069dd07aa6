import Foundation
import SimulationAPI
import Yams

/// Checks answers against `openapi/entrupy-sim.yaml`.
///
/// ``TestWorld/send(_:_:_:token:headers:)`` checks every answer of the suite.
package struct Contract: Sendable {
    package let document: JSONValue
    package let operations: [Operation]
    /// The operations by the number of their path's parts.
    private let byLength: [Int: [Operation]]
    private let described: SchemaValidator
    /// The validator of answers, which have no members but the described ones.
    private let closed: SchemaValidator

    package static let text: String = {
        let file = TestWorld.root.appendingPathComponent("openapi/entrupy-sim.yaml")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }()

    package static let shared: Contract = {
        do {
            return Contract(document: JSONValue(yaml: try Yams.load(yaml: text)))
        } catch {
            fatalError("openapi/entrupy-sim.yaml is not YAML: \(error)")
        }
    }()

    /// An operation of the description.
    package struct Operation: Sendable {
        package let method: String
        package let path: String
        package let description: JSONValue
        fileprivate let parts: [Substring]
        fileprivate let parameters: Int

        fileprivate init(method: String, path: String, description: JSONValue) {
            self.method = method
            self.path = path
            self.description = description
            parts = path.split(separator: "/")
            parameters = parts.count { $0.first == "{" }
        }

        package var name: String { "\(method) \(path)" }

        /// Whether the description has an answer that is not an error.
        package var describesSuccess: Bool {
            (description["responses"].members ?? [:]).keys.contains { $0.hasPrefix("2") || $0.hasPrefix("3") }
        }

        fileprivate func fits(_ path: [String]) -> Bool {
            zip(parts, path).allSatisfy { $0.first == "{" || $0 == $1 }
        }
    }

    package init(document: JSONValue) {
        self.document = document
        operations = (document["paths"].members ?? [:]).flatMap { path, item in
            (item.members ?? [:]).map { Operation(method: $0.key.uppercased(), path: path, description: $0.value) }
        }.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
        byLength = Dictionary(grouping: operations, by: \.parts.count)
        described = SchemaValidator(document: document)
        closed = SchemaValidator(document: document, isClosed: true)
    }

    /// The methods that the server does not answer with 501.
    private static let knownMethods: Set = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
    ]

    /// Every difference from the description in an answer, or in a request that was accepted.
    package func problems(_ method: String, _ target: String, request: Data?, _ answer: TestWorld.Answer) -> [String] {
        // Answers that a fault rule broke are not checked.
        if answer.headers.contains(name: "X-Sim-Fault") { return [] }
        let known = Self.path(target)
        let found = operations(at: known)
        let isHead = method == "HEAD"
        guard Self.knownMethods.contains(method) else {
            return problems(answer, component: "NotImplemented", status: 501, isHead: isHead)
        }
        guard !found.isEmpty else {
            // The server checks the host and the origin before the path.
            if answer.status == 403 { return problems(answer, component: "Forbidden", status: 403, isHead: isHead) }
            return problems(answer, component: "NotFound", status: 404, isHead: isHead)
        }
        let wanted = isHead ? "GET" : method
        guard let operation = found.first(where: { $0.method == wanted }) else {
            if answer.status == 403 { return problems(answer, component: "Forbidden", status: 403, isHead: isHead) }
            // The server checks the namespace before the method.
            if answer.status == 404 { return problems(answer, component: "NotFound", status: 404, isHead: isHead) }
            return problems(answer, component: "MethodNotAllowed", status: 405, isHead: isHead)
        }
        guard let response = operation.description["responses"].members?[String(answer.status)] else {
            return ["\(operation.method) \(operation.path) does not describe the status \(answer.status)"]
        }
        return problems(answer, resolved(response), isHead: isHead)
            + (200...299 ~= answer.status ? requestProblems(operation, request) : [])
    }

    private func problems(_ answer: TestWorld.Answer, component: String, status: Int, isHead: Bool) -> [String] {
        guard answer.status == status else { return ["the status is \(answer.status), not \(status)"] }
        return problems(answer, document["components.responses.\(component)"], isHead: isHead)
    }

    private func problems(_ answer: TestWorld.Answer, _ response: JSONValue, isHead: Bool) -> [String] {
        var problems: [String] = []
        for (name, header) in response["headers"].members ?? [:] {
            let header = resolved(header)
            if let value = answer.headers.first(name: name) {
                problems += closed.problems(.string(value), header["schema"], at: "header \(name)")
            } else if header["required"] == true {
                problems.append("the header \(name) is missing")
            }
        }
        if isHead { return problems }
        guard let content = response["content"].members else {
            return problems + (answer.body.isEmpty ? [] : ["the body should be empty"])
        }
        let type = answer.headers.first(name: "Content-Type")?.split(separator: ";").first.map(String.init) ?? "none"
        guard let media = content[type] else { return problems + ["the media type \(type) is not described"] }
        if type == "application/json" {
            problems += closed.problems(answer.json, media["schema"], at: "body")
        }
        return problems
    }

    /// The differences from the description in an accepted request.
    private func requestProblems(_ operation: Operation, _ body: Data?) -> [String] {
        let described = resolved(operation.description["requestBody"])
        guard let body, let schema = described["content"].members?["application/json"]?["schema"],
            let value = try? WireJSON.decode(JSONValue.self, from: body)
        else { return [] }
        return self.described.problems(value, schema, at: "request")
    }

    package func resolved(_ value: JSONValue) -> JSONValue {
        value.members?["$ref"]?.text.map { document.resolve($0) } ?? value
    }

    /// The operation that a request calls. `nil` if the description has none.
    package func operation(_ method: String, _ target: String) -> Operation? {
        operations(at: Self.path(target)).first { $0.method == method }
    }

    /// The operations of the best matching path. A literal part has priority over a parameter.
    private func operations(at path: [String]) -> [Operation] {
        let fitting = (byLength[path.count] ?? []).filter { $0.fits(path) }
        // A scenario may have the name `start`: all methods but one are those of its own path.
        if path == ["_sim", "scenarios", "start"] {
            let own = Set(fitting.filter { $0.parameters == 0 }.map(\.method))
            return fitting.filter { $0.parameters == 0 || !own.contains($0.method) }
        }
        let best = fitting.min { $0.parameters < $1.parameters }?.path
        return fitting.filter { $0.path == best }
    }

    /// The parts of a path without its query and namespace.
    private static func path(_ target: String) -> [String] {
        let whole = target.split(separator: "?", omittingEmptySubsequences: false)[0]
        let parts = whole.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        return parts.first == "ns" ? Array(parts.dropFirst(2)) : parts
    }
}

extension JSONValue {
    /// Converts a value from the YAML parser.
    package init(yaml value: Any?) {
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(JSONNumber(value))
        case let value as Double: self = .number(JSONNumber(text: String(value)))
        case let value as String: self = .string(value)
        case let value as [Any?]: self = .array(value.map(JSONValue.init(yaml:)))
        case let value as [AnyHashable: Any?]:
            self = .object(JSONObject(value.map { ("\($0.key)", JSONValue(yaml: $0.value)) }))
        default: self = .null
        }
    }
}
