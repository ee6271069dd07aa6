import ClientTransport
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
    /// The scenario that the namespace was made with, if that expects something; `nil` otherwise.
    var expectingScenario: String?

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

    /// The variables for an app that a UI test launches, whose EntrupySDK then uses this namespace, or for a process that a test
    /// starts: where the namespace is, and its API token.
    public var environment: [String: String] {
        var variables = [
            "ENTRUPY_SIM_URL": url.absoluteString, "ENTRUPY_SIM_SERVER": server, "ENTRUPY_SIM_NAMESPACE": name,
            "ENTRUPY_SIM_API_TOKEN": apiToken, "ENTRUPY_SIM_TOKEN": apiToken,
        ]
        variables["ENTRUPY_SIM_CONTROL_TOKEN"] = control.token
        return variables
    }

    /// The server's address, without the namespace.
    private var server: String { url.absoluteString.components(separatedBy: "/ns/")[0] }

    // MARK: Time

    /// The namespace's clock.
    public var clock: SimulatedClock { SimulatedClock(control: control) }

    /// Waits until no result and no webhook is pending, in real time.
    ///
    /// - Parameter within: at most 10 minutes.
    /// - Throws: ``SimulatorError`` if some still are after `within`, or at once on a frozen clock that an advance has to move.
    public func settle(within: SimulatedDuration = "5s") async throws {
        try await control.send(
            "POST", "/_sim/settle", members: ["within": within], timeout: (within.seconds ?? 0) + 60)
    }

    /// Waits for an event, in real time. One that has happened already counts.
    ///
    /// - Throws: ``SimulatorError`` if it did not happen within `within`, the namespace was deleted, or the server stopped.
    public func wait(for event: SimulatedEvent, within: SimulatedDuration = "5s") async throws {
        guard let seconds = within.seconds, seconds > 0, seconds <= 86_400 else {
            throw SimulatorError("within must be a duration of more than 0 and at most 1d, got \(within.text)")
        }
        // Subscribes to the topic that the awaited event does not have, so that the stream holds no other event of its topic.
        let isWebhook = event.text.hasPrefix("webhook:")
        let after = event.after.map { "&after=\($0)" } ?? ""
        let path = "/_sim/events?until=\(event.text.segment)\(after)&types=\(isWebhook ? "state" : "webhook")"
        let line = "event: \(isWebhook ? "webhook" : "state")\n"
        let isMet = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                let stream = String(
                    decoding: try await control.send("GET", path, timeout: seconds + 60), as: UTF8.self)
                guard stream.contains(line) else {
                    let isDeleted = stream.contains("event: world.deleted\n")
                    throw SimulatorError(
                        "\(event.text) did not happen: "
                            + (isDeleted ? "the namespace \(name) was deleted" : "the server at \(server) stopped"))
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
        throw SimulatorError("\(event.text) did not happen within \(DurationText.text(seconds: seconds))\(hint)")
    }

    // MARK: The namespace as a whole

    /// Saves the namespace's state under a name, to come back to with ``restore(_:)``.
    public func snapshot(_ name: String) async throws {
        try Self.check(name: name, "snapshot")
        try await control.send("PUT", "/_sim/snapshots/\(name.segment)", timeout: ControlConnection.work)
    }

    /// Goes back to a snapshot. The clock goes back too.
    public func restore(_ name: String) async throws {
        try Self.check(name: name, "snapshot")
        try await control.send(
            "POST", "/_sim/snapshots/\(name.segment)/restore", timeout: ControlConnection.work)
    }

    /// Compares two states, object by object: `now`, `snapshot:NAME` of this namespace, or `namespace:NAME`. Ids, tokens and times are
    /// compared by whether there is one: a client that runs twice, in namespaces that were made alike, leaves equal states.
    public func diff(_ before: String, _ after: String = "now") async throws -> StateDifference {
        try await control.send(
            "GET", "/_sim/diff?from=\(before.segment)&to=\(after.segment)", as: StateDifference.self,
            timeout: ControlConnection.work)
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
    public func bundle(maxBytes: Int = 1_000_000_000) async throws -> Data {
        let bundle = Locked(Data())
        try await control.send("GET", "/_sim/bundle", timeout: ControlConnection.work, maxBytes: maxBytes) { part in
            bundle.withLock { $0.append(part) }
        }
        return bundle.withLock { $0 }
    }

    /// The page of the namespace, with secrets masked, as `entrupy-sim report` makes it of a bundle.
    ///
    /// - Parameter title: its title, of letters, digits, `.`, `_` and `-`.
    /// - Throws: ``SimulatorError`` also if it takes more than a minute.
    func page(titled title: String) async throws -> Data {
        try await control.send("GET", "/_sim/console/report/\(title).html", timeout: 60)
    }

    /// Writes the bundle to a file that only its owner may read. A download that fails leaves none.
    ///
    /// - Parameters:
    ///   - name: the beginning of the file's name; `nil` for the namespace's name.
    ///   - maxBytes: the size from which it is refused.
    /// - Returns: its path, in the directory `ENTRUPY_SIM_ARTIFACTS` of the environment, else in the temporary directory.
    @discardableResult
    public func saveBundle(named name: String? = nil, maxBytes: Int = 16_000_000_000) async throws -> String {
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
            try await control.send("GET", "/_sim/bundle", timeout: ControlConnection.work, maxBytes: maxBytes) {
                bytes in
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

    /// Removes the bundle that an earlier failure of a test left, and its page, if there is one. Prints why it stays.
    static func removeBundle(named name: BundleName) {
        let file = bundle(named: name.description)
        for (old, what) in [(page(of: file), "page"), (file, "bundle")] {
            do {
                try FileManager.default.removeItem(at: old)
            } catch CocoaError.fileNoSuchFile {
                // The test did not fail before.
            } catch {
                printToStandardError("the old \(what) \(old.path) cannot be removed: \(error.localizedDescription)")
            }
        }
    }

    /// The file for a bundle's page, beside it.
    private static func page(of bundle: URL) -> URL {
        bundle.deletingPathExtension().appendingPathExtension("html")
    }

    /// Writes a bundle's page beside the bundle. Replaces an old one.
    ///
    /// - Returns: its path.
    static func save(page: Data, of bundle: String) throws -> String {
        let file = self.page(of: URL(fileURLWithPath: bundle))
        try page.write(to: file, options: .atomic)
        return file.path
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
    mutating func start(_ scenario: String, _ document: Data?) async throws {
        try Self.check(name: scenario, "scenario")
        var path = "/_sim/scenarios/\(scenario.segment)/start"
        var body: [String: String] = [:]
        if let document {
            guard let text = String(data: document, encoding: .utf8) else {
                throw SimulatorError("the scenario \(scenario) is not UTF-8: save it as UTF-8")
            }
            path = "/_sim/scenarios/start"
            body["scenario"] = text
        }
        let run = try await control.send(
            "POST", path + (isStrict ? "?strict=true" : ""), body, as: ScenarioRun.self, timeout: ControlConnection.work
        )
        for note in run.notes { TestFailure.warn("the scenario \(run.name): \(note.field): \(note.problem)") }
        expectingScenario = run.expectations.isEmpty ? nil : run.name
    }

    /// Throws if no request can have a route: a mistake would make an expectation of none worthless.
    static func check(_ route: String) throws {
        guard route.hasPrefix("/") || route.hasPrefix("*"), !route.hasPrefix("/ns/") else {
            throw SimulatorError(
                "the route \(route.debugDescription) matches no request: write the path without the namespace, with its first slash, "
                    + "for instance /sdk/results/*/flag")
        }
    }

    static func check(name: String, _ what: String) throws {
        guard !name.isEmpty else { throw SimulatorError("the name of the \(what) must not be empty") }
    }

    /// Prints a line to standard error.
    static func printToStandardError(_ text: String) {
        FileHandle.standardError.write(Data("entrupy-sim: \(text)\n".utf8))
    }
}
