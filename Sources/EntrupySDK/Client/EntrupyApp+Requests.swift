import ClientTransport
import Foundation

/// A call of the SDK: what was set when it was made. Settings that change later concern later calls.
struct Call: Sendable {
    let app: EntrupyApp
    let client: PlatformClient
    let configType: EntrupyConfigType
    fileprivate let login: EntrupyApp.Login?
    fileprivate let generation: Int
    fileprivate let cleanups: Int

    func token() throws -> String {
        guard let login else {
            throw SDKFailure(
                .ErrorCodeUnauthorizedAccess,
                "no user is logged in: call loginUser(withSignedRequest:) and wait for didLoginUserSuccessfully")
        }
        return login.token
    }

    /// Whether the app was not reset since the call.
    var isCurrent: Bool { app.withState { $0.generation } == generation }

    /// Sends a request, unless the app was reset.
    func send(_ request: PlatformClient.Request) async throws -> Data {
        guard isCurrent else { throw CancellationError() }
        return try await client.send(request)
    }

    /// Sends a request whose answer is a JSON object with some members at least.
    func sendObject(_ request: PlatformClient.Request, needs members: [String] = []) async throws -> JSONObjectData {
        let object = try JSONObjectData(try await send(request), address: client.configuration.address)
        if let missing = members.first(where: { object.dictionary[$0] == nil }) {
            throw SDKFailure(
                .ErrorCodeUnknownError,
                "the answer of \(client.configuration.address) lacks \(missing): is it entrupy-sim?")
        }
        return object
    }

    /// Fetches the configuration if this session has not fetched it yet, and returns the session's token.
    func tokenAfterConfiguration() async throws -> String {
        let token = try token()
        if app.withState({ $0.fetchedConfigType }) != configType { try await fetchConfiguration() }
        return token
    }

    func fetchConfiguration() async throws {
        let name = configType == .ConfigTypeDebug ? "debug" : "production"
        _ = try await sendObject(
            .init(path: "/sdk/config?config_type=\(name)", token: try token()), needs: ["product_categories"])
        app.withState {
            if $0.generation == generation, $0.login?.token == login?.token { $0.fetchedConfigType = configType }
        }
    }

    /// Begins a session. Returns false if the user was logged out, or the app reset, since the call.
    func logIn(_ login: EntrupyApp.Login) -> Bool {
        app.withState {
            guard $0.generation == generation, $0.cleanups == cleanups else { return false }
            $0.login = login
            $0.fetchedConfigType = nil
            return true
        }
    }

    /// Ends the session if a failure says that the platform does not accept its token. A login has none.
    func note(_ failure: SDKFailure) {
        guard failure.status == 401 || failure.isAboutSession, let login, !failure.isOfLogin else { return }
        app.withState { if $0.login?.token == login.token { $0.login = nil } }
        if failure.isAboutSession { SessionNotifications.post(failure, ofLogin: login.number) }
    }

    func flagDetails(of entrupyID: String) async throws -> JSONObjectData {
        try await sendObject(
            .init(path: try EntrupyApp.path(of: entrupyID, "/flag"), token: try token()), needs: ["id", "is_flaggable"])
    }

    /// The market data of an item, in the form of the published models [P].
    ///
    /// - Throws: ``SDKFailure`` if the answer does not decode into ``EntrupyMarketEdge``.
    func marketEdge(of entrupyID: String) async throws -> JSONObjectData {
        let answer = try await sendObject(
            .init(path: try EntrupyApp.path(of: entrupyID, "/market-edge"), token: try token()), needs: ["identifier"])
        let address = client.configuration.address
        do {
            let data = try JSONSerialization.data(withJSONObject: EntrupyMarketEdge.published(answer.dictionary))
            _ = try JSONDecoder().decode(EntrupyMarketEdge.self, from: data)
            return try JSONObjectData(data, address: address)
        } catch {
            throw SDKFailure(.ErrorCodeUnknownError, "the answer of \(address) is not an EntrupyMarketEdge: \(error)")
        }
    }

    func changeFlag(of entrupyID: String, _ body: [String: Any]) async throws {
        _ = try await sendObject(
            .json("PUT", try EntrupyApp.path(of: entrupyID, "/flag"), body, token: try token(), purpose: "the flag"))
    }
}

extension EntrupyApp {
    var call: Call {
        withState { state in
            Call(
                app: self, client: PlatformClient(configuration: state.configuration), configType: state.configType,
                login: state.login, generation: state.generation, cleanups: state.cleanups)
        }
    }

    /// Takes the script of the capture that starts now.
    func nextScript() -> EntrupySimulation.CaptureScript {
        configuration { configuration in
            configuration.scripts.isEmpty ? configuration.defaultScript : configuration.scripts.removeFirst()
        }
    }

    /// Runs `work` in the background, and hands its result to `callback` on the main queue, unless the app was reset meanwhile.
    func begin<Value: Sendable>(
        _ work: @escaping @Sendable (Call) async throws -> Value,
        then callback: @escaping @Sendable (EntrupyApp, Result<Value, SDKFailure>) -> Void
    ) {
        let call = self.call
        Task {
            let result: Result<Value, SDKFailure>
            do {
                result = .success(try await work(call))
            } catch {
                result = .failure(
                    error as? SDKFailure ?? SDKFailure(.ErrorCodeUnknownError, error.localizedDescription))
            }
            CallbackQueue.main.append {
                guard call.isCurrent else { return }
                if case .failure(let failure) = result { call.note(failure) }
                guard call.app !== EntrupyApp.shared else { return callback(call.app, result) }
                EntrupyApp.$current.withValue(call.app) { callback(call.app, result) }
            }
        }
    }

