import EntrupySDK
import EntrupySimTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's code around the SDK: every delegate, and a back end that authorizes its user.
final class TestApp: NSObject, @unchecked Sendable {
    /// A callback with its arguments.
    enum Event: Sendable {
        case loggedIn(Double), configured, captured(EntrupyCaptureResult), cancelled, timedOut
        case found(EntrupySearchResult), flagged(Bool), displayed(String), dismissed(String)
        case retaken(EntrupyCaptureResult), retakes(EntrupySearchResult), flagViewShown, flagSubmitted,
            flagViewCancelled
        case marketEdge(EntrupyMarketEdge)
        case failed(String, EntrupyErrorCode, String, String)
        /// A callback whose result does not decode into the type that the documents name.
        case unreadable(String)
    }

    struct NoEvent: Error {}

    /// Marks the main queue.
    private static let mainQueue: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    let sdk = EntrupyApp.sharedInstance()
    let namespace: SimulatedNamespace
    private let events: AsyncStream<(Event, isMain: Bool)>
    private let add: AsyncStream<(Event, isMain: Bool)>.Continuation
    /// The callback that ``next()`` returned last.
    private(set) var last: Event?
    private var iterator: AsyncStream<(Event, isMain: Bool)>.AsyncIterator
    fileprivate let lock = NSLock()
    private var count = 0
    /// The market data that was fetched last, as the SDK handed it over.
    fileprivate(set) var fetchedEdge: [String: Any]?
    /// The number of callbacks so far.
    var callbacks: Int { lock.withLock { count } }

    init(_ namespace: SimulatedNamespace) {
        self.namespace = namespace
        (events, add) = AsyncStream.makeStream()
        iterator = events.makeAsyncIterator()
        super.init()
        _ = Self.mainQueue
        sdk.loginDelegate = self
        sdk.configDelegate = self
        sdk.captureDelegate = self
        sdk.searchDelegate = self
        sdk.flagDelegate = self
        sdk.detailViewDelegate = self
        sdk.flagViewDelegate = self
        sdk.retakeCaptureDelegate = self
        sdk.searchRetakeDelegate = self
        sdk.marketEdgeDelegate = self
        sdk.marketEdgeViewDelegate = self
    }

    /// The next callback. Every callback must come on the main queue.
    func next() async throws -> Event {
        guard let (event, isMain) = await iterator.next() else { throw NoEvent() }
        guard isMain else { throw NoEvent() }
        last = event
        return event
    }

    func tell(_ event: Event) {
        lock.withLock { count += 1 }
        add.yield((event, isMain: DispatchQueue.getSpecific(key: Self.mainQueue) != nil))
    }

    /// Has the SDK's request signed, as the app's back end does, through the sample back end of the vendor.
    func signedRequest() async throws -> String {
        let login = try await post("/partner/login", ["username": "demo", "password": "demo"], nil)
        let answer = try await post(
            "/partner/authorize-entrupy-sdk-user",
            ["sdk_authorization_request": sdk.generateSDKAuthorizationRequest()], login["token"] as? String)
        guard let signed = answer["signed_authorization_request"] as? String else { throw NoEvent() }
        return signed
    }

    /// Authorizes and logs in.
    @discardableResult func login() async throws -> Event {
        sdk.loginUser(withSignedRequest: try await signedRequest())
        return try await next()
    }

    /// Captures an item and returns the callback.
    func capture(_ item: [String: Any] = ["brand": "Nike", "item_type": "Sneakers"]) async throws -> Event {
        sdk.startCapture(forItem: item, viewController: UIViewController())
        return try await next()
    }

    /// Captures an item that must be submitted.
    func submit(_ customerItemID: String) async throws -> EntrupyCaptureResult {
        let event = try await capture([
            "brand": "Nike", "item_type": "Sneakers", "customer_item_id": customerItemID,
        ])
        guard case .captured(let result) = event else { throw Unexpected(self) }
        return result
    }

