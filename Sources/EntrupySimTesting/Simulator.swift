import ClientTransport
import Foundation
import SimulationAPI

/// A running entrupy-sim.
///
/// ```swift
/// let simulator = try await Simulator.start()
/// let sim = try await simulator.makeNamespace()
/// ```
public final class Simulator: Sendable {
    /// The version of entrupy-sim that this package belongs to. Before 1.0 a server needs the same minor version, later the
    /// same major version and the same or a later minor one.
    public static let version = Release.version

    /// The server's address, without a namespace.
    public let url: URL
    /// The control API's token; `nil` if the server requires none.
    public let controlToken: String?
    let connection: ControlConnection

    init(url: URL, controlToken: String?) {
        self.url = url
        self.controlToken = controlToken
        connection = ControlConnection(address: url.address, token: controlToken)
    }

    /// Connects to a server that runs already.
    ///
    /// - Parameter controlToken: the control API's token, which a server that does not listen on loopback requires. The
    ///   default is `ENTRUPY_SIM_CONTROL_TOKEN` of the environment.
    /// - Throws: ``SimulatorError`` if no server answers there, or one of another version.
    public static func connect(to url: URL, controlToken: String? = nil) async throws -> Simulator {
        let token = controlToken ?? ProcessInfo.processInfo.environment["ENTRUPY_SIM_CONTROL_TOKEN"]
        let simulator = Simulator(url: withoutNamespace(url), controlToken: token)
        let info: ServerInfo
        do {
            info = try await simulator.connection.send("GET", "/_sim/info", as: ServerInfo.self)
        } catch let error as SimulatorError where error.status == 404 {
            throw SimulatorError("\(url) is not entrupy-sim \(version): check the address, or ENTRUPY_SIM_URL")
        }
        guard isCompatible(info.version) else {
            throw SimulatorError(
                "the server at \(url) is entrupy-sim \(info.version), which does not fit this package's version \(version): "
                    + "update the one that is behind")
        }
        return simulator
    }

    /// Makes a namespace, which lives until it was not used for `ttl`.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of its name, of `a-z0-9-`.
    ///   - scenario: a scenario to start: the name of one that the server has, or the path of a YAML file.
    ///   - seed: `standard` (the default), `empty`, or the path of a file of seed data, which is added to `empty`.
    ///   - frozenAt: freezes the clock at a moment in ISO 8601. A scenario may freeze it too; the later one counts.
    ///   - randomSeed: fixes all ids and tokens.
    ///   - strict: whether notes on rules and scenarios fail the test. They name parts that nothing matches, such as a misspelt route.
    ///     The next release makes `true` the default.
    /// - Throws: ``SimulatorError`` if the scenario or the seed data is wrong or missing.
    public func makeNamespace(
        prefix: String = "test", scenario: String? = nil, seed: String? = nil, frozenAt: String? = nil,
        randomSeed: Int? = nil, ttl: SimulatedDuration = "30m", strict: Bool = false
    ) async throws -> SimulatedNamespace {
        let isFile = seed.map { $0 != "standard" && $0 != "empty" } ?? false
        let data = try isFile ? Self.read(seed ?? "", "seed data") : nil
        let document = try scenario.flatMap { Self.isPath($0) ? try Self.read($0, "scenario") : nil }
        let info = try await connection.send(
            "POST", "/_sim/namespaces",
            [
                "prefix": prefix, "seed": isFile ? "empty" : seed, "random_seed": randomSeed, "ttl": ttl,
                "clock": scenario == nil ? frozenAt.map { ["freeze": $0] } : nil,
            ], as: NamespaceInfo.self, timeout: ControlConnection.work)
        var namespace = SimulatedNamespace(
            name: info.name, address: url.address, token: controlToken, isStrict: strict)
        do {
            if let data {
                try await namespace.control.send(
                    "POST", "/_sim/seed", data, type: "application/yaml", timeout: ControlConnection.work)
            }
            if let scenario { try await namespace.start(scenario, document) }
            if scenario != nil, let frozenAt { try await namespace.clock.freeze(at: frozenAt) }
        } catch {
            // The first error counts. The namespace ends by its time to live.
            try? await namespace.delete()
            throw error
        }
        return namespace
    }

