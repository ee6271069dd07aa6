import Foundation
import SimulationAPI

/// A bug in one sentence, with the objects that differ.
package enum BugSentence {
    /// The most groups of objects that are named.
    private static let maxNamed = 2
    /// The kinds from which others follow, first.
    private static let order = ["item", "retake", "message", "capture", "picture", "subscription", "delivery", "user"]
    private static let numbers = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ]

    /// - Parameters:
    ///   - limit: the seconds after which the client was ended.
    ///   - misuse: what the audit says, one sentence a rule.
    package static func text(
        _ verdict: Verdict, _ fault: SweepFault?, at call: String, _ state: EndState, limit: Double, misuse: [String]
    ) -> String {
        let start = fault?.sentence.replacing("%", with: call) ?? "with the kept fault \(call)"
        let end =
            switch verdict {
            case .doubled: "the client leaves \(objects(state))"
            case .silent: "the client exits 0 and leaves \(objects(state))"
            case .hung: "the client has not ended after \(Int(limit.rounded(.up))) s"
            case .misuse: "the client breaks a rule: \(misuse.joined(separator: "; "))"
            case .recovered, .gaveUp, .notMet, .notRun: "the verdict is: \(verdict.rawValue)"
            }
        return line("\(start), \(end)")
    }

    /// The differences in words.
    private static func objects(_ state: EndState) -> String {
        // With more or fewer objects, the members of others mostly follow from that. Deliveries follow from items themselves.
        let isCounted = state.objects.contains { $0.change != .changed && $0.kind != "delivery" }
        let told = state.objects.filter { !isCounted || $0.change != .changed }
        var groups: [Group: [ObjectDifference]] = [:]
        var order: [Group] = []
        for object in told {
            let group = Group(kind: object.kind, name: label(object.key), change: object.change)
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(object)
        }
        if order.isEmpty { return "more objects that differ than are compared" }
        order.sort { rank($0.kind) < rank($1.kind) }
        let named = order.prefix(maxNamed).map { text(groups[$0] ?? [], $0) }.joined(separator: " and ")
        let rest = order.count - maxNamed
        return rest > 0 ? "\(named), and \(rest) more \(rest == 1 ? "difference" : "differences")" : named
    }

    /// Objects that a sentence counts together.
    private struct Group: Hashable {
        let kind, name: String
        let change: ObjectDifference.Change
    }

    private static func rank(_ kind: String) -> Int { order.firstIndex(of: kind) ?? order.count }

    private static func text(_ objects: [ObjectDifference], _ group: Group) -> String {
        // Of the run that has more of them.
        let all = max(objects.map { nth($0.key) }.max() ?? 1, objects.count)
        let whose = group.name.isEmpty ? "" : " for \(group.name)"
        switch group.change {
        case .added: return "\(count(all, group.kind))\(whose) instead of \(alone(all - objects.count))"
        case .removed: return "\(count(all - objects.count, group.kind))\(whose) instead of \(alone(all))"
        case .changed:
            let members = objects.flatMap(\.members).prefix(maxNamed).map {
                "\($0.name) \(value($0.to)) instead of \(value($0.from))"
            }
            return "the \(word(group.kind))\(whose) with \(members.joined(separator: " and "))"
        }
    }

    /// The place among equals, from 1.
    private static func nth(_ key: JSONObject) -> Int {
        guard case .number(let number)? = key["nth"] else {
            // Of a picture, the capture that it belongs to may have one.
            return key.values.lazy.compactMap(\.members).compactMap { $0["nth"] == nil ? nil : nth($0) }.first ?? 1
        }
        return number.integer ?? 1
    }

    /// The words of a key by which a person knows the object.
    static func label(_ key: JSONObject) -> String {
        let inner = key.values.lazy.compactMap(\.members).map(label).first { !$0.isEmpty }
        for name in ["customer_item_id", "region_id", "event", "message", "url"] {
            if let text = key[name]?.text { return inner.map { "\(text) of \($0)" } ?? text }
        }
        return inner ?? key.sorted.filter { $0.name != "nth" }.compactMap(\.value.text).joined(separator: " ")
    }

    private static func word(_ kind: String) -> String { kind.replacing("_", with: " ") }

    private static func number(_ count: Int) -> String { numbers.indices ~= count ? numbers[count] : "\(count)" }

    /// A number without its noun.
    private static func alone(_ count: Int) -> String { count == 0 ? "none" : number(count) }

    private static func count(_ count: Int, _ kind: String) -> String {
        let word = word(kind)
        let plural = word.hasSuffix("y") ? word.dropLast() + "ies" : word + "s"
        return "\(number(count)) \(count == 1 ? word : plural)"
    }

    private static func value(_ value: JSONValue?) -> String {
        // A value that came as JSON can be written as JSON.
        let text = (try? WireJSON.encode(value ?? .null)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
        return text.utf8.count > 60 ? String(text.unicodeScalars.prefix(60)) + "…" : text
    }

    /// The text in one line, with `\u{202E}` for marks that turn what follows: SKUs and messages are the client's.
    static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            case .format: line.append(scalar.escaped(asASCII: true))
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
