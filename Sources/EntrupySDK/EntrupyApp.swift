import ClientTransport
import Foundation

/// The entry point of the vendor's SDK, against the simulated platform.
///
/// Methods return at once. Their results come to the delegates and completion handlers on the main queue, in the order in
/// which the answers arrived. Delegates are held weakly. All members may be used from any thread.
///
/// Where the platform is, and what happens in front of the camera, is set with ``EntrupySimulation``.
public final class EntrupyApp: NSObject, @unchecked Sendable {
    /// The app object of this process.
    public static let shared = EntrupyApp()

    /// The app object: ``shared``, or inside ``EntrupySimulation/isolated(baseURL:namespace:operation:)`` one of its own.
    public static func sharedInstance() -> EntrupyApp {
        current ?? shared
    }

    /// The app object of the current task, if it is not the shared one.
    @TaskLocal static var current: EntrupyApp?

    /// The members that the lock guards.
    struct State {
        weak var loginDelegate: (any EntrupyLoginDelegate)?
        weak var configDelegate: (any EntrupyConfigDelegate)?
        weak var captureDelegate: (any EntrupyCaptureDelegate)?
        weak var searchDelegate: (any EntrupySearchDelegate)?
        weak var flagDelegate: (any EntrupyFlagDelegate)?
        weak var detailViewDelegate: (any EntrupyDetailViewDelegate)?
        weak var flagViewDelegate: (any EntrupyFlagViewDelegate)?
        weak var retakeCaptureDelegate: (any EntrupyRetakeCaptureDelegate)?
        weak var searchRetakeDelegate: (any EntrupySearchRetakeDelegate)?
        weak var marketEdgeDelegate: (any EntrupyMarketEdgeDelegate)?
        weak var marketEdgeViewDelegate: (any EntrupyMarketEdgeViewDelegate)?
        var theme: (any EntrupyTheme)?
        var backgroundTransferCompletionHandler: (() -> Void)?
        var configuration = EntrupySimulation.Configuration()
        var login: Login?
        var configType = EntrupyConfigType.ConfigTypeProduction
        /// The configuration that was fetched in this session; `nil` before the first.
        var fetchedConfigType: EntrupyConfigType?
        /// The number of resets. Work that began before the last one ends without a callback.
        var generation = 0
        /// The number of calls of `cleanup`. A login that began before the last one does not log in.
        var cleanups = 0
    }

    /// The user's session.
    struct Login: Sendable {
        var token: String
        /// Its end by the namespace's clock, in epoch seconds.
        var expirationTime: Double
        /// The place of the login in the order of all logins.
        var number = SessionNotifications.countLogin()
    }

    private let state = Locked(State())

    override init() {}

