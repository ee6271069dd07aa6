import Foundation

extension EntrupyApp {
    var client: PlatformClient {
        PlatformClient(configuration: configuration { $0 })
    }

    /// Runs `work` in the background, and hands its result to `callback` on the main queue, unless the app was reset meanwhile.
    func begin<Value: Sendable>(
        _ work: @escaping @Sendable (EntrupyApp) async throws -> Value,
        then callback: @escaping @Sendable (EntrupyApp, Result<Value, SDKFailure>) -> Void
    ) {
        let generation = withState { $0.generation }
        Task { [self] in
            let result: Result<Value, SDKFailure>
            do {
                result = .success(try await work(self))
            } catch let failure as SDKFailure {
                result = .failure(failure)
            } catch {
                result = .failure(SDKFailure(.ErrorCodeUnknownError, error.localizedDescription))
            }
            CallbackQueue.main.append { [self] in
                guard withState({ $0.generation }) == generation else { return }
                if case .failure(let failure) = result { note(failure) }
                guard self !== EntrupyApp.shared else { return callback(self, result) }
                EntrupyApp.$current.withValue(self) { callback(self, result) }
            }
        }
    }

    /// Ends the session if a failure says that the platform does not accept its token.
    func note(_ failure: SDKFailure) {
        guard failure.status == 401 else { return }
        withState { $0.login = nil }
    }

    /// A delegate. Says on standard error if there is none, since the result would go unseen.
    func delegate<Delegate>(_ name: String, _ delegate: Delegate?) -> Delegate? {
        if delegate == nil {
            FileHandle.standardError.write(
                Data("EntrupySDK: \(name) is nil, so nobody gets the result. Delegates are held weakly.\n".utf8))
        }
        return delegate
    }

    func text(_ failure: SDKFailure) -> String {
        failure.code.text(in: configuration { $0.language })
    }

    func nsError(_ failure: SDKFailure) -> NSError {
        failure.nsError(language: configuration { $0.language })
    }

    func token() throws -> String {
        guard let login = withState({ $0.login }) else {
            throw SDKFailure(
                .ErrorCodeUnauthorizedAccess,
                "no user is logged in: call loginUser(withSignedRequest:) and wait for didLoginUserSuccessfully")
        }
        return login.token
    }

    /// Fetches the configuration unless it was in this session, and returns the session's token.
    func tokenAfterConfiguration() async throws -> String {
        let token = try token()
        let (wanted, fetched) = withState { ($0.configType, $0.fetchedConfigType) }
        if fetched != wanted { try await fetchConfiguration(wanted) }
        return token
    }

    func fetchConfiguration(_ type: EntrupyConfigType) async throws {
        let name = type == .ConfigTypeDebug ? "debug" : "production"
        _ = try await client.sendObject(.init(path: "/sdk/config?config_type=\(name)", token: try token()))
        withState { $0.fetchedConfigType = type }
    }

    func flagDetails(of entrupyID: String) async throws -> JSONObjectData {
        try await client.sendObject(.init(path: try Self.path(of: entrupyID, "/flag"), token: try token()))
    }

    @discardableResult
    func changeFlag(of entrupyID: String, _ body: [String: Any]) async throws -> JSONObjectData {
        try await client.sendObject(
            .json("PUT", try Self.path(of: entrupyID, "/flag"), body, token: try token(), purpose: "the flag"))
    }

    /// The path of a result.
    ///
    /// - Throws: ``SDKFailure`` if the id is empty.
    static func path(of entrupyID: String, _ rest: String = "") throws -> String {
        guard !entrupyID.isEmpty else { throw SDKFailure(.ErrorCodeBadRequest, "the Entrupy ID must not be empty") }
        return "/sdk/results/" + segment(entrupyID) + rest
    }

    /// A text as one segment of a path.
    static func segment(_ text: String) -> String {
        var allowed = CharacterSet(charactersIn: "-._~")
        allowed.insert(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}

extension PlatformClient {
    /// Sends a request whose answer is a JSON object.
    func sendObject(_ request: Request) async throws -> JSONObjectData {
        try JSONObjectData(try await send(request), address: configuration.address)
    }
}

// [D client-item-search]
extension EntrupySearchQuery {
    /// The query as the platform reads it.
    ///
    /// - Throws: ``SDKFailure`` if a date is not ISO 8601.
    func body() throws -> [String: Any] {
        var body: [String: Any] = ["limit": limit]
        switch dateRange {
        case .last(let days): body["date_range"] = ["last_days": days]
        case .custom(let start, let end):
            body["date_range"] = ["start": try Self.epoch(start, end: false), "end": try Self.epoch(end, end: true)]
        case nil: break
        }
        switch resultMode {
        case .results: body["result_mode"] = "full"
        case .countOnly: body["result_mode"] = "count_only"
        case .other(let mode): body["result_mode"] = mode
        }
        var conditions: [String: [String]] = [:]
        for filter in filters {
            let (key, values) = filter.condition
            conditions[key, default: []] += values
        }
        body["filters"] = conditions
        // The platform's cursor is one string; the SDK's is an array.
        if let cursor = cursor?.first { body["cursor"] = cursor }
        return body
    }

    /// An answer with the members that the vendor's model has and the platform's wire has not.
    static func result(_ page: [String: Any]) -> [String: Any] {
        var result = page
        result["item_count"] = (page["items"] as? [Any])?.count ?? 0
        result["next_cursor"] = (page["next_cursor"] as? String).map { [$0] }
        return result
    }

    private static func epoch(_ text: String, end isEnd: Bool) throws -> Double {
        if let seconds = Double(text) { return seconds }
        let format = ISO8601DateFormatter()
        for options: ISO8601DateFormatter.Options in [
            [.withInternetDateTime], [.withInternetDateTime, .withFractionalSeconds],
        ] {
            format.formatOptions = options
            if let date = format.date(from: text) { return date.timeIntervalSince1970 }
        }
        format.formatOptions = [.withFullDate]
        guard text.utf8.count == 10, let day = format.date(from: text) else {
            throw SDKFailure(
                .ErrorCodeBadRequest,
                "the date \(text.debugDescription) must be ISO 8601, for instance 2026-01-05T09:00:00Z")
        }
        return day.timeIntervalSince1970 + (isEnd ? 86_399.999999 : 0)
    }
}

extension EntrupySearchFilter {
    /// The key and the values as the platform reads them.
    fileprivate var condition: (String, [String]) {
        switch self {
        case .status(let states):
            (
                "status",
                states.map { state in
                    switch state {
                    case .authentic: "authentic"
                    case .underReview: "under_review"
                    case .invalid: "invalid"
                    case .notSupported: "not_supported"
                    case .unidentified: "unknown"
                    case .other(let id): id
                    }
                }
            )
        case .category(let categories):
            (
                "category",
                categories.map { category in
                    switch category {
                    case .luxury: "luxury"
                    case .apparel: "apparel"
                    case .sneakers: "sneakers"
                    case .other(let id): id
                    }
                }
            )
        case .brands(let brands): ("brand", brands)
        case .flag(let states):
            (
                "flag",
                states.map { state in
                    switch state {
                    case .none: "none"
                    case .flagged: "flagged"
                    case .resolved: "resolved"
                    case .other(let id): id
                    }
                }
            )
        }
    }
}
