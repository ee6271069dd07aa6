import Foundation

// The vendor's header requires every method of these protocols. Here only the ones that report success are required. Each other
// method has a default that prints one line to standard error, so that nothing goes unseen [D client-delegates].

/// The result of ``EntrupyApp/loginUser(withSignedRequest:)``.
public protocol EntrupyLoginDelegate: AnyObject {
    /// - Parameter expirationTime: the end of the session, in seconds since 1970, by the clock of the namespace.
    func didLoginUserSuccessfully(_ expirationTime: TimeInterval)
    func didLoginUserFailWithError(_ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The result of ``EntrupyApp/fetchConfigurationType(_:)``.
public protocol EntrupyConfigDelegate: AnyObject {
    func didFetchConfigurationSuccessfully()
    func didFetchConfigurationFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The end of a capture. `item` is the dictionary that the capture was started with.
public protocol EntrupyCaptureDelegate: AnyObject {
    /// The item was submitted.
    ///
    /// - Parameter result: the item, which decodes into ``EntrupyCaptureResult``.
    func didCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItem item: [AnyHashable: Any])
    /// The user left the capture without submitting it.
    func didUserCancelCapture(forItem item: [AnyHashable: Any])
    /// Two hours passed before the submission [S].
    func didCaptureTimeout(forItem item: [AnyHashable: Any])
    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any])
}

/// The result of ``EntrupyApp/searchSubmissions(at:filters:startDate:endDate:paginationLimit:)``.
public protocol EntrupySearchDelegate: AnyObject {
    /// - Parameter result: a page, which decodes into ``EntrupySearchResult``.
    func didSearchSubmissionsCompleteSuccessfully(_ result: [AnyHashable: Any])
    func didSearchSubmissionsFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The result of setting or clearing a flag. `flag` is the value that was asked for.
public protocol EntrupyFlagDelegate: AnyObject {
    func didFlagResultSuccessfully(forEntrupyID entrupyID: String, forRequestedFlag flag: Bool)
    func didFlagResultFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forEntrupyID entrupyID: String,
        forRequestedFlag flag: Bool)
}

/// The presentation of an item's details.
public protocol EntrupyDetailViewDelegate: AnyObject {
    func didDisplayDetailViewForItem(withEntrupyID entrupyID: String)
    func didDismissDetailViewForItem(withEntrupyID entrupyID: String)
    func didDisplayDetailViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The presentation of the built-in view that flags a result.
public protocol EntrupyFlagViewDelegate: AnyObject {
    func didDisplayFlagViewForItem(withEntrupyID entrupyID: String)
    func didUserSubmitFlag(forEntrupyID entrupyID: String)
    func didUserCancelFlagViewForItem(withEntrupyID entrupyID: String)
    func didDisplayFlagViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The end of a capture that support asked for again.
public protocol EntrupyRetakeCaptureDelegate: AnyObject {
    /// - Parameter result: the item, which decodes into ``EntrupyCaptureResult``.
    func didRetakeCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItemWithEntrupyID entrupyID: String)
    func didUserCancelRetakeCaptureForItem(withEntrupyID entrupyID: String)
    func didRetakeCaptureTimeoutForItem(withEntrupyID entrupyID: String)
    func didRetakeCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItemWithEntrupyID entrupyID: String)
}

/// The result of ``EntrupyApp/searchRetakes()``.
public protocol EntrupySearchRetakeDelegate: AnyObject {
    /// - Parameter result: the items with an open retake, which decode into ``EntrupySearchResult``.
    func didSearchRetakesCompleteSuccessfully(_ result: [AnyHashable: Any])
    func didSearchRetakesFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The presentation of an item's market data. The simulated platform has none, so it always fails.
public protocol EntrupyMarketEdgeViewDelegate: AnyObject {
    func didDisplayMarketEdgeViewForItem(withEntrupyID entrupyID: String)
    func didDismissMarketEdgeViewForItem(withEntrupyID entrupyID: String)
    func didDisplayMarketEdgeViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The result of ``EntrupyApp/fetchMarketEdgeForItem(withEntrupyID:)``. The simulated platform has no market data, so it
/// always fails.
public protocol EntrupyMarketEdgeDelegate: AnyObject {
    func didFetchMarketEdgeCompleteSuccessfully(_ response: [AnyHashable: Any], forEntrupyID entrupyID: String)
    func didFetchMarketEdgeFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The colours of the SDK's views. The simulated capture shows none, so they have no effect.
public protocol EntrupyTheme {
    var backgroundColor: UIColor? { get }
    var foregroundColor: UIColor? { get }
    var borderColor: UIColor? { get }
}

extension EntrupyLoginDelegate {
    public func didLoginUserFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyConfigDelegate {
    public func didFetchConfigurationFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyCaptureDelegate {
    public func didUserCancelCapture(forItem item: [AnyHashable: Any]) { reportUnhandled(self, #function) }
    public func didCaptureTimeout(forItem item: [AnyHashable: Any]) { reportUnhandled(self, #function) }
    public func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any]
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupySearchDelegate {
    public func didSearchSubmissionsFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyFlagDelegate {
    public func didFlagResultFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forEntrupyID entrupyID: String,
        forRequestedFlag flag: Bool
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyDetailViewDelegate {
    public func didDismissDetailViewForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didDisplayDetailViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyFlagViewDelegate {
    public func didDisplayFlagViewForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didUserCancelFlagViewForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didDisplayFlagViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyRetakeCaptureDelegate {
    public func didUserCancelRetakeCaptureForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didRetakeCaptureTimeoutForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didRetakeCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItemWithEntrupyID entrupyID: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupySearchRetakeDelegate {
    public func didSearchRetakesFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyMarketEdgeViewDelegate {
    public func didDismissMarketEdgeViewForItem(withEntrupyID entrupyID: String) { reportUnhandled(self, #function) }
    public func didDisplayMarketEdgeViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

extension EntrupyMarketEdgeDelegate {
    public func didFetchMarketEdgeFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    ) { reportUnhandled(self, #function, errorCode, description) }
}

/// Says on standard error which callback a delegate lacks.
private func reportUnhandled(
    _ delegate: AnyObject, _ method: String, _ code: EntrupyErrorCode? = nil, _ description: String = ""
) {
    let error = code.map { " \($0): \(description)" } ?? ""
    FileHandle.standardError.write(
        Data("EntrupySDK: \(type(of: delegate)) does not implement \(method).\(error)\n".utf8))
}
