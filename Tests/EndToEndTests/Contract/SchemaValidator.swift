import Foundation
import SimulationAPI
import TestSupport

/// Checks values against the JSON Schemas of an OpenAPI description. Supports the part of JSON Schema 2020-12 that it uses.
///
/// An unknown keyword is a problem too, so that no rule is ignored.
struct SchemaValidator {
    let document: JSONValue
    /// Whether an object may have only the members that its schema names, if the schema does not say.
    var isClosed = false

    private static let annotations: Set<String> = [
        "description", "default", "example", "examples", "title", "format", "deprecated",
    ]

    /// The problems of a value, empty if it matches the schema.
    func problems(_ value: JSONValue, _ schema: JSONValue, at path: String = "") -> [String] {
        problems(value, schema, path, isWhole: true)
    }

    private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        SchemaValidator(document: document).problems(value, schema, "", isWhole: false).isEmpty
    }

    /// - Parameter isWhole: `false` if the schema is one of several that the value must match together.
    private func problems(_ value: JSONValue, _ schema: JSONValue, _ path: String, isWhole: Bool) -> [String] {
        guard let rules = schema.members else {
            return schema == .bool(true) ? [] : ["\(path): the description has no schema for it"]
        }
        var found: [String] = []
        for (keyword, rule) in rules.sorted(by: { $0.key < $1.key }) {
            found += problems(value, keyword, rule, rules, path)
        }
        if isWhole, isClosed, let members = value.members, let known = knownMembers(schema) {
            found += members.keys.filter { !known.contains($0) }.sorted().map { "\(path).\($0): is not described" }
        }
        return found
    }

    private func problems(
        _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ rules: JSONObject, _ path: String
    ) -> [String] {
        func require(_ condition: Bool) -> [String] {
            condition ? [] : ["\(path): \(value.short) does not fit \(keyword) \(rule.short)"]
        }
        switch keyword {
        case "$ref":
            return problems(value, document.resolve(rule.text ?? ""), path, isWhole: false)
        case "type":
            return require((rule.elements ?? [rule]).contains { value.isOf(type: $0.text ?? "") })
        case "enum": return require(rule.items.contains(value))
        case "const": return require(value == rule)
        case "allOf": return rule.items.flatMap { problems(value, $0, path, isWhole: false) }
        case "anyOf":
            guard !rule.items.contains(where: { fits(value, $0) }) else { return [] }
            return ["\(path): \(value.short) fits none of anyOf"]
        case "oneOf":
            let count = rule.items.count { fits(value, $0) }
            return count == 1 ? [] : ["\(path): \(value.short) fits \(count) of oneOf"]
        case "not": return require(!fits(value, rule))
        case "if":
            let part = rules[fits(value, rule) ? "then" : "else"] ?? .bool(true)
            return problems(value, part, path, isWhole: false)
        case "then", "else": return []
        case "properties":
            return (rule.members ?? [:]).flatMap { name, schema in
                value.members?[name].map { problems($0, schema, "\(path).\(name)", isWhole: true) } ?? []
            }
        case "required":
            guard let members = value.members else { return [] }
            return rule.items.compactMap(\.text).filter { members[$0] == nil }.map { "\(path).\($0): is missing" }
        case "additionalProperties":
            guard let members = value.members, rule != .bool(true) else { return [] }
            let others = members.filter { rules["properties"]?.members?[$0.key] == nil }
            if rule == .bool(false) { return others.keys.map { "\(path).\($0): is not described" } }
            return others.flatMap { problems($0.value, rule, "\(path).\($0.key)", isWhole: true) }
        case "items":
            return value.items.enumerated().flatMap { problems($1, rule, "\(path)[\($0)]", isWhole: true) }
        case "minItems", "maxItems", "minProperties", "minLength", "maxLength", "minimum", "maximum":
            guard let size = value.size(for: keyword), let bound = rule.double else { return [] }
            return require(keyword.hasPrefix("min") ? size >= bound : size <= bound)
        case "pattern":
            guard let text = value.text else { return [] }
            return require(text.range(of: rule.text ?? "", options: .regularExpression) != nil)
        default:
            return Self.annotations.contains(keyword) ? [] : ["\(path): the validator does not know \(keyword)"]
        }
    }

    /// The members that a schema names, `nil` if it allows others or does not describe members.
    private func knownMembers(_ schema: JSONValue) -> Set<String>? {
        guard let rules = schema.members else { return nil }
        if let others = rules["additionalProperties"], others != .bool(false) { return nil }
        var known = Set((rules["properties"]?.members ?? [:]).keys)
        var parts = (rules["allOf"]?.items ?? []) + (rules["anyOf"]?.items ?? []) + (rules["oneOf"]?.items ?? [])
        if let reference = rules["$ref"]?.text { parts.append(document.resolve(reference)) }
        for part in parts where part.members?["type"] != .string("null") {
            guard let more = knownMembers(part) else { return nil }
            known.formUnion(more)
        }
        return known
    }
}

extension JSONValue {
    /// The target of a reference such as `#/components/schemas/Error`, `.null` if there is none.
    func resolve(_ reference: String) -> JSONValue {
        reference.dropFirst("#/".count).split(separator: "/").map(String.init).reduce(self) { value, key in
            value.members?[key.replacing("~1", with: "/").replacing("~0", with: "~")] ?? .null
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
