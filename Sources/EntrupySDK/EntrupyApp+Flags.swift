import Foundation

extension EntrupyApp {
    /// Reads the flag of a result, and whether the result can be flagged.
    ///
    /// - Parameter completionHandler: gets a dictionary that decodes into ``EntrupyCaptureResultStatusFlag`` and
    ///   ``EntrupyFlagDetails``, or an `NSError` whose code is an ``EntrupyErrorCode``.
    public func getFlagDetailsForResult(
        withEntrupyID entrupyID: String, completionHandler: @escaping ([AnyHashable: Any]?, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let completionHandler = completionHandler
        begin { call in
            try await call.flagDetails(of: entrupyID)
        } then: { app, result in
            switch result {
            case .success(let details): completionHandler(details.dictionary, nil)
            case .failure(let failure): completionHandler(nil, app.nsError(failure))
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
        nonisolated(unsafe) let body = body
        begin(for: "flagDelegate", \.flagDelegate) { call in
            try await call.changeFlag(of: entrupyID, body)
        } success: { delegate, _ in
            delegate?.didFlagResultSuccessfully(forEntrupyID: entrupyID, forRequestedFlag: flag)
        } failure: {
            $0?.didFlagResultFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID, forRequestedFlag: flag)
        }
    }
}
