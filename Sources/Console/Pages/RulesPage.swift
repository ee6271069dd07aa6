import EntrupyAPI
import Foundation
import SimulationAPI

/// The fault and outcome rules, and forms that make them. The forms offer what the namespace accepts.
enum RulesPage {
    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let faults = try await api.get("faults", as: FaultList.self).faults
        let held = try await api.get("held", as: HeldList.self).held
        let outcomes = try await api.get("outcomes", as: OutcomeList.self).outcomes
        let choices = try await api.get("choices", as: Choices.self)
        let lists = choices.lists
        var view: View = [
            "faults": faults.map { fault($0, request) }, "hasFaults": !faults.isEmpty, "noFaults": faults.isEmpty,
            "held": held.map { self.held($0, request) }, "hasHeld": !held.isEmpty,
            "outcomes": outcomes.map { outcome($0, request) }, "hasOutcomes": !outcomes.isEmpty,
            "noOutcomes": outcomes.isEmpty,
            "faultsPath": "\(request.base)/_sim/faults", "outcomesPath": "\(request.base)/_sim/outcomes",
        ]
        var paths: [String] = []
        for route in choices.routes where paths.last != route.path { paths.append(route.path) }
        view["routes"] = paths.map { ["route": $0] as View }
        view["methods"] = Options.view(lists["methods"], chosen: request.given("method"))
        view["effects"] = Options.view(
            lists["fault_effects"]?.filter { lists["effect.\($0.id)"] == nil },
            chosen: request.given("effect") ?? "status")
        view["componentErrors"] = Options.view(lists["effect.component_error"], chosen: nil)
        view["webhookEffects"] = Options.view(lists["webhook_effects"], chosen: nil)
        view["webhookEvents"] = Options.view(lists["webhook_events"], chosen: nil)
        view["results"] = Options.view(lists["results"], chosen: "unknown")
        view["reasons"] = Options.view(lists["invalid_reasons"], chosen: nil)
        view["brands"] = Options.view(lists["brands"], chosen: nil)
        view["categories"] = Options.view(lists["categories"], chosen: nil)
        view["route"] = request.given("route").map(pattern) ?? ""
        view["customerID"] = ""
        view["chosenBrand"] = ""
        view["chosenUser"] = ""
        // An item that is gone leaves the form empty.
        if let item = request.given("item"),
            let found = try? await api.get("authentications/\(Link.escaped(item))", as: AuthenticationInfo.self)
        {
            view["customerID"] = found.customer_item_id ?? ""
            view["chosenBrand"] = found.customer_item_id == nil ? found.v2.properties.brand_name ?? "" : ""
            view["chosenUser"] = found.customer_item_id == nil ? found.username : ""
        }
        view["isFaultOpen"] = request.given("route") != nil
        view["isOutcomeOpen"] = request.given("item") != nil
        return PagePart(section: "rules", title: "Faults and outcome rules", template: "rules", view: view)
    }

    /// A path with `*` for its ids, as a rule would match it.
    private static func pattern(_ path: String) -> String {
        func isID(_ part: Substring) -> Bool {
            part.contains(ascii: "_") && part.prefix(before: "_").utf8.count == 3
                || part.utf8.count == 8
                    && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
        }
        return path.split(at: "/", omittingEmpty: false).map { isID($0) ? "*" : String($0) }.joined(separator: "/")
    }

    private static func fault(_ fault: FaultInfo, _ request: ConsoleRequest) -> View {
        var rule: JSONObject = ["match": fault.match, "effect": fault.effect]
        if let probability = fault.probability { rule["probability"] = .number(JSONNumber(text: "\(probability)")) }
        if let times = fault.times { rule["times"] = .number(JSONNumber(times)) }
        if fault.after_requests > 0 { rule["after_requests"] = .number(JSONNumber(fault.after_requests)) }
        var limits: [String] = []
        if let probability = fault.probability { limits.append("with probability \(probability)") }
        if fault.after_requests > 0 { limits.append("after \(fault.after_requests) matches") }
        if let times = fault.times { limits.append("at most \(times) times") }
        return [
            "key": fault.id, "ruleID": fault.id, "match": match(fault.match), "effect": PrettyJSON.line(fault.effect),
            "limits": limits.joined(separator: ", "), "hits": fault.hits, "seen": fault.seen,
            "isSpent": fault.isSpent, "notes": fault.notes, "hasNotes": !fault.notes.isEmpty,
            "rulePath": "\(request.base)/_sim/faults/\(Link.escaped(fault.id))",
            "undo": PrettyJSON.line(.object(rule)),
        ]
    }

    private static func held(_ held: HeldInfo, _ request: ConsoleRequest) -> View {
        [
            "key": held.id, "heldID": held.id, "method": held.request.method, "path": held.request.path,
            "user": held.request.username ?? "", "test": held.request.test ?? "", "hasTest": held.request.test != nil,
            "trace": held.request.trace ?? "", "hasTrace": held.request.trace != nil,
            "traceLink": request.console + Link.query([("q", held.request.trace.map { "trace:\($0)" })]),
            "when": held.when == "before" ? "before it is handled" : "after, with its answer kept",
            "until": Moment.text(held.until), "untilISO": Moment.iso(held.until),
            "releasePath": "\(request.base)/_sim/held/\(Link.escaped(held.id))/release",
        ]
    }

    private static func outcome(_ outcome: OutcomeInfo, _ request: ConsoleRequest) -> View {
        var rule: JSONObject = ["match": outcome.match, "result": .string(outcome.result)]
        rule["reason"] = outcome.reason.map { .string($0) }
        rule["after"] = outcome.after
        rule["times"] = outcome.times.map { .number(JSONNumber($0)) }
        return [
            "key": outcome.id, "ruleID": outcome.id, "match": match(outcome.match), "result": outcome.result,
            "resultStyle": Style.result(outcome.result, isFinal: true),
            "reason": outcome.reason ?? "", "hasReason": outcome.reason != nil,
            "after": outcome.after.map { $0.text ?? PrettyJSON.line($0) } ?? "", "hasAfter": outcome.after != nil,
            "hits": outcome.hits, "times": outcome.times ?? 0, "hasTimes": outcome.times != nil,
            "isSpent": outcome.times.map { outcome.hits >= $0 } ?? false,
            "notes": outcome.notes, "hasNotes": !outcome.notes.isEmpty,
            "rulePath": "\(request.base)/_sim/outcomes/\(Link.escaped(outcome.id))",
            "undo": PrettyJSON.line(.object(rule)),
        ]
    }

    /// The parts of a condition.
    private static func match(_ match: JSONValue) -> [View] {
        let members = match.members ?? [:]
        guard !members.isEmpty else { return [["field": "everything", "value": ""]] }
        return members.keys.sorted().map { key in
            let value = members[key] ?? .null
            return ["field": key, "value": value.text ?? PrettyJSON.line(value)]
        }
    }
}
