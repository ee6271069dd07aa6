import ClientTransport
import Foundation

/// Controls the simulation behind ``EntrupyApp``: the platform's address, and a script for each of the next captures.
///
/// The vendor's SDK does not have this type. Only tests need it.
///
/// ```swift
/// EntrupySimulation.baseURL = URL(string: "http://127.0.0.1:8642")!
/// EntrupySimulation.script(.cancel, .submit())
/// ```
///
/// The settings belong to the app object: inside ``isolated(baseURL:namespace:operation:)`` to the one that
/// `EntrupyApp.sharedInstance()` returns there.
public enum EntrupySimulation {
    /// The domain of every error.
    public static let errorDomain = "com.entrupy.sdk"
    /// The oldest version of entrupy-sim that has every route of this module.
    public static let platformVersion = "0.2.0"

    struct Configuration: Sendable {
        // Those of the environment.
        var baseURL = URL.ofSimulator
        var namespace = ProcessInfo.processInfo.environment["ENTRUPY_SIM_NAMESPACE"]
        var controlToken = ProcessInfo.processInfo.environment["ENTRUPY_SIM_CONTROL_TOKEN"]
        var bundleIdentifier = "com.example.demo"
        var language: String?
        var requestTimeout: TimeInterval = 60
        var headers: [String: String] = [:]
        var scripts: [CaptureScript] = []
        var defaultScript = CaptureScript.submit()
        var flagView = FlagViewScript.submit()

        /// Whether the namespace's name can be part of an address.
        var hasValidNamespace: Bool {
            guard let namespace, !namespace.isEmpty else { return true }
            return namespace.utf8.count <= 63
                && namespace.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                }
        }

        /// The base URL with the namespace's path, without a slash at its end.
        var address: String {
            guard let namespace, namespace != "default", !namespace.isEmpty else { return baseURL.address }
            return baseURL.address + "/ns/" + namespace
        }
    }

    /// The address of the server, or of a namespace (`http://127.0.0.1:8642/ns/pr-12`). The default is `ENTRUPY_SIM_URL` of the
    /// environment, else `http://127.0.0.1:8642`.
    public static var baseURL: URL {
        get { app.configuration { $0.baseURL } }
        set { app.configuration { $0.baseURL = newValue } }
    }

    /// The namespace, if ``baseURL`` does not name it; `nil` for `default`. The default is `ENTRUPY_SIM_NAMESPACE` of the
    /// environment.
    public static var namespace: String? {
        get { app.configuration { $0.namespace } }
        set { app.configuration { $0.namespace = newValue } }
    }

    /// The control API's token, which a server that does not listen on loopback requires. The clock, `.timeout` and
    /// `.retake` need it. The default is `ENTRUPY_SIM_CONTROL_TOKEN` of the environment.
    public static var controlToken: String? {
        get { app.configuration { $0.controlToken } }
        set { app.configuration { $0.controlToken = newValue } }
    }

    /// The app's bundle identifier, which the organization must have registered. The default is the seed data's
    /// `com.example.demo`.
    public static var bundleIdentifier: String {
        get { app.configuration { $0.bundleIdentifier } }
        set { app.configuration { $0.bundleIdentifier = newValue } }
    }

    /// The language of texts: `en` or `ja`. `nil` is `en`.
    public static var language: String? {
        get { app.configuration { $0.language } }
        set { app.configuration { $0.language = newValue } }
    }

    /// The seconds that a request waits for its answer, 60 by default. After them it fails with
    /// `ErrorCodeRequestTimeoutError`.
    public static var requestTimeout: TimeInterval {
        get { app.configuration { $0.requestTimeout } }
        set { app.configuration { $0.requestTimeout = newValue } }
    }

    /// Headers that every request carries, for instance `X-Sim-Test`, which the journal shows. Empty by default.
    public static var headers: [String: String] {
        get { app.configuration { $0.headers } }
        set { app.configuration { $0.headers = newValue } }
    }

    /// The script of every capture for which ``script(_:)`` has no script left. The default is `.submit()`.
    public static var defaultCapture: CaptureScript {
        get { app.configuration { $0.defaultScript } }
        set { app.configuration { $0.defaultScript = newValue } }
    }

    /// The person's use of the built-in view that flags a result. The default is `.submit()`.
    public static var flagView: FlagViewScript {
        get { app.configuration { $0.flagView } }
        set { app.configuration { $0.flagView = newValue } }
    }

    /// Scripts the next captures, retakes included: one script each, after those that are still waiting.
    public static func script(_ captures: CaptureScript...) {
        app.configuration { $0.scripts += captures }
    }

    /// Forgets the session, the delegates, the scripts and every setting made here, as a new process would. Running requests end
    /// without a callback.
    public static func reset() {
        app.reset()
    }

    /// Runs an operation with an app object of its own, which `EntrupyApp.sharedInstance()` returns in the operation, in the tasks
    /// that it starts and in its callbacks. So tests that run at once can each use a namespace.
    ///
    /// Work that the app itself moves to a queue (`DispatchQueue.main.async`) gets the shared object again.
    public static func isolated<Result>(
        baseURL: URL, namespace: String? = nil, operation: () async throws -> Result
    ) async rethrows -> Result {
        let app = EntrupyApp()
        app.configuration {
            $0.baseURL = baseURL
            $0.namespace = namespace
        }
        return try await EntrupyApp.$current.withValue(app) { try await operation() }
    }

    /// Runs callbacks on the main queue until a condition holds, for programs without a run loop.
    ///
    /// Called elsewhere than on the main queue, it only waits: the main queue must then run by itself.
    ///
    /// - Parameter timeout: the most seconds to wait.
    /// - Returns: whether the condition holds.
    @discardableResult
    public static func run(until condition: () -> Bool, timeout: TimeInterval = 60) -> Bool {
        let end = Date(timeIntervalSinceNow: timeout)
        while !condition() {
            guard Date() < end else { return false }
            let turn = Date(timeIntervalSinceNow: 0.005)
            if CallbackQueue.main.isCurrent {
                CallbackQueue.main.runAll()
                if condition() { return true }
                if Thread.isMainThread { _ = RunLoop.main.run(mode: .default, before: turn) }
            }
            // Without anything to wait for, the run loop returns at once.
            let rest = turn.timeIntervalSinceNow
            if rest > 0 { Thread.sleep(forTimeInterval: rest) }
        }
        return true
    }

    private static var app: EntrupyApp { EntrupyApp.sharedInstance() }
}
