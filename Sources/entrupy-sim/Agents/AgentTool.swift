import Foundation
import SimulationAPI

/// A tool of the Model Context Protocol: a piece of work that an agent has done, not a route.
struct AgentTool: Sendable {
    let name: String
    let title: String
    /// The text by which agents choose: the effect, the data that it deletes, and the answer.
    let description: String
    let arguments: [Argument]
    let effect: Effect
    /// The next step after a failure, for errors that do not say it themselves.
    let wayOut: String
    /// The arguments, by the names that errors of the control API have for them.
    var argumentsByField: [String: String] = [:]
    let run: @Sendable (ToolArguments, AgentSimulator) async throws -> JSONObject

    enum Effect {
        case reads
        /// Adds or changes what the caller named, and deletes nothing else.
        case changes
        case destroys
    }

    struct Argument: Sendable {
        let name: String
        let kind: Kind
        let description: String
        let isRequired: Bool

        init(_ name: String, _ kind: Kind, _ description: String, isRequired: Bool = false) {
            (self.name, self.kind, self.description, self.isRequired) = (name, kind, description, isRequired)
        }
    }

    enum Kind: Sendable {
        /// - Parameter maxBytes: the maximum size in UTF-8.
        case text(maxBytes: Int = 1000)
        case namespace
        case choice([String])
        case integer(ClosedRange<Int>)
        case flag
        case object
        /// - Parameter max: the maximum number of objects.
        case objects(max: Int)
    }

    /// The tool as `tools/list` shows it.
    var declaration: JSONValue {
        let properties = arguments.map { argument in
            var schema = argument.kind.schema
            schema["description"] = .string(argument.description)
            return (argument.name, JSONValue.object(schema))
        }
        let required = arguments.filter(\.isRequired).map { JSONValue.string($0.name) }
        return [
            "name": .string(name), "title": .string(title), "description": .string(description),
            "inputSchema": [
                "type": "object", "properties": .object(JSONObject(properties)), "required": .array(required),
                "additionalProperties": false,
            ],
            "annotations": [
                "title": .string(title), "readOnlyHint": .bool(effect == .reads),
                "destructiveHint": .bool(effect == .destroys), "openWorldHint": false,
            ],
        ]
    }

    /// Runs the tool.
    ///
    /// - Returns: the result of `tools/call`, also where the tool failed: an agent sees results, not errors of the protocol.
    func called(_ given: JSONObject, _ simulator: AgentSimulator) async -> JSONObject {
        do {
            let arguments = try ToolArguments(given, of: self)
            return Self.result(ToolAnswer.bounded(try await run(arguments, simulator)), isError: false)
        } catch let failure as ToolFailure {
            return Self.result(failure.answer, isError: true)
        } catch var refusal as Refusal {
            refusal.name(options: argumentsByField)
            return Self.result(await simulator.failure(refusal, wayOut: wayOut).answer, isError: true)
        } catch {
            return Self.result(ToolFailure("\(error)", wayOut).answer, isError: true)
        }
    }

    /// The result in both forms: as JSON, and as the same JSON in a text, for clients that know texts alone.
    private static func result(_ answer: JSONObject, isError: Bool) -> JSONObject {
        // A value that was read as JSON, or made here, can be written as JSON.
        let text = (try? WireJSON.encode(JSONValue.object(answer))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return [
            "content": [["type": "text", "text": .string(text)]], "structuredContent": .object(answer),
            "isError": .bool(isError),
        ]
    }
}

extension AgentTool.Kind {
    fileprivate var schema: JSONObject {
        switch self {
        case .text: ["type": "string"]
        case .namespace: ["type": "string", "pattern": "^[a-z0-9-]{1,63}$"]
        case .choice(let values): ["type": "string", "enum": .array(values.map { .string($0) })]
        case .integer(let range):
            [
                "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
                "maximum": .number(JSONNumber(range.upperBound)),
            ]
        case .flag: ["type": "boolean"]
        case .object: ["type": "object"]
        case .objects: ["type": "array", "items": ["type": "object"]]
        }
    }

    /// What is wrong with a value; `nil` if nothing is.
    func problem(_ value: JSONValue) -> String? {
        switch (self, value) {
        case (.text(let maxBytes), .string(let text)):
            text.utf8.count <= maxBytes ? nil : "must have at most \(maxBytes) bytes, got \(text.utf8.count)"
        case (.text, _): "must be a text, got \(value.typeName)"
        case (.namespace, .string(let name)):
            name.wholeMatch(of: #/[a-z0-9-]{1,63}/#.matchingSemantics(.unicodeScalar)) != nil
                ? nil : "must be 1 to 63 characters of a-z, 0-9 and -, got \(ToolAnswer.short(name))"
        case (.namespace, _): "must be the name of a namespace, got \(value.typeName)"
        case (.choice(let values), .string(let text)):
            text.isOne(of: values)
                ? nil : "must be one of \(values.joined(separator: ", ")), got \(ToolAnswer.short(text))"
        case (.choice(let values), _): "must be one of \(values.joined(separator: ", ")), got \(value.typeName)"
        case (.integer(let range), .number(let number)):
            number.integer.map(range.contains) ?? false
                ? nil
                : "must be an integer from \(range.lowerBound) to \(range.upperBound), got \(ToolAnswer.short(number.text))"
        case (.integer, _): "must be an integer, got \(value.typeName)"
        case (.flag, .bool), (.object, .object): nil
        case (.flag, _): "must be true or false, got \(value.typeName)"
        case (.object, _): "must be an object, got \(value.typeName)"
        case (.objects(let max), .array(let elements)):
            elements.count > max
                ? "must have at most \(max) objects, got \(elements.count)"
                : elements.contains { $0.members == nil } ? "must have objects alone" : nil
        case (.objects, _): "must be a list of objects, got \(value.typeName)"
        }
    }
}

/// The arguments of a call, checked against the tool's declaration.
struct ToolArguments: Sendable {
    private let values: JSONObject

