import ClientTransport
import Foundation
import SimulationAPI

// Outcome rules, faults, settings, and the actions of support.
extension SimulatedNamespace {
    /// Decides the results of items that are submitted from now on. The first rule that matches decides.
    ///
    /// A part of the rule that nothing matches, such as a misspelt brand, is a note: a warning of the test, or an issue where the
    /// namespace is strict.
    ///
    /// - Parameters:
    ///   - result: the id of a result, such as `authentic` or `invalid`; `match` and `no_match` only for compared fingerprints;
    ///     for App Components the name of an error or of a picture's quality.
    ///   - matching: all must hold; an empty list matches every item.
    ///   - reason: one of the seed data's reasons, only for `invalid`.
    ///   - after: the time from the submission to the result; `nil` for the namespace's delay.
    ///   - times: the maximum number of items that it decides; `nil` for no limit.
    @discardableResult
    public func outcome(
        _ result: String, for matching: [OutcomeMatch] = [], reason: String? = nil, after: SimulatedDuration? = nil,
        times: Int? = nil, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) async throws -> OutcomeInfo {
        let info = try await control.send(
            "POST", "/_sim/outcomes",
            [
                "result": result, "match": Dictionary(matching.map { ($0.member, $0.value) }) { $1 }, "reason": reason,
                "after": after, "times": times,
            ], as: OutcomeInfo.self)
        try report(info.note_details, of: "the outcome rule \(info.id)", fileID, filePath, line, column)
        return info
    }

    /// Makes requests or webhooks fail. The first rule that matches counts.
    ///
    /// A part of the rule that nothing matches, such as a misspelt route, is a note: a warning of the test, or an issue where the
    /// namespace is strict.
    ///
    /// - Parameters:
    ///   - route: a glob over the path without the namespace, for instance `/sdk/captures/*/submit`; `nil` for all.
    ///   - webhook: the event whose webhooks it concerns, instead of a route.
    ///   - method: an HTTP method; `nil` for all.
    ///   - username: the user of the request's session; `nil` for all.
    ///   - header: names of headers, each with a glob for its value.
    ///   - times: the maximum number of times that it is triggered; `nil` for no limit.
    ///   - afterRequests: the number of matching requests that pass first.
    ///   - probability: from 0 to 1; `nil` for 1.
    @discardableResult
    public func fault(
        _ effect: FaultEffect, on route: String? = nil, method: String? = nil, webhook: String? = nil,
        username: String? = nil, header: [String: String] = [:], times: Int? = nil, afterRequests: Int? = nil,
        probability: Double? = nil, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) async throws -> FaultInfo {
        if let route { try Self.check(route) }
        let texts = ["route": route, "method": method, "webhook": webhook, "username": username]
        var match = texts.compactMapValues { $0?.json }
        if !header.isEmpty { match["header"] = header.json }
        let info = try await control.send(
            "POST", "/_sim/faults",
            [
                "match": match, "effect": effect.value, "times": times, "after_requests": afterRequests,
                "probability": probability.map { JSONValue.number(JSONNumber(text: "\($0)")) },
            ], as: FaultInfo.self)
        try report(info.note_details, of: "the fault \(info.id)", fileID, filePath, line, column)
        return info
    }

    /// Shows notes as warnings of the test. Where the namespace is strict, one that no later event can resolve is a failure;
    /// ``verifyRules(fileID:filePath:line:column:)`` looks at the others.
    private func report(
        _ notes: [RuleNote], of subject: String, _ fileID: String, _ filePath: String, _ line: Int, _ column: Int
    ) throws {
        func text(_ notes: [RuleNote]) -> String {
            "\(subject): " + notes.map { "\($0.field): \($0.problem)" }.joined(separator: "; ")
        }
        let wrong = isStrict ? notes.filter { !$0.may_change } : []
        let others = notes.filter { !wrong.contains($0) }
        if !others.isEmpty { TestFailure.warn(text(others), fileID, filePath, line, column) }
        if !wrong.isEmpty { try TestFailure.record(text(wrong), fileID, filePath, line, column) }
    }

    /// Checks the notes that a later event could have resolved, such as a user who may come later, where the namespace is strict:
    /// those of rules that were never met and that still stand are failures. The trait does so at the end of each test.
    ///
    /// - Throws: ``SimulatorError`` if the server cannot be asked, and outside Swift Testing for a note that stands.
    public func verifyRules(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        guard isStrict else { return }
        let faults = try await control.send("GET", "/_sim/faults", as: FaultList.self).faults
        let outcomes = try await control.send("GET", "/_sim/outcomes", as: OutcomeList.self).outcomes
        let rules =
            outcomes.filter { $0.hits == 0 }.map { (text: "the outcome rule \($0.id)", notes: $0.note_details) }
            + faults.filter { $0.seen == 0 }.map { (text: "the fault \($0.id)", notes: $0.note_details) }
        for rule in rules {
            for note in rule.notes where note.may_change {
                let text = "\(rule.text): \(note.field): \(note.problem)"
                try TestFailure.record(text, fileID, filePath, line, column)
            }
        }
    }