    /// A callback that the test did not expect.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ app: TestApp) {
            description = "unexpected callback: \(app.last.map { "\($0)" } ?? "none")"
        }
    }

    private func post(_ path: String, _ body: [String: String], _ token: String?) async throws -> [String: Any] {
        var request = URLRequest(url: try #require(URL(string: namespace.url.absoluteString + path)))
        request.httpMethod = "POST"
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Token \(token)", forHTTPHeaderField: "Authorization") }
        // A session of its own: on Linux, one that keeps connections may lose a body.
        let (data, _) = try await URLSession(configuration: .ephemeral).data(for: request)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// Tells the event of a decoded result, or that it does not decode, without which a test would wait forever.
    fileprivate func tell<Value: Decodable>(_ event: (Value) -> Event, decoding result: [AnyHashable: Any]) {
        do {
            let data = try JSONSerialization.data(withJSONObject: result)
            tell(event(try JSONDecoder().decode(Value.self, from: data)))
        } catch {
            tell(.unreadable("\(error): \(result)"))
        }
    }
}

extension TestApp: EntrupyLoginDelegate {
    func didLoginUserSuccessfully(_ expirationTime: TimeInterval) { tell(.loggedIn(expirationTime)) }
    func didLoginUserFailWithError(_ errorCode: EntrupyErrorCode, description: String, localizedDescription: String) {
        tell(.failed("login", errorCode, description, localizedDescription))
    }
}

extension TestApp: EntrupyConfigDelegate {
    func didFetchConfigurationSuccessfully() { tell(.configured) }
    func didFetchConfigurationFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { tell(.failed("config", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyCaptureDelegate {
    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any]) {
        tell(Event.captured, decoding: result)
    }
    func didUserCancelCapture(forItem item: [AnyHashable: Any]) { tell(.cancelled) }
    func didCaptureTimeout(forItem item: [AnyHashable: Any]) { tell(.timedOut) }
    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any]
    ) { tell(.failed("capture", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupySearchDelegate {
    func didSearchSubmissionsCompleteSuccessfully(_ result: [AnyHashable: Any]) {
        tell(Event.found, decoding: result)
    }
    func didSearchSubmissionsFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { tell(.failed("search", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyFlagDelegate {
    func didFlagResultSuccessfully(forEntrupyID entrupyID: String, forRequestedFlag flag: Bool) { tell(.flagged(flag)) }
    func didFlagResultFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forEntrupyID entrupyID: String,
        forRequestedFlag flag: Bool
    ) { tell(.failed("flag", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyDetailViewDelegate {
    func didDisplayDetailViewForItem(withEntrupyID entrupyID: String) { tell(.displayed(entrupyID)) }
    func didDismissDetailViewForItem(withEntrupyID entrupyID: String) { tell(.dismissed(entrupyID)) }
    func didDisplayDetailViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { tell(.failed("detail", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyFlagViewDelegate {
    func didDisplayFlagViewForItem(withEntrupyID entrupyID: String) { tell(.flagViewShown) }
    func didUserSubmitFlag(forEntrupyID entrupyID: String) { tell(.flagSubmitted) }
    func didUserCancelFlagViewForItem(withEntrupyID entrupyID: String) { tell(.flagViewCancelled) }
    func didDisplayFlagViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { tell(.failed("flag view", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyRetakeCaptureDelegate {
    func didRetakeCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItemWithEntrupyID entrupyID: String) {
        tell(Event.retaken, decoding: result)
    }
    func didUserCancelRetakeCaptureForItem(withEntrupyID entrupyID: String) { tell(.cancelled) }
    func didRetakeCaptureTimeoutForItem(withEntrupyID entrupyID: String) { tell(.timedOut) }
    func didRetakeCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItemWithEntrupyID entrupyID: String
    ) { tell(.failed("retake", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupySearchRetakeDelegate {
    func didSearchRetakesCompleteSuccessfully(_ result: [AnyHashable: Any]) {
        tell(Event.retakes, decoding: result)
    }
    func didSearchRetakesFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { tell(.failed("retakes", errorCode, description, localizedDescription)) }
}

extension TestApp: EntrupyMarketEdgeDelegate, EntrupyMarketEdgeViewDelegate {
    func didFetchMarketEdgeCompleteSuccessfully(_ response: [AnyHashable: Any], forEntrupyID entrupyID: String) {
        lock.withLock { fetchedEdge = response as? [String: Any] }
        tell(Event.marketEdge, decoding: response)
    }
    func didFetchMarketEdgeFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { tell(.failed("market edge", errorCode, description, localizedDescription)) }
    func didDisplayMarketEdgeViewForItem(withEntrupyID entrupyID: String) { tell(.displayed(entrupyID)) }
    func didDismissMarketEdgeViewForItem(withEntrupyID entrupyID: String) { tell(.dismissed(entrupyID)) }
    func didDisplayMarketEdgeViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { tell(.failed("market edge view", errorCode, description, localizedDescription)) }
}

/// Runs a test as an app that is connected to the test's namespace.
func withApp<Value>(_ body: (TestApp, SimulatedNamespace) async throws -> Value) async throws -> Value {
    let namespace = try SimulatedNamespace.current
    return try await EntrupySimulation.isolated(baseURL: namespace.url) {
        try await body(TestApp(namespace), namespace)
    }
}