    func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock(body)
    }

    func configuration<Result>(_ body: (inout EntrupySimulation.Configuration) -> Result) -> Result {
        withState { body(&$0.configuration) }
    }

    /// Sets a member. Its old value is released after the lock: its `deinit` may use this object.
    private func replace<Value>(_ member: WritableKeyPath<State, Value>, with value: Value) {
        _ = withState { state in
            defer { state[keyPath: member] = value }
            return state[keyPath: member]
        }
    }

    func reset() {
        _ = withState { state in
            let old = state
            state = State()
            state.generation = old.generation + 1
            return old
        }
    }

    // MARK: Delegates

    /// The result of ``loginUser(withSignedRequest:)`` goes here. Held weakly.
    public weak var loginDelegate: (any EntrupyLoginDelegate)? {
        get { withState { $0.loginDelegate } }
        set { withState { $0.loginDelegate = newValue } }
    }
    /// The result of ``fetchConfigurationType(_:)`` goes here. Held weakly.
    public weak var configDelegate: (any EntrupyConfigDelegate)? {
        get { withState { $0.configDelegate } }
        set { withState { $0.configDelegate = newValue } }
    }
    /// The end of a capture goes here. Held weakly.
    public weak var captureDelegate: (any EntrupyCaptureDelegate)? {
        get { withState { $0.captureDelegate } }
        set { withState { $0.captureDelegate = newValue } }
    }
    /// The result of ``searchSubmissions(at:filters:startDate:endDate:paginationLimit:)`` goes here. Held weakly.
    public weak var searchDelegate: (any EntrupySearchDelegate)? {
        get { withState { $0.searchDelegate } }
        set { withState { $0.searchDelegate = newValue } }
    }
    /// The result of setting or clearing a flag goes here. Held weakly.
    public weak var flagDelegate: (any EntrupyFlagDelegate)? {
        get { withState { $0.flagDelegate } }
        set { withState { $0.flagDelegate = newValue } }
    }
    /// The result of ``displayDetailViewForItem(withEntrupyID:withConfiguration:)`` goes here. Held weakly.
    public weak var detailViewDelegate: (any EntrupyDetailViewDelegate)? {
        get { withState { $0.detailViewDelegate } }
        set { withState { $0.detailViewDelegate = newValue } }
    }
    /// The result of ``displayFlagViewForItem(withEntrupyID:)`` goes here. Held weakly.
    public weak var flagViewDelegate: (any EntrupyFlagViewDelegate)? {
        get { withState { $0.flagViewDelegate } }
        set { withState { $0.flagViewDelegate = newValue } }
    }
    /// The result of ``startRetakeCaptureForItem(withEntrupyID:)`` goes here. Held weakly.
    public weak var retakeCaptureDelegate: (any EntrupyRetakeCaptureDelegate)? {
        get { withState { $0.retakeCaptureDelegate } }
        set { withState { $0.retakeCaptureDelegate = newValue } }
    }
    /// The result of ``searchRetakes()`` goes here. Held weakly.
    public weak var searchRetakeDelegate: (any EntrupySearchRetakeDelegate)? {
        get { withState { $0.searchRetakeDelegate } }
        set { withState { $0.searchRetakeDelegate = newValue } }
    }
    /// The result of ``fetchMarketEdgeForItem(withEntrupyID:)`` goes here. Held weakly.
    public weak var marketEdgeDelegate: (any EntrupyMarketEdgeDelegate)? {
        get { withState { $0.marketEdgeDelegate } }
        set { withState { $0.marketEdgeDelegate = newValue } }
    }
    /// The result of ``displayMarketEdgeViewForItem(withEntrupyID:withConfiguration:)`` goes here. Held weakly.
    public weak var marketEdgeViewDelegate: (any EntrupyMarketEdgeViewDelegate)? {
        get { withState { $0.marketEdgeViewDelegate } }
        set { withState { $0.marketEdgeViewDelegate = newValue } }
    }
    /// The colours of the SDK's views. Nothing is shown here.
    public var theme: (any EntrupyTheme)? {
        get { withState { $0.theme } }
        set { replace(\.theme, with: newValue) }
    }
    /// Kept and not called: there are no transfers in the background here.
    public var backgroundTransferCompletionHandler: (() -> Void)? {
        get { withState { $0.backgroundTransferCompletionHandler } }
        set { replace(\.backgroundTransferCompletionHandler, with: newValue) }
    }

    // MARK: Authorization

    /// A request that the app's back end signs with `POST /v2/integrations/authorize-user`: base64url JSON that names the
    /// bundle. The real one is opaque [D sdk-request-form].
    public func generateSDKAuthorizationRequest() -> String {
        let request: [String: Any] = [
            "bundle_id": configuration { $0.bundleIdentifier }, "nonce": UUID().uuidString,
            "sdk_version": EntrupySimulation.platformVersion, "issued_at": Date().timeIntervalSince1970.rounded(),
        ]
        // Texts and numbers always encode.
        let json = (try? JSONSerialization.data(withJSONObject: request, options: [.sortedKeys])) ?? Data()
        return json.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(
            of: "/", with: "_"
        )
        .replacingOccurrences(of: "=", with: "")
    }

    /// Logs a user in. The result comes to ``loginDelegate``.
    ///
    /// - Parameter signedRequest: the `signed_authorization_request` that the back end got. It works once, for an hour [S].
    public func loginUser(withSignedRequest signedRequest: String) {
        begin(for: "loginDelegate", \.loginDelegate) { call in
            let body: [String: Any] = [
                "signed_authorization_request": signedRequest,
                "bundle_id": call.client.configuration.bundleIdentifier,
            ]
            let answer = try await call.sendObject(
                .json("POST", "/sdk/login", body, token: nil, purpose: "the signed request"))
            guard let token = answer.dictionary["token"] as? String,
                let expiration = (answer.dictionary["expiration_time"] as? NSNumber)?.doubleValue
            else {
                throw SDKFailure(.ErrorCodeUnknownError, "the answer to the login lacks token or expiration_time")
            }
            guard call.logIn(Login(token: token, expirationTime: expiration)) else {
                // The session is not used any more, and the platform ends it in time.
                _ = try? await call.client.send(.init(method: "POST", path: "/sdk/logout", token: token))
                throw SDKFailure(.ErrorCodeUnauthorizedAccess, "cleanup() was called before the login had ended")
            }
            return expiration
        } success: {
            $0?.didLoginUserSuccessfully($1)
        } failure: {
            $0?.didLoginUserFailWithError($1, description: $2, localizedDescription: $3)
        }
    }

    /// Whether a user is logged in and the session has not ended, by the namespace's clock.
    ///
    /// Asks the control API for the time, which takes about a millisecond and blocks at most two seconds. If it does not answer,
    /// the clock of this machine decides. A session that was revoked counts as valid until a request was refused.
    public func isAuthorizationValid() -> Bool {
        guard let login = withState({ $0.login }) else { return false }
        // Without an answer this device's clock counts.
        let clock = try? call.client.sendAndWait(.init(path: "/_sim/clock"), atMost: 2)
        // An answer without a time counts as none.
        let time =
            clock.flatMap { (try? JSONSerialization.jsonObject(with: $0)) as? [String: Any] }?["epoch"] as? NSNumber
        return (time?.doubleValue ?? Date().timeIntervalSince1970) < login.expirationTime
    }

    /// Logs the user out, and forgets the session at once.
    public func cleanup() {
        let login = withState { state in
            defer {
                state.login = nil
                state.fetchedConfigType = nil
                state.configType = .ConfigTypeProduction
                state.cleanups += 1
            }
            return state.login
        }
        guard let login else { return }
        let client = call.client
        // The session is not used any more, and the platform ends it in time.
        Task { _ = try? await client.send(.init(method: "POST", path: "/sdk/logout", token: login.token)) }
    }
}
