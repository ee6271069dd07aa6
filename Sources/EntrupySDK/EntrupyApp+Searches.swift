import Foundation

extension EntrupyApp {
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
        nonisolated(unsafe) let query: [String: Any] = [
            "cursor": pageCursor, "filters": filters, "start_date": startDate, "end_date": endDate,
            "limit": paginationLimit,
        ]
        begin(for: "searchDelegate", \.searchDelegate) { call in
            try await call.sendObject(
                .json(
                    "POST", "/sdk/search", query, token: try await call.tokenAfterConfiguration(),
                    purpose: "the cursor and the filters"), needs: ["items"])
        } success: {
            $0?.didSearchSubmissionsCompleteSuccessfully($1.dictionary)
        } failure: {
            $0?.didSearchSubmissionsFailWithError($1, description: $2, localizedDescription: $3)
        }
    }

    /// Searches the user's items, or counts them.
    ///
    /// - Parameter completion: gets a page that decodes into ``EntrupySearchItemsResult``, or an error whose code is an
    ///   ``EntrupyErrorCode``.
    public func searchAuthenticationItems(
        query: EntrupySearchQuery, completion: @escaping (NSDictionary?, NSError?) -> Void
    ) {
        nonisolated(unsafe) let (body, completion) = (Swift.Result { try query.body() }, completion)
        begin { call in
            let token = try await call.tokenAfterConfiguration()
            return try await call.sendObject(
                .json("POST", "/sdk/items/search", try body.get(), token: token, purpose: "the query"),
                needs: ["total_count"])
        } then: { app, result in
            switch result {
            case .success(let page):
                completion(EntrupySearchQuery.result(page.dictionary) as NSDictionary, nil)
            case .failure(let failure): completion(nil, app.nsError(failure))
            }
        }
    }

    /// Finds the items for which support wants new pictures. They come to ``searchRetakeDelegate``.
    public func searchRetakes() {
        begin(for: "searchRetakeDelegate", \.searchRetakeDelegate) { call in
            try await call.sendObject(.init(path: "/sdk/retakes", token: try call.token()), needs: ["items"])
        } success: {
            $0?.didSearchRetakesCompleteSuccessfully($1.dictionary)
        } failure: {
            $0?.didSearchRetakesFailWithError($1, description: $2, localizedDescription: $3)
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
        throw nsError(
            SDKFailure(
                .ErrorCodeSearchItemNotFound,
                "the simulated platform has no inbox of certificate transfers for the SDK"))
    }

    /// Fails, as ``fetchTransferInbox()`` does.
    public func fetchTransferInbox(
        filters: [[String: Any]], startDate: TimeInterval, endDate: TimeInterval, cursor: [String]?, limit: Int?
    ) async throws -> EntrupySearchResult {
        try await fetchTransferInbox()
    }
}