    /// Runs `work` in the background, and hands its result to a delegate on the main queue, unless the app was reset meanwhile.
    ///
    /// - Parameter name: the delegate's name, for the warning on standard error if there is none; `nil` for no warning.
    func begin<Value: Sendable, Delegate>(
        for name: String?, _ delegate: @escaping @Sendable (EntrupyApp) -> Delegate?,
        _ work: @escaping @Sendable (Call) async throws -> Value,
        success: @escaping @Sendable (Delegate?, Value) -> Void,
        failure: @escaping @Sendable (Delegate?, EntrupyErrorCode, _ description: String, _ text: String) -> Void
    ) {
        begin(work) { app, result in
            let delegate = delegate(app)
            if delegate == nil, let name {
                FileHandle.standardError.write(
                    Data(
                        "EntrupySDK: \(name) is nil, so the result is lost. Keep a strong reference to it: delegates are held weakly.\n"
                            .utf8))
            }
            switch result {
            case .success(let value): success(delegate, value)
            case .failure(let error): failure(delegate, error.code, error.description, app.text(error))
            }
        }
    }

    /// The text for users.
    private func text(_ failure: SDKFailure) -> String { failure.code.text(in: configuration { $0.language }) }

    /// The error for completion handlers: one domain, the code's raw value, the text for users.
    func nsError(_ failure: SDKFailure) -> NSError {
        NSError(
            domain: EntrupySimulation.errorDomain, code: Int(failure.code.rawValue),
            userInfo: [
                NSLocalizedDescriptionKey: text(failure), NSLocalizedFailureReasonErrorKey: failure.description,
                NSDebugDescriptionErrorKey: failure.description,
            ])
    }

    /// The path of a result.
    ///
    /// - Throws: ``SDKFailure`` if the id is empty.
    static func path(of entrupyID: String, _ rest: String = "") throws -> String {
        guard !entrupyID.isEmpty else { throw SDKFailure(.ErrorCodeBadRequest, "the Entrupy ID must not be empty") }
        // As parts of a path these two mean a folder.
        guard entrupyID != ".", entrupyID != ".." else {
            throw SDKFailure(.ErrorCodeSearchItemNotFound, "there is no item \(entrupyID.debugDescription)")
        }
        return "/sdk/results/" + entrupyID.segment + rest
    }
}

// [D market-edge]
extension EntrupyMarketEdge {
    /// The platform's answer in the form of the published models: the first has the listings in an object, and absent parts
    /// are not null.
    static func published(_ answer: [String: Any]) -> [String: Any] {
        var edge = answer.filter { !($0.value is NSNull) }
        guard edge["marketplace_listings"] is [Any] else { return edge }
        let match = edge["market_match"] as? [String: Any]
        edge["marketplace_listings"] = [
            "pending": false, "section_description": match?["section_description"] ?? "",
            "values": match?["values"] ?? [Any](),
        ]
        return edge
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
            guard !values.isEmpty else {
                throw SDKFailure(
                    .ErrorCodeBadRequest, "the filter \(key) has no values: leave it out to find every item")
            }
            // All filters must hold: of two of one kind, the values that both have. None left matches nothing.
            guard let others = conditions[key] else {
                conditions[key] = values
                continue
            }
            let common = others.filter { value in values.contains { Array($0.utf8) == Array(value.utf8) } }
            conditions[key] = common.isEmpty ? ["no value is left"] : common
        }
        body["filters"] = conditions
        // The platform's cursor is one string; the SDK's is an array.
        if let cursor = cursor?.first { body["cursor"] = cursor }
        return body
    }

    /// Adds the members that the vendor's model has and the platform's answer lacks.
    static func result(_ page: [String: Any]) -> [String: Any] {
        var result = page
        result["item_count"] = (page["items"] as? [Any])?.count ?? 0
        result["next_cursor"] = (page["next_cursor"] as? String).map { [$0] }
        return result
    }

    private static func epoch(_ text: String, end isEnd: Bool) throws -> Double {
        if let seconds = Double(text) { return seconds }
        let format = ISO8601DateFormatter()
        for fraction: ISO8601DateFormatter.Options in [[], .withFractionalSeconds] {
            format.formatOptions = [.withInternetDateTime, fraction]
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
        case .status(let states): ("status", states.map(\.id))
        case .category(let categories):
            ("category", categories.map { if case .other(let id) = $0 { id } else { "\($0)" } })
        case .brands(let brands): ("brand", brands)
        case .flag(let states): ("flag", states.map { if case .other(let id) = $0 { id } else { "\($0)" } })
        }
    }
}

extension EntrupySearchFilter.AuthenticationStatus {
    /// The id of the result as the platform reads it.
    fileprivate var id: String {
        switch self {
        case .authentic: "authentic"
        case .underReview: "under_review"
        case .invalid: "invalid"
        case .notSupported: "not_supported"
        case .unidentified: "unknown"
        case .other(let id): id
        }
    }
}
