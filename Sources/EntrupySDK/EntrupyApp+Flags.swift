import Foundation

extension EntrupyApp {
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
}
