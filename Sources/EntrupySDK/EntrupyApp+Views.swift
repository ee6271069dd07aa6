import Foundation

// [D client-views]
extension EntrupyApp {
    /// Reads an item as the view of its details would, and reports that it was displayed and dismissed. Nothing is shown. The
    /// result comes to ``detailViewDelegate``.
    public func displayDetailViewForItem(
        withEntrupyID entrupyID: String, withConfiguration configuration: EntrupyDetailViewConfiguration
    ) {
        begin(for: "detailViewDelegate", \.detailViewDelegate) { call in
            try await call.sendObject(
                .init(path: try Self.path(of: entrupyID), token: try call.token()), needs: ["status"])
        } success: { delegate, _ in
            delegate?.didDisplayDetailViewForItem(withEntrupyID: entrupyID)
            delegate?.didDismissDetailViewForItem(withEntrupyID: entrupyID)
        } failure: {
            $0?.didDisplayDetailViewFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID)
        }
    }

    /// Flags a result as the built-in view would: the person does what ``EntrupySimulation/flagView`` says. The result comes to
    /// ``flagViewDelegate``.
    public func displayFlagViewForItem(withEntrupyID entrupyID: String) {
        begin(for: "flagViewDelegate", \.flagViewDelegate) { call in
            guard try await call.flagDetails(of: entrupyID).dictionary["is_flaggable"] as? Bool == true else {
                throw SDKFailure(
                    .ErrorCodeBadRequest, "the result of \(entrupyID) cannot be flagged: is_flaggable is false")
            }
        } success: { delegate, _ in
            delegate?.didDisplayFlagViewForItem(withEntrupyID: entrupyID)
            self.useFlagView(entrupyID)
        } failure: {
            $0?.didDisplayFlagViewFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID)
        }
    }

    private func useFlagView(_ entrupyID: String) {
        begin(for: nil, \.flagViewDelegate) { call in
            guard case .submit(let reason, let message) = call.client.configuration.flagView else { return false }
            var body: [String: Any] = ["flag": true]
            body["flag_reason_id"] = reason
            body["message"] = message
            try await call.changeFlag(of: entrupyID, body)
            return true
        } success: { delegate, isSubmitted in
            if isSubmitted {
                delegate?.didUserSubmitFlag(forEntrupyID: entrupyID)
            } else {
                delegate?.didUserCancelFlagViewForItem(withEntrupyID: entrupyID)
            }
        } failure: {
            $0?.didDisplayFlagViewFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID)
        }
    }

    /// Fetches an item's market data as its view would, and reports that it was displayed and dismissed. Nothing is shown. The
    /// result comes to ``marketEdgeViewDelegate``.
    public func displayMarketEdgeViewForItem(
        withEntrupyID entrupyID: String, withConfiguration configuration: EntrupyMarketEdgeViewConfiguration
    ) {
        begin(for: "marketEdgeViewDelegate", \.marketEdgeViewDelegate) { call in
            try await call.marketEdge(of: entrupyID)
        } success: { delegate, _ in
            delegate?.didDisplayMarketEdgeViewForItem(withEntrupyID: entrupyID)
            delegate?.didDismissMarketEdgeViewForItem(withEntrupyID: entrupyID)
        } failure: {
            $0?.didDisplayMarketEdgeViewFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID)
        }
    }

    /// Fetches an item's market data. It comes to ``marketEdgeDelegate``.
    public func fetchMarketEdgeForItem(withEntrupyID entrupyID: String) {
        begin(for: "marketEdgeDelegate", \.marketEdgeDelegate) { call in
            try await call.marketEdge(of: entrupyID)
        } success: {
            $0?.didFetchMarketEdgeCompleteSuccessfully($1.dictionary, forEntrupyID: entrupyID)
        } failure: {
            $0?.didFetchMarketEdgeFailWithError(
                $1, description: $2, localizedDescription: $3, forEntrupyID: entrupyID)
        }
    }
}
