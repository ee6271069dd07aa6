import Foundation
import SimulationAPI

/// Checks values against the JSON Schemas of an OpenAPI description. Supports the part of JSON Schema 2020-12 that it uses.
///
/// An unknown keyword is a problem too, so that no rule is ignored. Every answer of the suite is checked, so a value that
/// fits costs little: places are put into words only where something does not fit.
package struct SchemaValidator {
    /// Whether an object may have only the members that its schema names, if the schema does not say.
    private var isClosed: Bool
    /// The targets of all references.
    private let targets: [String: JSONValue]
    /// The members that the target of each reference names; absent if it allows others.
    private var knownByReference: [String: Set<String>] = [:]
    /// The patterns of all schemas, compiled.
    private let patterns: [String: NSRegularExpression]

    /// The place of a value in the one that is checked.
    private indirect enum Place: CustomStringConvertible {
        case root(String)
        case member(String, of: Place)
        case element(Int, of: Place)

        var description: String {
            switch self {
            case .root(let name): name
            case .member(let name, let place): "\(place).\(name)"
            case .element(let index, let place): "\(place)[\(index)]"
            }
        }
    }

    private static let annotations: Set<String> = [
        "description", "default", "example", "examples", "title", "format", "deprecated",
    ]

    package init(document: JSONValue, isClosed: Bool = false) {
        self.isClosed = isClosed
        var targets: [String: JSONValue] = [:]
        for reference in document.texts(of: "$ref") { targets[reference] = document.resolve(reference) }
        self.targets = targets
        patterns = document.texts(of: "pattern").reduce(into: [:]) { $0[$1] = try? NSRegularExpression(pattern: $1) }
        var known: [String: Set<String>] = [:]
        for (reference, target) in targets { known[reference] = knownMembers(target) }
        knownByReference = known
    }

    /// The problems of a value, empty if it matches the schema.
    package func problems(_ value: JSONValue, _ schema: JSONValue, at path: String = "") -> [String] {
        problems(value, schema, .root(path), isWhole: true)
    }

    private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        var open = self
        open.isClosed = false
        return open.problems(value, schema, .root(""), isWhole: false).isEmpty
    }

    /// - Parameter isWhole: `false` if the schema is one of several that the value must match together.
    private func problems(_ value: JSONValue, _ schema: JSONValue, _ place: Place, isWhole: Bool) -> [String] {
        guard let rules = schema.members else {
            return schema == .bool(true) ? [] : ["\(place): the description has no schema for it"]
        }
        var found: [String] = []
        for (keyword, rule) in rules where !Self.annotations.contains(keyword) {
            found += problems(value, keyword, rule, rules, place)
        }
        if isWhole, isClosed, let members = value.members, let known = knownMembers(schema) {
            // A member of the future: clients must take it.
            found += members.keys.filter { !known.contains($0) && !$0.hasPrefix("x_") }.sorted().map {
                "\(place).\($0): is not described"
            }
        }
        return found
    }

    private func problems(
        _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ rules: JSONObject, _ place: Place
    ) -> [String] {
        func require(_ condition: Bool) -> [String] {
            condition ? [] : ["\(place): \(value.short) does not fit \(keyword) \(rule.short)"]
        }
        switch keyword {
        case "$ref":
            return problems(value, target(rule), place, isWhole: false)
        case "type":
            return require((rule.elements ?? [rule]).contains { value.isOf(type: $0.text ?? "") })
        case "enum": return require(rule.items.contains(value))
        case "const": return require(value == rule)
        case "allOf": return rule.items.flatMap { problems(value, $0, place, isWhole: false) }
        case "anyOf":
            guard !rule.items.contains(where: { fits(value, $0) }) else { return [] }
            return ["\(place): \(value.short) fits none of anyOf"]
        case "oneOf":
            let count = rule.items.count { fits(value, $0) }
            return count == 1 ? [] : ["\(place): \(value.short) fits \(count) of oneOf"]
        case "not": return require(!fits(value, rule))
        case "if":
            let part = rules[fits(value, rule) ? "then" : "else"] ?? .bool(true)
            return problems(value, part, place, isWhole: false)
        case "then", "else": return []
        case "properties":
            return propertyProblems(value, rule, place)
        case "required":
            guard let members = value.members else { return [] }
            return rule.items.compactMap(\.text).filter { members[$0] == nil }.map { "\(place).\($0): is missing" }
        case "additionalProperties":
            guard let members = value.members, rule != .bool(true) else { return [] }
            let others = members.filter { rules["properties"]?.members?[$0.key] == nil }
            if rule == .bool(false) { return others.keys.map { "\(place).\($0): is not described" } }
            return others.flatMap { problems($0.value, rule, .member($0.key, of: place), isWhole: true) }
        case "items":
            return value.items.enumerated().flatMap {
                problems($1, rule, .element($0, of: place), isWhole: true)
            }
        case "minItems", "maxItems", "minProperties", "minLength", "maxLength", "minimum", "maximum":
            guard let size = value.size(for: keyword), let bound = rule.double else { return [] }
            return require(keyword.hasPrefix("min") ? size >= bound : size <= bound)
        case "pattern":
            guard let text = value.text else { return [] }
            guard let pattern = patterns[rule.text ?? ""] else {
                return ["\(place): \(rule.short) is not a valid pattern"]
            }
            return require(pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil)
        default:
            return ["\(place): the validator does not know \(keyword)"]
        }
    }

    private func propertyProblems(_ value: JSONValue, _ rule: JSONValue, _ place: Place) -> [String] {
        guard let members = value.members, let schemas = rule.members else { return [] }
        var found: [String] = []
        for (name, member) in members {
            guard let schema = schemas[name] else { continue }
            found += problems(member, schema, .member(name, of: place), isWhole: true)
        }
        return found
    }

    private func target(_ reference: JSONValue) -> JSONValue { reference.text.flatMap { targets[$0] } ?? .null }

    /// The members that a schema names, `nil` if it allows others or does not describe members.
    private func knownMembers(_ schema: JSONValue) -> Set<String>? {
        guard let rules = schema.members else { return nil }
        if let others = rules["additionalProperties"], others != .bool(false) { return nil }
        var known = Set((rules["properties"]?.members ?? [:]).keys)
        var parts = (rules["allOf"]?.items ?? []) + (rules["anyOf"]?.items ?? []) + (rules["oneOf"]?.items ?? [])
        if let reference = rules["$ref"] {
            if rules.count == 1, let text = reference.text, let known = knownByReference[text] { return known }
            parts.append(target(reference))
        }
        for part in parts where part.members?["type"] != .string("null") {
            guard let more = knownMembers(part) else { return nil }
            known.formUnion(more)
        }
        return known
    }
}

