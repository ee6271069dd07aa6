import Foundation

extension EntrupyApp {
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
    ///     characters [S]. With `capture_workflow` `fingerprint_register` it needs only `item_type`, and with
    ///     `fingerprint_compare` nothing more: `entrupy_id` or `customer_item_id` names the registered item [P].
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
}
