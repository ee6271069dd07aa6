import Foundation
import SimulationAPI

/// A namespace: a platform of its own, with its own clock, data, limits and journal. Nothing that happens in another one is seen
/// here.
public struct SimulatedNamespace: Sendable {
    public let name: String
    /// The base URL for clients: the app's SDK, the back end under test.
    public let url: URL
    /// The API token of the seed data's organization DemoOrg.
    public let apiToken = "demo-api-token"
    let control: ControlConnection
    /// Whether notes on rules and scenarios fail the test.
    let isStrict: Bool

    @TaskLocal static var ofTask: SimulatedNamespace?

    init(name: String, address: String, token: String?, isStrict: Bool = false) {
        self.name = name
        self.isStrict = isStrict
        let own = address + "/ns/" + name
        url = URL(string: own) ?? URL(fileURLWithPath: own)
        control = ControlConnection(address: own, token: token)
    }

    /// The namespace of the running test, which the trait `.entrupySim()` made.
    ///
    /// - Throws: ``SimulatorError`` outside such a test.
    public static var current: SimulatedNamespace {
        get throws {
            guard let ofTask else {
                throw SimulatorError(
                    "this test has no namespace: add the trait .entrupySim() to it or to its suite, and ask on the test's own task"
                )
            }
            return ofTask
        }
    }

    /// The environment for an app that a UI test launches: its EntrupySDK then uses this namespace.
    public var launchEnvironment: [String: String] {
        var environment = ["ENTRUPY_SIM_URL": url.absoluteString]
        environment["ENTRUPY_SIM_CONTROL_TOKEN"] = control.token
        return environment
    }

    // MARK: Time

    /// The namespace's clock.
    public var clock: SimulatedClock { SimulatedClock(control: control) }

    /// Waits until no result and no webhook is pending, in real time.
    ///
    /// - Parameter within: at most 10 minutes.
    /// - Throws: ``SimulatorError`` if some still are after `within`, or at once on a frozen clock that an advance has to move.
    public func settle(within: SimulatedDuration = "5s") async throws {
        try await control.send(
            "POST", "/_sim/settle", try ControlConnection.json(["within": .string(within.text)]),
            timeout: (within.seconds ?? 0) + 60)
    }

    /// Waits for an event, in real time. One that has happened already counts.
    ///
    /// - Throws: ``SimulatorError`` if it did not happen within `within`.
    public func wait(for event: SimulatedEvent, within: SimulatedDuration = "5s") async throws {
        guard let seconds = within.seconds, seconds > 0, seconds <= 86_400 else {
            throw SimulatorError("within must be a duration of more than 0 s and at most 24 h, got \(within.text)")
        }
        let query = event.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // Subscribes to the topic that the awaited event does not have, so that the stream holds no other event of its topic.
        let isWebhook = event.text.hasPrefix("webhook:")
        let path = "/_sim/events?until=\(query)&types=\(isWebhook ? "state" : "webhook")"
        let line = "event: \(isWebhook ? "webhook" : "state")\n"
        let isMet = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                let stream = String(
                    decoding: try await control.send("GET", path, timeout: seconds + 60), as: UTF8.self)
                guard stream.contains(line) else {
                    throw SimulatorError(
                        "the event stream ended before \(event.text): the namespace was deleted, or the server is stopping"
                    )
                }
                return true
            }
            group.addTask {
                try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        guard !isMet else { return }
        let clock = try await clock.state
        let hint = clock.mode == "frozen" ? ". The clock is frozen at \(clock.now): advance it" : ""
        throw SimulatorError("\(event.text) did not happen within \(within.text)\(hint)")
    }

