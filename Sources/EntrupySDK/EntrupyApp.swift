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
    }

    private let lock = NSLock()
    private var state = State()

    override init() {}

    func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
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
        begin { call in
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
                _ = try? await call.client.send(.init(method: "POST", path: "/sdk/logout", token: token))
                throw SDKFailure(.ErrorCodeUnauthorizedAccess, "cleanup() was called before the login had ended")
            }
            return expiration
        } then: { app, result in
            let delegate = app.delegate("loginDelegate", app.loginDelegate)
            switch result {
            case .success(let expiration): delegate?.didLoginUserSuccessfully(expiration)
            case .failure(let failure):
                delegate?.didLoginUserFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure))
            }
        }
    }

    /// Whether a user is logged in and the session has not ended, by the namespace's clock.
    ///
    /// Asks the control API for the time, which takes about a millisecond and blocks at most two seconds. If it does not answer,
    /// the clock of this machine decides. A session that was revoked counts as valid until a request was refused.
    public func isAuthorizationValid() -> Bool {
        guard let login = withState({ $0.login }) else { return false }
        let clock = try? client.sendAndWait(.init(path: "/_sim/clock"), atMost: 2)
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
        let client = self.client
        Task { _ = try? await client.send(.init(method: "POST", path: "/sdk/logout", token: login.token)) }
    }

    // MARK: Configuration and captures

    /// Fetches the configuration that the following captures use. The result comes to ``configDelegate``.
    ///
    /// Captures and searches do it by themselves if it was not called in this session [S].
    public func fetchConfigurationType(_ configType: EntrupyConfigType) {
        withState { $0.configType = configType }
        begin { call in
            try await call.fetchConfiguration()
        } then: { app, result in
            let delegate = app.delegate("configDelegate", app.configDelegate)
            switch result {
            case .success: delegate?.didFetchConfigurationSuccessfully()
            case .failure(let failure):
                delegate?.didFetchConfigurationFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure))
            }
        }
    }

    /// Starts a capture, which the next script answers (``EntrupySimulation/script(_:)``). The end comes to
    /// ``captureDelegate``.
    ///
    /// - Parameters:
    ///   - item: the item: `brand` and `item_type`, or `product_category`, or `style_name`; `customer_item_id` of at most 256
    ///     characters [S].
    ///   - viewController: not used: nothing is presented.
    public func startCapture(forItem item: [AnyHashable: Any], viewController: UIViewController) {
        let given = Transferred(item)
        let script = nextScript()
        begin { call in
            try await call.run(script) {
                let type = call.configType == .ConfigTypeDebug ? "debug" : "production"
                let body: [String: Any] = ["config_type": type, "item": given.value]
                return try .json("POST", "/sdk/captures", body, token: $0, purpose: "the item")
            }
        } then: { app, result in
            let (delegate, item) = (app.delegate("captureDelegate", app.captureDelegate), given.value)
            switch result {
            case .success(.submitted(let result)):
                delegate?.didCaptureCompleteSuccessfully(result.dictionary, forItem: item)
            case .success(.cancelled): delegate?.didUserCancelCapture(forItem: item)
            case .success(.timedOut): delegate?.didCaptureTimeout(forItem: item)
            case .failure(let failure):
                delegate?.didCaptureFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forItem: item)
            }
        }
    }

    /// Starts a capture of an item whose keys are strings.
    public func startCapture(forItem item: [String: Any], viewController: UIViewController) {
        startCapture(forItem: item as [AnyHashable: Any], viewController: viewController)
    }

    /// Starts the capture of the pictures that support wants again. The end comes to ``retakeCaptureDelegate``.
    public func startRetakeCaptureForItem(withEntrupyID entrupyID: String) {
        let script = nextScript()
        begin { call in
            try await call.run(script) {
                .init(method: "POST", path: try Self.path(of: entrupyID, "/retake"), token: $0)
            }
        } then: { app, result in
            let delegate = app.delegate("retakeCaptureDelegate", app.retakeCaptureDelegate)
            switch result {
            case .success(.submitted(let result)):
                delegate?.didRetakeCaptureCompleteSuccessfully(result.dictionary, forItemWithEntrupyID: entrupyID)
            case .success(.cancelled): delegate?.didUserCancelRetakeCaptureForItem(withEntrupyID: entrupyID)
            case .success(.timedOut): delegate?.didRetakeCaptureTimeoutForItem(withEntrupyID: entrupyID)
            case .failure(let failure):
                delegate?.didRetakeCaptureFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forItemWithEntrupyID: entrupyID)
            }
        }
    }

    /// Calls `completionHandler` on the main queue: there are no transfers in the background here.
    public func interceptApplication(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        let handler = Transferred(completionHandler)
        CallbackQueue.main.append { handler.value() }
    }

    // MARK: Searches

    /// Searches the user's submissions, newest first. A page comes to ``searchDelegate``.
    ///
    /// - Parameters:
    ///   - pageCursor: the `next_cursor` of the previous page; empty for the first page.
    ///   - filters: at most 20, each `["key": …, "value": …]` or `["key": …, "values": […]]`; all must hold.
    ///   - startDate: the earliest submission in epoch seconds, inclusive; 0 for no bound.
    ///   - endDate: the latest submission in epoch seconds, inclusive; 0 for no bound.
    ///   - paginationLimit: the number of items per page, 1 to 25 [S].
    public func searchSubmissions(
        at pageCursor: [Any], filters: [Any], startDate: TimeInterval, endDate: TimeInterval, paginationLimit: Int
    ) {
        let query = Transferred<[String: Any]>([
            "cursor": pageCursor, "filters": filters, "start_date": startDate, "end_date": endDate,
            "limit": paginationLimit,
        ])
        begin { call in
            let token = try await call.tokenAfterConfiguration()
            return try await call.sendObject(
                .json("POST", "/sdk/search", query.value, token: token, purpose: "the cursor and the filters"),
                needs: ["items"])
        } then: { app, result in
            let delegate = app.delegate("searchDelegate", app.searchDelegate)
            switch result {
            case .success(let page): delegate?.didSearchSubmissionsCompleteSuccessfully(page.dictionary)
            case .failure(let failure):
                delegate?.didSearchSubmissionsFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure))
            }
        }
    }

    /// Searches the user's items, or counts them.
    ///
    /// - Parameter completion: gets a page that decodes into ``EntrupySearchItemsResult``, or an error whose code is an
    ///   ``EntrupyErrorCode``.
    public func searchAuthenticationItems(
        query: EntrupySearchQuery, completion: @escaping (NSDictionary?, NSError?) -> Void
    ) {
        let body = Swift.Result { try query.body() }
        let given = Transferred(body)
        let completion = Transferred(completion)
        begin { call in
            let token = try await call.tokenAfterConfiguration()
            return try await call.sendObject(
                .json("POST", "/sdk/items/search", try given.value.get(), token: token, purpose: "the query"),
                needs: ["total_count"])
        } then: { app, result in
            switch result {
            case .success(let page):
                completion.value(EntrupySearchQuery.result(page.dictionary) as NSDictionary, nil)
            case .failure(let failure): completion.value(nil, app.nsError(failure))
            }
        }
    }

    /// Finds the items for which support wants new pictures. They come to ``searchRetakeDelegate``.
    public func searchRetakes() {
        begin { call in
            try await call.sendObject(.init(path: "/sdk/retakes", token: try call.token()), needs: ["items"])
        } then: { app, result in
            let delegate = app.delegate("searchRetakeDelegate", app.searchRetakeDelegate)
            switch result {
            case .success(let page): delegate?.didSearchRetakesCompleteSuccessfully(page.dictionary)
            case .failure(let failure):
                delegate?.didSearchRetakesFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure))
            }
        }
    }

    /// An item of the user.
    ///
    /// - Throws: an `NSError` whose code is an ``EntrupyErrorCode``.
    public func fetchSessionDetails(entrupyId: String) async throws -> EntrupyCaptureResult {
        let call = self.call
        do {
            let request = PlatformClient.Request(path: try Self.path(of: entrupyId), token: try call.token())
            let data = try await call.client.send(request)
            guard let result = try? JSONDecoder().decode(EntrupyCaptureResult.self, from: data) else {
                throw SDKFailure(
                    .ErrorCodeUnknownError, "the answer of \(call.client.configuration.address) is not an item")
            }
            return result
        } catch let failure as SDKFailure {
            call.note(failure)
            throw nsError(failure)
        }
    }

    /// Fails: the simulated platform has no inbox of certificate transfers for the SDK.
    ///
    /// - Throws: an `NSError` with the code `ErrorCodeSearchItemNotFound`.
    public func fetchTransferInbox() async throws -> EntrupySearchResult {
        throw nsError(.noTransferInbox)
    }

    /// Fails, as ``fetchTransferInbox()`` does.
    public func fetchTransferInbox(
        filters: [[String: Any]], startDate: TimeInterval, endDate: TimeInterval, cursor: [String]?, limit: Int?
    ) async throws -> EntrupySearchResult {
        throw nsError(.noTransferInbox)
    }

    // MARK: Flags

    /// Reads the flag of a result, and whether the result can be flagged.
    ///
    /// - Parameter completionHandler: gets a dictionary that decodes into ``EntrupyCaptureResultStatusFlag`` and
    ///   ``EntrupyFlagDetails``, or an `NSError` whose code is an ``EntrupyErrorCode``.
    public func getFlagDetailsForResult(
        withEntrupyID entrupyID: String, completionHandler: @escaping ([AnyHashable: Any]?, (any Error)?) -> Void
    ) {
        let handler = Transferred(completionHandler)
        begin { call in
            try await call.flagDetails(of: entrupyID)
        } then: { app, result in
            switch result {
            case .success(let details): handler.value(details.dictionary, nil)
            case .failure(let failure): handler.value(nil, app.nsError(failure))
            }
        }
    }

    /// Sets or clears the flag of a result, with the platform's first reason. The result comes to ``flagDelegate``.
    public func setFlag(_ flag: Bool, forResultWithEntrupyID entrupyID: String) {
        setFlag(["flag": flag], flag, entrupyID)
    }

    /// Sets or clears the flag of a result. The result comes to ``flagDelegate``.
    ///
    /// - Parameters:
    ///   - flagReasonId: the id of one of the `supported_flag_reasons`; ignored when clearing.
    ///   - message: a message to support; ignored when clearing.
    public func setFlag(
        _ flag: Bool, forResultWithEntrupyID entrupyID: String, flagReasonId: String, message: String?
    ) {
        setFlag(["flag": flag, "flag_reason_id": flagReasonId, "message": message ?? NSNull()], flag, entrupyID)
    }

    private func setFlag(_ body: [String: Any], _ flag: Bool, _ entrupyID: String) {
        let given = Transferred(body)
        begin { call in
            try await call.changeFlag(of: entrupyID, given.value)
        } then: { app, result in
            let delegate = app.delegate("flagDelegate", app.flagDelegate)
            switch result {
            case .success: delegate?.didFlagResultSuccessfully(forEntrupyID: entrupyID, forRequestedFlag: flag)
            case .failure(let failure):
                delegate?.didFlagResultFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID, forRequestedFlag: flag)
            }
        }
    }

    // MARK: Views [D client-views]

    /// Reads an item as the view of its details would, and reports that it was displayed and dismissed. Nothing is shown. The
    /// result comes to ``detailViewDelegate``.
    public func displayDetailViewForItem(
        withEntrupyID entrupyID: String, withConfiguration configuration: EntrupyDetailViewConfiguration
    ) {
        begin { call in
            try await call.sendObject(
                .init(path: try Self.path(of: entrupyID), token: try call.token()), needs: ["status"])
        } then: { app, result in
            let delegate = app.delegate("detailViewDelegate", app.detailViewDelegate)
            switch result {
            case .success:
                delegate?.didDisplayDetailViewForItem(withEntrupyID: entrupyID)
                delegate?.didDismissDetailViewForItem(withEntrupyID: entrupyID)
            case .failure(let failure):
                delegate?.didDisplayDetailViewFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID)
            }
        }
    }

    /// Flags a result as the built-in view would: the person does what ``EntrupySimulation/flagView`` says. The result comes to
    /// ``flagViewDelegate``.
    public func displayFlagViewForItem(withEntrupyID entrupyID: String) {
        begin { call in
            try await call.flagDetails(of: entrupyID)
        } then: { app, result in
            let delegate = app.delegate("flagViewDelegate", app.flagViewDelegate)
            func fail(_ failure: SDKFailure) {
                delegate?.didDisplayFlagViewFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID)
            }
            switch result {
            case .failure(let failure): fail(failure)
            case .success(let details) where details.dictionary["is_flaggable"] as? Bool != true:
                fail(
                    SDKFailure(
                        .ErrorCodeBadRequest, "the result of \(entrupyID) cannot be flagged: is_flaggable is false"))
            case .success:
                delegate?.didDisplayFlagViewForItem(withEntrupyID: entrupyID)
                app.useFlagView(entrupyID)
            }
        }
    }

    private func useFlagView(_ entrupyID: String) {
        begin { call in
            guard case .submit(let reason, let message) = call.client.configuration.flagView else { return false }
            var body: [String: Any] = ["flag": true]
            body["flag_reason_id"] = reason
            body["message"] = message
            _ = try await call.changeFlag(of: entrupyID, body)
            return true
        } then: { app, result in
            let delegate = app.flagViewDelegate
            switch result {
            case .success(true): delegate?.didUserSubmitFlag(forEntrupyID: entrupyID)
            case .success(false): delegate?.didUserCancelFlagViewForItem(withEntrupyID: entrupyID)
            case .failure(let failure):
                delegate?.didDisplayFlagViewFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID)
            }
        }
    }

    /// Fails: the simulated platform has no market data. The error comes to ``marketEdgeViewDelegate``.
    public func displayMarketEdgeViewForItem(
        withEntrupyID entrupyID: String, withConfiguration configuration: EntrupyMarketEdgeViewConfiguration
    ) {
        begin { _ in
            throw SDKFailure.noMarketData
        } then: { (app, result: Result<Never, SDKFailure>) in
            guard case .failure(let failure) = result else { return }
            app.delegate("marketEdgeViewDelegate", app.marketEdgeViewDelegate)?.didDisplayMarketEdgeViewFailWithError(
                failure.code, description: failure.description, localizedDescription: app.text(failure),
                forEntrupyID: entrupyID)
        }
    }

    /// Fails: the simulated platform has no market data. The error comes to ``marketEdgeDelegate``.
    public func fetchMarketEdgeForItem(withEntrupyID entrupyID: String) {
        begin { _ in
            throw SDKFailure.noMarketData
        } then: { (app, result: Result<Never, SDKFailure>) in
            guard case .failure(let failure) = result else { return }
            app.delegate("marketEdgeDelegate", app.marketEdgeDelegate)?.didFetchMarketEdgeFailWithError(
                failure.code, description: failure.description, localizedDescription: app.text(failure),
                forEntrupyID: entrupyID)
        }
    }
}

extension SDKFailure {
    fileprivate static let noMarketData = SDKFailure(
        .ErrorCodeSearchItemNotFound, "the simulated platform has no Market Edge data")
    fileprivate static let noTransferInbox = SDKFailure(
        .ErrorCodeSearchItemNotFound, "the simulated platform has no inbox of certificate transfers for the SDK")
}
