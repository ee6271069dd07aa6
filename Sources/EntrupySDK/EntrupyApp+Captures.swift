import Foundation

extension EntrupyApp {
    /// Fetches the configuration that the following captures use. The result comes to ``configDelegate``.
    ///
    /// Captures and searches do it by themselves if it was not called in this session [S].
    public func fetchConfigurationType(_ configType: EntrupyConfigType) {
        withState { $0.configType = configType }
        begin(for: "configDelegate", \.configDelegate) { call in
            try await call.fetchConfiguration()
        } success: { delegate, _ in
            delegate?.didFetchConfigurationSuccessfully()
        } failure: {
            $0?.didFetchConfigurationFailWithError($1, description: $2, localizedDescription: $3)
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
        nonisolated(unsafe) let item = item
        let script = nextScript()
        begin(for: "captureDelegate", \.captureDelegate) { call in
            try await call.run(script) {
                let type = call.configType == .ConfigTypeDebug ? "debug" : "production"
                let body: [String: Any] = ["config_type": type, "item": item]
                return try .json("POST", "/sdk/captures", body, token: $0, purpose: "the item")
            }
        } success: { delegate, end in
            switch end {
            case .submitted(let result): delegate?.didCaptureCompleteSuccessfully(result.dictionary, forItem: item)
            case .cancelled: delegate?.didUserCancelCapture(forItem: item)
            case .timedOut: delegate?.didCaptureTimeout(forItem: item)
            }
        } failure: {
            $0?.didCaptureFailWithError($1, description: $2, localizedDescription: $3, forItem: item)
        }
    }

    /// Starts a capture of an item whose keys are strings.
    public func startCapture(forItem item: [String: Any], viewController: UIViewController) {
        startCapture(forItem: item as [AnyHashable: Any], viewController: viewController)
    }

    /// Starts the capture of the pictures that support wants again. The end comes to ``retakeCaptureDelegate``.
    public func startRetakeCaptureForItem(withEntrupyID entrupyID: String) {
        let script = nextScript()
        begin(for: "retakeCaptureDelegate", \.retakeCaptureDelegate) { call in
            try await call.run(script) {
                .init(method: "POST", path: try Self.path(of: entrupyID, "/retake"), token: $0)
            }
        } success: { delegate, end in
            switch end {
            case .submitted(let result):
                delegate?.didRetakeCaptureCompleteSuccessfully(result.dictionary, forItemWithEntrupyID: entrupyID)
            case .cancelled: delegate?.didUserCancelRetakeCaptureForItem(withEntrupyID: entrupyID)
            case .timedOut: delegate?.didRetakeCaptureTimeoutForItem(withEntrupyID: entrupyID)
            }
        } failure: {
            $0?.didRetakeCaptureFailWithError(
                $1, description: $2, localizedDescription: $3, forItemWithEntrupyID: entrupyID)
        }
    }

    /// Calls `completionHandler` on the main queue: there are no transfers in the background here.
    public func interceptApplication(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        nonisolated(unsafe) let completionHandler = completionHandler
        CallbackQueue.main.append { completionHandler() }
    }
}