    /// Makes a namespace for an operation and deletes it afterwards, for XCTest and programs. If the operation throws, the
    /// namespace's bundle is saved first (``SimulatedNamespace/saveBundle(named:maxBytes:)``).
    ///
    /// The other parameters are those of ``makeNamespace(prefix:scenario:seed:frozenAt:randomSeed:ttl:strict:)``.
    ///
    /// - Parameters:
    ///   - test: the test's id, in XCTest its `name`. It names the bundle; one that an earlier failure left is removed when the
    ///     operation returns. Without it each bundle has a name of its own and stays.
    ///   - verify: whether what the scenario expects (`expect:`) must have happened when the operation returns.
    ///   - ignoreMisuse: rules of the audit whose findings are meant, as of the trait `.entrupySim()`.
    @discardableResult public func withNamespace<Result>(
        test: String? = nil, scenario: String? = nil, seed: String? = nil, frozenAt: String? = nil,
        randomSeed: Int? = nil, strict: Bool = false, verify: Bool = true, ignoreMisuse: [String: String] = [:],
        operation: (SimulatedNamespace) async throws -> Result
    ) async throws -> Result {
        let namespace = try await makeNamespace(
            scenario: scenario, seed: seed, frozenAt: frozenAt, randomSeed: randomSeed, strict: strict)
        let bundle = test.map { BundleName(test: $0, readable: $0) }
        do {
            let result = try await SimulatedNamespace.$ofTask.withValue(namespace) { try await operation(namespace) }
            try await namespace.verifyRules()
            if verify { try await namespace.verifyExpectingScenario() }
            if let level = try SimulatedNamespace.auditedLevel() {
                try await namespace.expectNoMisuse(failingAt: level, ignore: ignoreMisuse)
            }
            if let bundle { SimulatedNamespace.removeBundle(named: bundle) }
            try await namespace.delete()
            return result
        } catch {
            // The error of the test counts; the bundle and its page only help to understand it.
            if let path = try? await namespace.saveBundle(named: bundle?.description) {
                SimulatedNamespace.printToStandardError("the bundle of \(namespace.name) is \(path)")
                await savePage(of: namespace, beside: path)
            }
            // The first error counts. The namespace ends by its time to live.
            try? await namespace.delete()
            throw error
        }
    }

    /// Which documented answers, errors, states and limits were met, over all namespaces of the server since counting began.
    ///
    /// - Parameter prefix: only the living namespaces whose names begin with it; `nil` for the whole server.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or the prefix is not one.
    public func coverage(prefix: String? = nil) async throws -> Coverage {
        let path = ControlConnection.path("/_sim/coverage", [("prefix", prefix)])
        return try await connection.send("GET", path, as: Coverage.self)
    }

    /// Writes the page of a namespace beside its bundle, and prints its path, or why there is none.
    private func savePage(of namespace: SimulatedNamespace, beside bundle: String) async {
        do {
            let title = URL(fileURLWithPath: bundle).deletingPathExtension().deletingPathExtension().lastPathComponent
            let path = try SimulatedNamespace.save(page: try await namespace.page(titled: title), of: bundle)
            SimulatedNamespace.printToStandardError("its page is \(path)")
        } catch {
            SimulatedNamespace.printToStandardError("the bundle has no page: \(error)")
        }
    }

    /// A server's address from that of one of its namespaces, which `ENTRUPY_SIM_URL` may hold.
    private static func withoutNamespace(_ url: URL) -> URL {
        guard url.host != nil, let range = url.absoluteString.range(of: "/ns/") else { return url }
        return URL(string: String(url.absoluteString[..<range.lowerBound])) ?? url
    }

    private static func isPath(_ scenario: String) -> Bool {
        scenario.contains("/") || scenario.hasSuffix(".yaml") || scenario.hasSuffix(".yml")
    }

    private static func read(_ path: String, _ what: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            if what == "seed data", !isPath(path) {
                throw SimulatorError(
                    "there is no seed data \(path.debugDescription): give standard, empty, or the path of a YAML file")
            }
            throw SimulatorError(
                "the \(what) \(path) cannot be read from \(FileManager.default.currentDirectoryPath): give the path of a YAML file"
            )
        }
        return data
    }

    /// Whether a server's version has everything that this package needs.
    static func isCompatible(_ other: String) -> Bool {
        let numbers = { (text: String) in
            text.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 } + [0, 0]
        }
        let (own, other) = (numbers(version), numbers(other))
        // Before 1.0 a minor version may change anything.
        guard own[0] == other[0] else { return false }
        return own[0] == 0 ? own[1] == other[1] : other[1] >= own[1]
    }
}