    // MARK: Outcomes and faults

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
                "result": .string(result),
                "match": .object(JSONObject(matching.map { ($0.member, .string($0.value)) })),
                "reason": reason.map { .string($0) } ?? .null, "after": after.map { .string($0.text) } ?? .null,
                "times": times.map { .number(JSONNumber($0)) } ?? .null,
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
    ///   - times: the maximum number of times that it is triggered; `nil` for no limit.
    ///   - afterRequests: the number of matching requests that pass first.
    ///   - probability: from 0 to 1; `nil` for 1.
    @discardableResult
    public func fault(
        _ effect: FaultEffect, on route: String? = nil, method: String? = nil, webhook: String? = nil,
        username: String? = nil, times: Int? = nil, afterRequests: Int? = nil, probability: Double? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> FaultInfo {
        if let route { try Self.check(route) }
        let match: [(String, String?)] = [
            ("route", route), ("method", method), ("webhook", webhook), ("username", username),
        ]
        let info = try await control.send(
            "POST", "/_sim/faults",
            [
                "match": .object(JSONObject(match.compactMap { name, value in value.map { (name, .string($0)) } })),
                "effect": effect.value, "times": times.map { .number(JSONNumber($0)) } ?? .null,
                "after_requests": afterRequests.map { .number(JSONNumber($0)) } ?? .null,
                "probability": probability.map { .number(JSONNumber(text: "\($0)")) } ?? .null,
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
            "PATCH", "/_sim/authentications/\(Self.segment(entrupyID))",
            try ControlConnection.json(["result": .string(result), "reason": reason.map { .string($0) } ?? .null]))
    }

    /// Resolves the flag of an item, as support would.
    ///
    /// - Parameter result: the new result; `nil` to keep it.
    public func resolveFlag(of entrupyID: String, note: String, result: String? = nil) async throws {
        try await control.send(
            "POST", "/_sim/authentications/\(Self.segment(entrupyID))/flag/resolve",
            try ControlConnection.json(["note": .string(note), "result": result.map { .string($0) } ?? .null]))
    }

    /// Asks for new pictures of an item, as support would.
    ///
    /// - Parameter regions: the ids of the regions; `nil` for all that the workflow requires.
    public func requestRetake(of entrupyID: String, regions: [String]? = nil, message: String? = nil) async throws {
        try await control.send(
            "POST", "/_sim/authentications/\(Self.segment(entrupyID))/retake",
            try ControlConnection.json([
                "regions": regions.map { .array($0.map { .string($0) }) } ?? .null,
                "message": message.map { .string($0) } ?? .null,
            ]))
    }

    /// Makes items without captures.
    ///
    /// - Parameters:
    ///   - count: the number of items, which send no webhooks, even if it is 1; `nil` for one item that sends them.
    ///   - username: an unknown one is created; it begins with an organization's name and `-`.
    ///   - fields: further fields of the item, such as `customer_item_id`.
    /// - Returns: the ids of the first 1,000.
    @discardableResult
    public func insertItems(
        _ count: Int? = nil, brand: String = "Nike", result: String? = nil, username: String? = nil,
        fields: [String: String] = [:]
    ) async throws -> [String] {
        var template: [(String, JSONValue)] = [("brand", .string(brand))]
        if let result { template.append(("result", .string(result))) }
        if let username { template.append(("username", .string(username))) }
        template += fields.map { ($0.key, .string($0.value)) }
        struct Made: Decodable { var entrupy_ids: [String] }
        return try await control.send(
            "POST", "/_sim/authentications",
            [
                "count": count.map { .number(JSONNumber($0)) } ?? .null, "template": .object(JSONObject(template)),
            ], as: Made.self, timeout: ControlConnection.work
        ).entrupy_ids
    }

    /// Ends every session.
    public func revokeSessions() async throws {
        try await control.send("DELETE", "/_sim/sessions")
    }

    // MARK: Requests

    /// The requests of clients, newest first, at most 1,000.
    ///
    /// - Parameters:
    ///   - route: a glob over the path; `nil` for all.
    ///   - anyRoute: whether the route may be one that the platforms do not have. Otherwise such a route is an error: nothing found
    ///     would say nothing.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or has no such route.
    public func requests(_ route: String? = nil, anyRoute: Bool = false) async throws -> [JournaledRequest] {
        if let route {
            try Self.check(route)
            if !anyRoute { try await checkIsKnown(route) }
        }
        let filter =
            route.map { "&route=" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") } ?? ""
        return try await control.send("GET", "/_sim/requests?limit=1000\(filter)", as: RequestList.self).requests
    }

    /// Asks for no number of requests, which fails only if the route is unknown.
    private func checkIsKnown(_ route: String) async throws {
        let body = try ControlConnection.json(["match": ["route": .string(route)], "at_least": 0])
        let (code, answer) = try await control.answer("POST", "/_sim/requests/verify", body)
        guard code == 400 else { return }
        let envelope = try control.decode(ErrorEnvelope.self, from: answer)
        guard envelope.details.contains(where: { $0.field == "match.route" }) else { return }
        throw SimulatorError("\(envelope.error): anyRoute: true in requests", status: code)
    }

    /// Whether an answer reached its client.
    public enum Delivery: String, Sendable {
        /// The whole answer left the server.
        case yes = "true"
        /// A fault lost the answer, or the connection ended before.
        case no = "false"
        case any
    }

    /// Expects requests of clients. Without a number, one is enough.
    ///
    /// In a test of Swift Testing a wrong number is recorded as an issue of the calling line, and the test goes on. Elsewhere it is
    /// thrown, which fails a test of XCTest.
    ///
    /// - Parameters:
    ///   - route: a glob over the path without the namespace, for instance `/sdk/results/*/flag`.
    ///   - status: a status, or a class such as `5xx`.
    ///   - delivered: whether the answer reached the client; `nil` for only delivered answers where there is a status, else for all.
    ///   - anyRoute: whether the route may be one that the platforms do not have. Otherwise such a route is an error: it would make
    ///     an expectation of none worthless.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or has no such route, and outside Swift Testing for a wrong number.
    public func expectRequest(
        _ method: String? = nil, _ route: String, status: String? = nil, delivered: Delivery? = nil,
        username: String? = nil, times: Int? = nil, atLeast: Int? = nil, atMost: Int? = nil, anyRoute: Bool = false,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        try Self.check(route)
        let match: [(String, String?)] = [
            ("route", route), ("method", method), ("status", status), ("delivered", delivered?.rawValue),
            ("username", username),
        ]
        let body = try ControlConnection.json([
            "match": .object(JSONObject(match.compactMap { name, value in value.map { (name, .string($0)) } })),
            "times": times.map { .number(JSONNumber($0)) } ?? .null,
            "at_least": atLeast.map { .number(JSONNumber($0)) } ?? .null,
            "at_most": atMost.map { .number(JSONNumber($0)) } ?? .null,
            "any_route": anyRoute ? .bool(true) : .null,
        ])
        let (code, answer) = try await control.answer("POST", "/_sim/requests/verify", body)
        guard code != 200 else { return }
        let envelope = try control.decode(ErrorEnvelope.self, from: answer)
        guard code == 409 else {
            let isUnknown = envelope.details.contains { $0.field == "match.route" }
            throw SimulatorError(envelope.error + (isUnknown ? ": anyRoute: true in expectRequest" : ""), status: code)
        }
        let near = (envelope.nearest ?? []).map {
            "\n  \($0.request.method) \($0.request.path) \($0.request.answerText): \($0.differences.joined(separator: ", "))"
        }
        let delivery = delivered.map { "delivered: \($0.rawValue)" }
        let wanted = [method, route, status, delivery, username].compactMap { $0 }.joined(separator: " ")
        let text = "\(wanted): \(envelope.error)" + (near.isEmpty ? "" : "; nearest:" + near.joined())
        try TestFailure.record(text, fileID, filePath, line, column)
    }

    /// Verifies the expectations of the scenario that was started here, as ``expectRequest(_:_:status:delivered:username:times:atLeast:atMost:anyRoute:fileID:filePath:line:column:)``
    /// does.
    ///
    /// - Parameter strict: whether notes are failures too: parts of the scenario that nothing can match, and faults with a number of
    ///   times that were never met. `nil` if the namespace decides; they are warnings of the test otherwise.
    public func verifyScenario(
        _ name: String, strict: Bool? = nil, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) async throws {
        let (code, answer) = try await control.answer(
            "POST", "/_sim/scenarios/\(Self.segment(name))/verify\(strict ?? isStrict ? "?strict=true" : "")",
            timeout: ControlConnection.work)
        guard code != 200 else {
            let notes = try control.decode(ScenarioRun.self, from: answer).notes
            for note in notes { TestFailure.warn("\(note.field): \(note.problem)", fileID, filePath, line, column) }
            return
        }
        let envelope = try control.decode(ErrorEnvelope.self, from: answer)
        let problems = envelope.details.map { "\n  \($0.field): \($0.problem)" }.joined()
        guard code == 409 else { throw SimulatorError(envelope.error + problems) }
        try TestFailure.record(envelope.error + problems, fileID, filePath, line, column)
    }

    // MARK: The namespace as a whole

    /// Saves the namespace's state under a name, to come back to with ``restore(_:)``.
    public func snapshot(_ name: String) async throws {
        try Self.check(name: name, "snapshot")
        try await control.send("PUT", "/_sim/snapshots/\(Self.segment(name))", timeout: ControlConnection.work)
    }

    /// Goes back to a snapshot. The clock goes back too.
    public func restore(_ name: String) async throws {
        try Self.check(name: name, "snapshot")
        try await control.send(
            "POST", "/_sim/snapshots/\(Self.segment(name))/restore", timeout: ControlConnection.work)
    }

    /// Goes back to the seed data.
    public func reset() async throws {
        try await control.send("POST", "/_sim/reset", timeout: ControlConnection.work)
    }

    /// Deletes the namespace. Succeeds if it is already deleted.
    public func delete() async throws {
        do {
            try await control.send("DELETE", "/_sim/namespaces/\(name)")
        } catch let error as SimulatorError where error.status == 404 {}
    }

    /// Returns the namespace's whole state as one archive, which contains tokens. `entrupy-sim serve --bundle FILE`
    /// opens it.
    ///
    /// - Parameter maxBytes: the size from which it is refused: it is held in memory.
    public func bundle(maxBytes: Int = 1 << 30) async throws -> Data {
        let bundle = Collected()
        try await control.download("/_sim/bundle", maxBytes: maxBytes) { bundle.append($0) }
        return bundle.data
    }

    /// Writes the bundle to a file that only its owner may read. A download that fails leaves none.
    ///
    /// - Parameters:
    ///   - name: the beginning of the file's name; `nil` for the namespace's name.
    ///   - maxBytes: the size from which it is refused.
    /// - Returns: its path, in the directory `ENTRUPY_SIM_ARTIFACTS` of the environment, else in the temporary directory.
    @discardableResult
    public func saveBundle(named name: String? = nil, maxBytes: Int = 16 << 30) async throws -> String {
        let file = Self.bundle(named: name ?? self.name)
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            // Its own name: another run may save a bundle of the same test now.
            let part = "\(file.path).\(ProcessInfo.processInfo.processIdentifier)-\(self.name).part"
            guard
                FileManager.default.createFile(
                    atPath: part, contents: nil, attributes: [.posixPermissions: 0o600]),
                let handle = FileHandle(forWritingAtPath: part)
            else { throw CocoaError(.fileWriteNoPermission) }
            // The file is gone already if all went well.
            defer { try? FileManager.default.removeItem(atPath: part) }
            try await control.download("/_sim/bundle", maxBytes: maxBytes) { bytes in
                do {
                    try handle.write(contentsOf: bytes)
                } catch {
                    throw Self.cannotWrite(file, error)
                }
            }
            try handle.close()
            try Self.move(part, to: file)
        } catch let error where error is SimulatorError || error is CancellationError {
            throw error
        } catch {
            throw Self.cannotWrite(file, error)
        }
        return file.path
    }

    /// The directory in `ENTRUPY_SIM_ARTIFACTS` of the environment; `nil` if it has none.
    static var artifacts: URL? {
        ProcessInfo.processInfo.environment["ENTRUPY_SIM_ARTIFACTS"]
            .flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
    }

    private static func bundle(named name: String) -> URL {
        (artifacts ?? FileManager.default.temporaryDirectory).appendingPathComponent("\(name).entrupy-bundle.tar")
    }

    /// Removes the bundle that an earlier failure of a test left, if there is one. Prints why it stays.
    static func removeBundle(named name: BundleName) {
        let file = bundle(named: name.description)
        do {
            try FileManager.default.removeItem(at: file)
        } catch CocoaError.fileNoSuchFile {
            // The test did not fail before.
        } catch {
            printToStandardError("the old bundle \(file.path) cannot be removed: \(error.localizedDescription)")
        }
    }

    /// Gives a file its name, also if another one has it.
    private static func move(_ part: String, to file: URL) throws {
        #if os(Windows)
            // Mostly there is none. One that stays fails the move, which says why.
            try? FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(atPath: part, toPath: file.path)
        #else
            guard rename(part, file.path) == 0 else {
                throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            }
        #endif
    }

    private static func cannotWrite(_ file: URL, _ error: any Error) -> SimulatorError {
        SimulatorError("the bundle cannot be written to \(file.path): \(error.localizedDescription)")
    }

    /// The parts of a download, put together.
    private final class Collected: @unchecked Sendable {
        // The parts come one after another, and it is read after the last.
        private(set) var data = Data()

        func append(_ part: Data) { data.append(part) }
    }

    /// Sends any request to the control API of this namespace.
    ///
    /// - Parameter path: for instance `/_sim/due`.
    /// - Returns: the body of the answer.
    @discardableResult
    public func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        guard path.hasPrefix("/") else {
            throw SimulatorError("the path \(path.debugDescription) must begin with a slash: /_sim/due")
        }
        let data = try await control.send(
            method, path, try body.map { try WireJSON.encode($0) }, timeout: ControlConnection.work)
        return data.isEmpty ? .null : try control.decode(JSONValue.self, from: data)
    }

    /// Starts a scenario here. Where the namespace is strict, a part of the scenario that nothing can match is an error.
    ///
    /// - Parameter document: the YAML of a scenario that the server does not have.
    func start(_ scenario: String, _ document: Data?) async throws {
        try Self.check(name: scenario, "scenario")
        var path = "/_sim/scenarios/\(Self.segment(scenario))/start"
        var body: [String: JSONValue] = [:]
        if let document {
            guard let text = String(data: document, encoding: .utf8) else {
                throw SimulatorError("the scenario \(scenario) is not UTF-8: save it as UTF-8")
            }
            path = "/_sim/scenarios/start"
            body["scenario"] = .string(text)
        }
        let run = try await control.send(
            "POST", path + (isStrict ? "?strict=true" : ""), body, as: ScenarioRun.self, timeout: ControlConnection.work
        )
        for note in run.notes { TestFailure.warn("the scenario \(run.name): \(note.field): \(note.problem)") }
    }

    /// Throws if no request can have a route: a mistake would make an expectation of none worthless.
    private static func check(_ route: String) throws {
        guard route.hasPrefix("/") || route.hasPrefix("*"), !route.hasPrefix("/ns/") else {
            throw SimulatorError(
                "the route \(route.debugDescription) matches no request: write the path without the namespace, with its first slash, "
                    + "for instance /sdk/results/*/flag")
        }
    }

    private static func check(name: String, _ what: String) throws {
        guard !name.isEmpty else { throw SimulatorError("the name of the \(what) must not be empty") }
    }

    static func segment(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    /// Prints a line to standard error.
    static func printToStandardError(_ text: String) {
        FileHandle.standardError.write(Data("entrupy-sim: \(text)\n".utf8))
    }
}