    /// Removes every fault.
    public func clearFaults() async throws {
        try await control.send("DELETE", "/_sim/faults")
    }

    /// Changes settings, as a JSON merge patch: `["quota": 3]`.
    public func settings(_ changes: JSONValue) async throws {
        try await control.send("PATCH", "/_sim/settings", try WireJSON.encode(changes))
    }

    /// Sets the result of an item, as the platform would.
    public func setResult(_ result: String, of entrupyID: String, reason: String? = nil) async throws {
        try await control.send(
            "PATCH", "/_sim/authentications/\(entrupyID.segment)", members: ["result": result, "reason": reason])
    }

    /// Resolves the flag of an item, as support would.
    ///
    /// - Parameter result: the new result; `nil` to keep it.
    public func resolveFlag(of entrupyID: String, note: String, result: String? = nil) async throws {
        try await control.send(
            "POST", "/_sim/authentications/\(entrupyID.segment)/flag/resolve",
            members: ["note": note, "result": result])
    }

    /// Asks for new pictures of an item, as support would.
    ///
    /// - Parameter regions: the ids of the regions; `nil` for all that the workflow requires.
    public func requestRetake(of entrupyID: String, regions: [String]? = nil, message: String? = nil) async throws {
        try await control.send(
            "POST", "/_sim/authentications/\(entrupyID.segment)/retake",
            members: ["regions": regions, "message": message])
    }

    /// Makes items without captures.
    ///
    /// - Parameters:
    ///   - count: the number of items, which send no webhooks, even if it is 1; `nil` for one item that sends them.
    ///   - flag: the item's flag, such as `flagged`, also where users may not flag it; `nil` for none.
    ///   - username: an unknown one is created; it begins with an organization's name and `-`.
    ///   - fields: further fields of the item, such as `customer_item_id`.
    /// - Returns: the ids of the first 1,000.
    @discardableResult
    public func insertItems(
        _ count: Int? = nil, brand: String = "Nike", result: String? = nil, flag: String? = nil,
        username: String? = nil, fields: [String: String] = [:]
    ) async throws -> [String] {
        let named = ["brand": brand, "result": result, "flag": flag, "username": username]
        let template = named.compactMapValues(\.self).merging(fields) { $1 }
        struct Made: Decodable { var entrupy_ids: [String] }
        return try await control.send(
            "POST", "/_sim/authentications", ["count": count, "template": template], as: Made.self,
            timeout: ControlConnection.work
        ).entrupy_ids
    }

    /// Subscribes a receiver to webhooks, as the back end of an organization would. Each call makes a subscription, also for the
    /// same URL.
    ///
    /// - Parameters:
    ///   - url: the address that deliveries go to.
    ///   - secret: the key of their signatures.
    ///   - events: their names, such as `session.completed`; `nil` for all.
    ///   - organization: its name; `nil` for the first one of the namespace.
    ///   - username: only items of this user; `nil` for all users.
    /// - Returns: the id of the subscription.
    @discardableResult
    public func subscribe(
        _ url: String, secret: String, events: [String]? = nil, organization: String? = nil, username: String? = nil
    ) async throws -> String {
        struct Made: Decodable { var id: String }
        return try await control.send(
            "POST", "/_sim/webhooks",
            [
                "url": url, "secret_key": secret, "events": events, "organization": organization, "username": username,
            ], as: Made.self
        ).id
    }

    /// Deletes a subscription, of any organization. Its open deliveries are not sent.
    public func unsubscribe(_ id: String) async throws {
        try await control.send("DELETE", "/_sim/webhooks/\(id.segment)")
    }

    /// Ends sessions: their next request is 401.
    ///
    /// - Parameter username: only the sessions of this user; `nil` for all.
    /// - Throws: ``SimulatorError`` if there is no such user.
    public func revokeSessions(of username: String? = nil) async throws {
        try await control.send("DELETE", ControlConnection.path("/_sim/sessions", [("username", username)]))
    }

    /// A user of the app, who can flag items: `try await sim.user().flag(item)`. Sends nothing yet.
    ///
    /// - Parameter username: a username, or the `unique_user_id` of a user of the first organization. The default is the user of the
    ///   items that ``insertItems(_:brand:result:flag:username:fields:)`` makes. Each call gives a user who is not logged in.
    public func user(_ username: String = "DemoOrg-sim-test-user") -> SimulatedUser {
        SimulatedUser(username, control)
    }
}