extension JSONValue {
    /// The target of a reference such as `#/components/schemas/Error`, `.null` if there is none.
    package func resolve(_ reference: String) -> JSONValue {
        reference.dropFirst("#/".count).split(separator: "/").map(String.init).reduce(self) { value, key in
            value.members?[key.replacing("~1", with: "/").replacing("~0", with: "~")] ?? .null
        }
    }

    /// The texts that a keyword has in all schemas of a description.
    fileprivate func texts(of keyword: String) -> Set<String> {
        switch self {
        case .object(let members):
            members.reduce(into: []) { found, member in
                if member.key == keyword, let text = member.value.text { found.insert(text) }
                found.formUnion(member.value.texts(of: keyword))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.texts(of: keyword)) }
        default: []
        }
    }

    fileprivate func isOf(type: String) -> Bool {
        switch (type, self) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let number)): number.double.rounded() == number.double
        default: false
        }
    }

    /// The quantity that a keyword limits: a number's value, or the number of characters, elements or members.
    fileprivate func size(for keyword: String) -> Double? {
        switch (self, keyword) {
        case (.number, "minimum"), (.number, "maximum"): double
        case (.string(let text), "minLength"), (.string(let text), "maxLength"): Double(text.unicodeScalars.count)
        case (.array(let elements), "minItems"), (.array(let elements), "maxItems"): Double(elements.count)
        case (.object(let members), "minProperties"): Double(members.count)
        default: nil
        }
    }

    fileprivate var short: String {
        let text = (try? WireJSON.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "?"
        return text.count > 120 ? String(text.prefix(120)) + "…" : text
    }
}
