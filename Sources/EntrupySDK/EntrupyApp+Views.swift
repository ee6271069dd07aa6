import Foundation

// [D client-views]
extension EntrupyApp {
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

    /// Fetches an item's market data as its view would, and reports that it was displayed and dismissed. Nothing is shown. The
    /// result comes to ``marketEdgeViewDelegate``.
    public func displayMarketEdgeViewForItem(
        withEntrupyID entrupyID: String, withConfiguration configuration: EntrupyMarketEdgeViewConfiguration
    ) {
        begin { call in
            try await call.marketEdge(of: entrupyID)
        } then: { app, result in
            let delegate = app.delegate("marketEdgeViewDelegate", app.marketEdgeViewDelegate)
            switch result {
            case .success:
                delegate?.didDisplayMarketEdgeViewForItem(withEntrupyID: entrupyID)
                delegate?.didDismissMarketEdgeViewForItem(withEntrupyID: entrupyID)
            case .failure(let failure):
                delegate?.didDisplayMarketEdgeViewFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID)
            }
        }
    }

    /// Fetches an item's market data. It comes to ``marketEdgeDelegate``.
    public func fetchMarketEdgeForItem(withEntrupyID entrupyID: String) {
        begin { call in
            try await call.marketEdge(of: entrupyID)
        } then: { app, result in
            let delegate = app.delegate("marketEdgeDelegate", app.marketEdgeDelegate)
            switch result {
            case .success(let edge):
                delegate?.didFetchMarketEdgeCompleteSuccessfully(edge.dictionary, forEntrupyID: entrupyID)
            case .failure(let failure):
                delegate?.didFetchMarketEdgeFailWithError(
                    failure.code, description: failure.description, localizedDescription: app.text(failure),
                    forEntrupyID: entrupyID)
            }
        }
    }
}

extension SDKFailure {
    static let noTransferInbox = SDKFailure(
        .ErrorCodeSearchItemNotFound, "the simulated platform has no inbox of certificate transfers for the SDK")
}
