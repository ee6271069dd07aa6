import EntrupyAPI
import Foundation
import SimulationAPI

/// The fault and outcome rules, and forms that make them. The forms offer what the namespace accepts.
enum RulesPage {
    private struct View: Encodable, Sendable {
        let faults: Rows<FaultRow>?
        let held: Rows<HeldRow>?
        let outcomes: Rows<OutcomeRow>?
        let isFaultOpen, isOutcomeOpen: Bool
        let route: String
        let routes: [String]
        let methods, effects, webhookEffects, webhookEvents, results, reasons: [Option]
        let effectFields, webhookFields: [EffectForm.Field]
        /// The effects with their sentences.
        let effectWords, webhookEffectWords: [Choice]?
        let brands, categories: [Option]
        let customerID, chosenBrand, chosenUser: String
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader, _ form: EffectForm) async throws -> PagePart {
        let faults = try await api.get("faults", as: FaultList.self).faults
        let held = try await api.get("held", as: HeldList.self).held
        let outcomes = try await api.get("outcomes", as: OutcomeList.self).outcomes
        let choices = try await api.get("choices", as: Choices.self)
        let (lists, names) = (choices.lists, Names(choices.lists))
        var paths: [String] = []
        for route in choices.routes where paths.last != route.path { paths.append(route.path) }
        var item: AuthenticationInfo?
        if let id = request.given("item") {
            // An item that is gone leaves the form empty.
            item = try? await api.get("authentications/\(URLPart.escaped(id))", as: AuthenticationInfo.self)
        }
        // Without its customer_item_id, an item is described by its brand and its user.
        let unnamed = item.flatMap { $0.customer_item_id == nil ? $0 : nil }
        let view = View(
            faults: Rows(faults.map { FaultRow($0, names) }),
            held: Rows(held.map { HeldRow(held: $0, isBefore: $0.when == "before") }),
            outcomes: Rows(outcomes.map { OutcomeRow($0, names) }),
            isFaultOpen: request.given("route") != nil,
            isOutcomeOpen: request.given("item") != nil, route: request.given("route").map(pattern) ?? "",
            routes: paths, methods: Option.all(lists["methods"], chosen: request.given("method")),
            effects: Option.all(lists["fault_effects"], chosen: request.given("effect") ?? "status"),
            webhookEffects: Option.all(lists["webhook_effects"]), webhookEvents: Option.all(lists["webhook_events"]),
            results: Option.all(lists["results"], chosen: "unknown"), reasons: Option.all(lists["invalid_reasons"]),
            effectFields: form.fields(of: lists["fault_effects"], prefix: "f-"),
            webhookFields: form.fields(of: lists["webhook_effects"], prefix: "w-"),
            effectWords: lists["fault_effects"], webhookEffectWords: lists["webhook_effects"],
            brands: Option.all(lists["brands"]), categories: Option.all(lists["categories"]),
            customerID: item?.customer_item_id ?? "", chosenBrand: unnamed?.v2.properties.brand_name ?? "",
            chosenUser: unnamed?.username ?? "")
        return PagePart(section: "rules", title: "Faults and outcome rules", template: "rules", view: view)
    }

    /// A path with `*` for its ids, as a rule would match it.
    private static func pattern(_ path: String) -> String {
        path.split(at: "/", omittingEmpty: false).map { PathParts.isID($0) ? "*" : String($0) }
            .joined(separator: "/")
    }
}

/// The conditions that a rule matches.
private func conditions(_ match: JSONValue, _ names: Names) -> [NamedText] {
    let members = match.members ?? [:]
    guard !members.isEmpty else { return [NamedText(name: "everything", value: "")] }
    return members.sorted.map { name, value in
        NamedText(name: name, value: value.text.map { names.value($0, of: name) } ?? PrettyJSON.line(value))
    }
}

private struct FaultRow: Encodable, Sendable {
    let rule: FaultInfo
    let match: [NamedText]
    let limits: String
    let isSpent: Bool
    /// The body that makes the rule again.
    let undo: String

    init(_ fault: FaultInfo, _ names: Names) {
        var rule: JSONObject = ["match": fault.match, "effect": fault.effect]
        var limits: [String] = []
        if let probability = fault.probability {
            rule["probability"] = .number(JSONNumber(text: "\(probability)"))
            limits.append("with probability \(probability)")
        }
        if fault.after_requests > 0 {
            rule["after_requests"] = .number(JSONNumber(fault.after_requests))
            limits.append("after \(Counted.text(fault.after_requests, "match", "matches"))")
        }
        if let times = fault.times {
            rule["times"] = .number(JSONNumber(times))
            limits.append("at most \(Counted.text(times, "time"))")
        }
        self.rule = fault
        match = conditions(fault.match, names)
        self.limits = limits.joined(separator: ", ")
        isSpent = fault.isSpent
        undo = PrettyJSON.line(.object(rule))
    }
}

private struct HeldRow: Encodable, Sendable {
    let held: HeldInfo
    let isBefore: Bool
}

private struct OutcomeRow: Encodable, Sendable {
    let rule: OutcomeInfo
    let match: [NamedText]
    let resultStyle: String
    let after: String?
    /// The reason of the result, by its name.
    let reason: String?
    let isSpent: Bool
    /// The body that makes the rule again.
    let undo: String

    init(_ outcome: OutcomeInfo, _ names: Names) {
        var rule: JSONObject = ["match": outcome.match, "result": .string(outcome.result)]
        rule["reason"] = outcome.reason.map { .string($0) }
        rule["after"] = outcome.after
        rule["times"] = outcome.times.map { .number(JSONNumber($0)) }
        self.rule = outcome
        match = conditions(outcome.match, names)
        reason = outcome.reason.map { names.value($0, of: "reason") }
        resultStyle = Style.result(outcome.result, isFinal: true)
        after = outcome.after.map { $0.text ?? PrettyJSON.line($0) }
        isSpent = outcome.times.map { outcome.hits >= $0 } ?? false
        undo = PrettyJSON.line(.object(rule))
    }
}
