import ClientTransport
import Foundation
import SimulationAPI

// The requests of clients, and expectations about them.
extension SimulatedNamespace {
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
        let filter = [("limit", "1000"), ("route", route), ("any_route", anyRoute ? "true" : nil)]
        let path = ControlConnection.path("/_sim/requests", filter)
        return try await control.send("GET", path, as: RequestList.self).requests
    }

    /// Asks for a request of the route, which is 400 only if the route is unknown.
    private func checkIsKnown(_ route: String) async throws {
        let body = try ControlConnection.json(["match": ["route": route]])
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

    /// A kind of name that an expectation may have although nobody has it.
    public enum UnknownName: String, CaseIterable, Sendable {
        case user
        /// A test that has sent no request.
        case test
        /// An item or a capture in the route.
        case item
        /// A region in the route.
        case region
        /// A status that the routes do not answer.
        case status
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
    ///   - since: the earliest time that counts, by the namespace's clock, in ISO 8601; or `sequence:N`, the number in the journal of the
    ///     first request that does. After a restore, of what the journal has forgotten nothing can be said.
    ///   - anyRoute: whether the route may be one that the platforms do not have, also with this method. Otherwise such a route is an
    ///     error: it would make an expectation of none worthless.
    ///   - allowing: the other kinds of names that nobody may have. Where no request is expected, such a name is an error too.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or has no such route, and outside Swift Testing for a wrong number.
    public func expectRequest(
        _ method: String? = nil, _ route: String, status: String? = nil, delivered: Delivery? = nil,
        username: String? = nil, since: String? = nil, times: Int? = nil, atLeast: Int? = nil, atMost: Int? = nil,
        anyRoute: Bool = false, allowing: Set<UnknownName> = [], fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        try Self.check(route)
        let expected = ExpectedRequest(method, route, status: status, delivered: delivered, username: username)
        var match = expected.members
        match["since"] = since
        var members: [String: (any ControlValue)?] = [
            "match": match, "times": times, "at_least": atLeast, "at_most": atMost, "any_route": anyRoute ? true : nil,
        ]
        for name in allowing { members["any_\(name.rawValue)"] = true }
        guard let problem = try await unverified(members, "expectRequest") else { return }
        let delivery = delivered.map { "delivered: \($0.rawValue)" }
        let wanted = [method, route, status, delivery, username].compactMap { $0 }.joined(separator: " ")
        try TestFailure.record("\(wanted): \(problem)", fileID, filePath, line, column)
    }

    /// Expects requests of clients in an order, with any others between them.
    ///
    /// ```swift
    /// try await sim.expectRequests(
    ///     [.init("POST", "/sdk/captures", status: "429"), .init("POST", "/sdk/captures", status: "201")], minGap: "2s")
    /// ```
    ///
    /// A failure says which step was not found, counted from 0, and the nearest requests.
    ///
    /// - Parameters:
    ///   - steps: the requests, 1 to 100.
    ///   - minGap: the least time from the answer of a step to the request of the next one: real time, or the namespace's time where
    ///     the clock was moved, whichever is longer. `nil` for any.
    ///   - maxGap: the longest such time; `nil` for any.
    ///   - anyRoute: whether the routes may be ones that the platforms do not have.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or has no such route, and outside Swift Testing if the requests did
    ///   not come in this order.
    public func expectRequests(
        _ steps: [ExpectedRequest], minGap: SimulatedDuration? = nil, maxGap: SimulatedDuration? = nil,
        anyRoute: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) async throws {
        for step in steps { try Self.check(step.route) }
        let members: [String: (any ControlValue)?] = [
            "sequence": steps.map(\.members), "min_gap": minGap, "max_gap": maxGap, "any_route": anyRoute ? true : nil,
        ]
        guard let problem = try await unverified(members, "expectRequests") else { return }
        try TestFailure.record(problem, fileID, filePath, line, column)
    }

    /// Verifies requests of the journal.
    ///
    /// - Parameter caller: the method that is called, for messages.
    /// - Returns: the problem with the nearest requests; `nil` if the requests came as expected.
    private func unverified(_ members: [String: (any ControlValue)?], _ caller: String) async throws -> String? {
        let body = try ControlConnection.json(members)
        let (code, answer) = try await control.answer("POST", "/_sim/requests/verify", body)
        guard code != 200 else { return nil }
        let envelope = try control.decode(ErrorEnvelope.self, from: answer)
        guard code == 409 else {
            func isNamed(_ name: String) -> Bool {
                envelope.details.contains { $0.problem.contains("\"any_\(name)\"") }
            }
            let unknown = UnknownName.allCases.first { isNamed($0.rawValue) }
            let hint =
                isNamed("route") ? ": anyRoute: true in \(caller)" : unknown.map { ": allowing: [.\($0)] in \(caller)" }
            throw SimulatorError(envelope.error + (hint ?? ""), status: code)
        }
        let near = (envelope.nearest ?? []).map { miss in
            let request = miss.request
            let because = request.because.map { " (because \($0))" } ?? ""
            return "\n  \(request.method) \(request.path) \(request.answerText)\(because): "
                + miss.differences.joined(separator: ", ")
        }
        return envelope.error + (near.isEmpty ? "" : "; nearest:" + near.joined())
    }

    /// Verifies the expectations of the scenario that was started here, as `expectRequest` does.
    ///
    /// - Parameter strict: whether notes are failures too: parts of the scenario that nothing can match, and faults with a number of
    ///   times that were never met. `nil` if the namespace decides; they are warnings of the test otherwise.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or the scenario was not started here, and outside Swift Testing if an
    ///   expectation is not met.
    public func verifyScenario(
        _ name: String, strict: Bool? = nil, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) async throws {
        let (code, answer) = try await control.answer(
            "POST", "/_sim/scenarios/\(name.segment)/verify\(strict ?? isStrict ? "?strict=true" : "")",
            timeout: ControlConnection.work)
        guard code != 200 else {
            let notes = try control.decode(ScenarioRun.self, from: answer).notes
            for note in notes { TestFailure.warn("\(note.field): \(note.problem)", fileID, filePath, line, column) }
            return
        }
        let envelope = try control.decode(ErrorEnvelope.self, from: answer)
        let problems = envelope.details.map { "\n  \($0.field): \($0.problem)" }.joined()
        guard code == 409, envelope.scenario != nil else {
            throw SimulatorError(envelope.error + problems, status: code)
        }
        try TestFailure.record(envelope.error + problems, fileID, filePath, line, column)
    }

    /// Verifies the scenario that the namespace was made with, at the end of a test, if it expects something. The test may have deleted
    /// the namespace, which is a warning.
    func verifyExpectingScenario(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        guard let expectingScenario else { return }
        do {
            try await verifyScenario(expectingScenario, fileID: fileID, filePath: filePath, line: line, column: column)
        } catch let error as SimulatorError where error.status == 404 {
            TestFailure.warn(
                "what the scenario \(expectingScenario) expects was not verified: \(error)", fileID, filePath, line,
                column)
        }
    }
}