    /// - Throws: ``ToolFailure`` with all that is wrong. Null is the same as absent.
    init(_ given: JSONObject, of tool: AgentTool) throws {
        var problems: [String] = []
        values = given.filter { if case .null = $0.value { false } else { true } }
        for argument in tool.arguments {
            if let value = values[argument.name] {
                if let problem = argument.kind.problem(value) { problems.append("\(argument.name) \(problem)") }
            } else if argument.isRequired {
                problems.append("\(argument.name) is missing: \(argument.description)")
            }
        }
        let names = tool.arguments.map(\.name)
        for (name, _) in given.sorted where !name.isOne(of: names) {
            let guess = NearestName.nearest(to: name, among: names).map { ", did you mean \($0)?" } ?? ""
            problems.append("there is no argument \(ToolAnswer.short(name))\(guess)")
        }
        guard problems.isEmpty else {
            let rest = problems.count > 10 ? "; and \(problems.count - 10) more" : ""
            throw ToolFailure(
                "\(problems.prefix(10).joined(separator: "; "))\(rest). Nothing was changed",
                "the arguments of \(tool.name) are \(names.joined(separator: ", "))")
        }
    }

    subscript(name: String) -> JSONValue? { values[name] }

    func text(_ name: String) -> String? { values[name]?.text }

    func integer(_ name: String) -> Int? { if case .number(let number) = values[name] { number.integer } else { nil } }

    func isSet(_ name: String) -> Bool { if case .bool(true) = values[name] { true } else { false } }

    /// The given arguments among `names`, as members of a body. Of a duration, digits alone are seconds.
    func members(_ names: [String]) -> [(String, any BodyMember)] {
        names.map { name in
            let isDuration = name.isOne(of: ["after", "by", "delay"])
            return (name, isDuration ? text(name).map { DurationArgument(argument: $0) }.json : values[name])
        }
    }

    func has(anyOf names: [String]) -> Bool { names.contains { values[$0] != nil } }

    /// The namespace, which tools that use this require.
    var namespace: String { text("namespace") ?? "" }
}

/// Why a tool failed, and the way out.
struct ToolFailure: Error {
    let problem: String
    let wayOut: String

    init(_ problem: String, _ wayOut: String) {
        self.problem = problem
        self.wayOut = wayOut
    }

    var answer: JSONObject {
        ["error": .string(ToolAnswer.short(problem, 2000)), "way_out": .string(wayOut)]
    }
}

/// Bounds answers: an agent pays for each byte, and reads all of it.
enum ToolAnswer {
    /// The maximum size as JSON, in bytes: under 2,000 tokens.
    static let maxBytes = 6000

    /// A text with its middle left out where it is longer than `count` Unicode scalars.
    static func short(_ text: String, _ count: Int = 200) -> String {
        guard text.utf8.count > count, text.unicodeScalars.count > count else { return text }
        let kept = (count - 1) / 2
        return "\(String(text.unicodeScalars.prefix(kept)))…\(String(text.unicodeScalars.suffix(kept)))"
    }

    /// The answer without the middle of its longest lists where it is larger than ``maxBytes``. `left_out` counts what is missing.
    static func bounded(_ answer: JSONObject) -> JSONObject {
        var answer = answer
        var leftOut: [String: Int] = [:]
        while size(.object(answer)) > maxBytes {
            let lists = answer.sorted.compactMap { name, value in value.elements.map { (name: name, elements: $0) } }
            let longest = lists.max { size(.array($0.elements)) < size(.array($1.elements)) }
            guard let longest, !longest.elements.isEmpty else { break }
            let gone = max(1, longest.elements.count / 4)
            let kept = longest.elements.count - gone
            leftOut[longest.name, default: 0] += gone
            answer[longest.name] = .array(
                Array(longest.elements.prefix(kept / 2) + longest.elements.suffix(kept - kept / 2)))
            answer["left_out"] = .object(JSONObject(leftOut.map { ($0.key, JSONValue.number(JSONNumber($0.value))) }))
        }
        return answer
    }

    private static func size(_ value: JSONValue) -> Int {
        // A value that was read as JSON, or made here, can be written as JSON.
        (try? WireJSON.encode(value).count) ?? 0
    }
}
