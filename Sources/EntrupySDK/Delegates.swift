import Foundation

// The vendor's header requires every method of these protocols. Here only the ones that report success are required. Each other
// method has a default that prints one line to standard error, so that nothing goes unseen [D client-delegates].

/// The result of ``EntrupyApp/loginUser(withSignedRequest:)``.
public protocol EntrupyLoginDelegate: AnyObject {
    /// - Parameter expirationTime: the end of the session, in seconds since 1970, by the clock of the namespace.
    func didLoginUserSuccessfully(_ expirationTime: TimeInterval)
    /// The login failed. `description` is for developers, `localizedDescription` for the user.
    func didLoginUserFailWithError(_ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The result of ``EntrupyApp/fetchConfigurationType(_:)``.
public protocol EntrupyConfigDelegate: AnyObject {
    /// Captures can start without waiting for the configuration.
    func didFetchConfigurationSuccessfully()
    /// The configuration could not be fetched. `description` is for developers, `localizedDescription` for the user.
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
    /// The item was not submitted. `description` is for developers, `localizedDescription` for the user.
    func didCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItem item: [AnyHashable: Any])
}

/// The result of ``EntrupyApp/searchSubmissions(at:filters:startDate:endDate:paginationLimit:)``.
public protocol EntrupySearchDelegate: AnyObject {
    /// - Parameter result: a page, which decodes into ``EntrupySearchResult``.
    func didSearchSubmissionsCompleteSuccessfully(_ result: [AnyHashable: Any])
    /// The search failed. `description` is for developers, `localizedDescription` for the user.
    func didSearchSubmissionsFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The result of setting or clearing a flag. `flag` is the value that was asked for.
public protocol EntrupyFlagDelegate: AnyObject {
    /// The flag was set or cleared.
    func didFlagResultSuccessfully(forEntrupyID entrupyID: String, forRequestedFlag flag: Bool)
    /// The flag is as it was. `description` is for developers, `localizedDescription` for the user.
    func didFlagResultFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forEntrupyID entrupyID: String,
        forRequestedFlag flag: Bool)
}

/// The presentation of an item's details.
public protocol EntrupyDetailViewDelegate: AnyObject {
    /// The details are shown.
    func didDisplayDetailViewForItem(withEntrupyID entrupyID: String)
    /// The user closed the details.
    func didDismissDetailViewForItem(withEntrupyID entrupyID: String)
    /// The details could not be shown. `description` is for developers, `localizedDescription` for the user.
    func didDisplayDetailViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The presentation of the built-in view that flags a result.
public protocol EntrupyFlagViewDelegate: AnyObject {
    /// The view is shown.
    func didDisplayFlagViewForItem(withEntrupyID entrupyID: String)
    /// The user chose a reason, and the result is flagged.
    func didUserSubmitFlag(forEntrupyID entrupyID: String)
    /// The user closed the view without flagging.
    func didUserCancelFlagViewForItem(withEntrupyID entrupyID: String)
    /// The result cannot be flagged, or could not be. `description` is for developers, `localizedDescription` for the user.
    func didDisplayFlagViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The end of a capture that support asked for again.
public protocol EntrupyRetakeCaptureDelegate: AnyObject {
    /// - Parameter result: the item, which decodes into ``EntrupyCaptureResult``.
    func didRetakeCaptureCompleteSuccessfully(_ result: [AnyHashable: Any], forItemWithEntrupyID entrupyID: String)
    /// The user left the capture without submitting it.
    func didUserCancelRetakeCaptureForItem(withEntrupyID entrupyID: String)
    /// Two hours passed before the submission [S].
    func didRetakeCaptureTimeoutForItem(withEntrupyID entrupyID: String)
    /// The pictures were not submitted. `description` is for developers, `localizedDescription` for the user.
    func didRetakeCaptureFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String,
        forItemWithEntrupyID entrupyID: String)
}

/// The result of ``EntrupyApp/searchRetakes()``.
public protocol EntrupySearchRetakeDelegate: AnyObject {
    /// - Parameter result: the items with an open retake, which decode into ``EntrupySearchResult``.
    func didSearchRetakesCompleteSuccessfully(_ result: [AnyHashable: Any])
    /// The search failed. `description` is for developers, `localizedDescription` for the user.
    func didSearchRetakesFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String)
}

/// The presentation of an item's market data.
public protocol EntrupyMarketEdgeViewDelegate: AnyObject {
    /// The view is shown.
    func didDisplayMarketEdgeViewForItem(withEntrupyID entrupyID: String)
    /// The user closed the view.
    func didDismissMarketEdgeViewForItem(withEntrupyID entrupyID: String)
    /// The market data cannot be shown. `description` is for developers, `localizedDescription` for the user.
    func didDisplayMarketEdgeViewFailWithError(
        _ errorCode: EntrupyErrorCode, description: String, localizedDescription: String, forEntrupyID entrupyID: String
    )
}

/// The result of ``EntrupyApp/fetchMarketEdgeForItem(withEntrupyID:)``.
public protocol EntrupyMarketEdgeDelegate: AnyObject {
    /// - Parameter response: the market data, which decodes into ``EntrupyMarketEdge``. Its `error` says why there is none.
    func didFetchMarketEdgeCompleteSuccessfully(_ response: [AnyHashable: Any], forEntrupyID entrupyID: String)
    /// The market data could not be fetched. `description` is for developers, `localizedDescription` for the user.
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
