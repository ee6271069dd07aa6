import ClientTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to the simulated platform.
struct PlatformClient: Sendable {
    let configuration: EntrupySimulation.Configuration

    /// One request. The path begins with a slash and comes after the namespace's.
    struct Request: Sendable {
        var method = "GET"
        var path: String
        var body: Data?
        var contentType: String?
        /// The session token; `nil` for routes without one.
        var token: String?
    }

    /// Sends a request and returns the body of its answer.
    ///
    /// - Throws: ``SDKFailure`` for every answer but 2xx, and if there is none.
    func send(_ request: Request) async throws -> Data {
        let urlRequest = try self.urlRequest(request)
        return try await withCheckedThrowingContinuation { continuation in
            begin(urlRequest, atMost: configuration.requestTimeout) {
                continuation.resume(with: result($0, of: request))
            }
        }
    }

    /// Sends a request and blocks the thread until its answer is there, at most `seconds`.
    func sendAndWait(_ request: Request, atMost seconds: TimeInterval) throws -> Data {
        let answer = Locked<Result<Data, any Error>?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        begin(try urlRequest(request), atMost: seconds) { given in
            answer.withLock { $0 = result(given, of: request) }
            isAnswered.signal()
        }
        isAnswered.wait()
        return try answer.withLock { $0 }?.get() ?? Data()
    }

    /// Sends a request. The app decides how long it waits, for silence too.
    private func begin(
        _ request: URLRequest, atMost seconds: TimeInterval,
        _ completion: @escaping @Sendable (Result<BoundedRequest.Answer, any Error>) -> Void
    ) {
        BoundedRequest(request, RequestLimits(head: seconds, idle: seconds)).begin(atMost: seconds, completion)
    }

    private func urlRequest(_ request: Request) throws -> URLRequest {
        guard configuration.baseURL.query == nil, configuration.baseURL.fragment == nil,
            var urlRequest = URLRequest(
                request.method, configuration.address + request.path, request.body, type: request.contentType)
        else { throw SDKFailure(URLError(.badURL), address: configuration.address) }
        guard configuration.hasValidNamespace else {
            throw SDKFailure(
                .ErrorCodeBadRequest,
                "\((configuration.namespace ?? "").debugDescription) is not a namespace's name: 1 to 63 of a-z, 0-9 and -"
            )
        }
        if let token = request.token { urlRequest.setValue("Token \(token)", forHTTPHeaderField: "Authorization") }
        if request.path.hasPrefix("/_sim"), let token = configuration.controlToken {
            urlRequest.setValue(token, forHTTPHeaderField: "X-Sim-Control-Token")
        }
        urlRequest.setValue(configuration.language ?? "en", forHTTPHeaderField: "Accept-Language")
        for (name, value) in configuration.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        return urlRequest
    }

    private func result(
        _ answer: Result<BoundedRequest.Answer, any Error>, of request: Request
    ) -> Result<Data, any Error> {
        switch answer {
        case .failure(let error): .failure(SDKFailure(error, address: configuration.address))
        case .success(let answer) where (200..<300).contains(answer.status): .success(answer.body)
        case .success(let answer):
            .failure(
                SDKFailure(
                    status: answer.status, body: answer.body, address: configuration.address,
                    isOfLogin: request.path == "/sdk/login"))
        }
    }
}

extension PlatformClient.Request {
    /// The deepest nesting that the platform reads. `JSONSerialization` would overflow the stack on very much more.
    private static let maxDepth = 64

    private static func isShallow(_ object: [String: Any]) -> Bool {
        var level: [Any] = Array(object.values)
        for _ in 1..<maxDepth {
            level = level.flatMap { value -> [Any] in
                if let array = value as? [Any] { return array }
                if let dictionary = value as? [AnyHashable: Any] { return Array(dictionary.values) }
                return []
            }
            if level.isEmpty { return true }
        }
        return !level.contains { $0 is [Any] || $0 is [AnyHashable: Any] }
    }

    /// A request with a JSON body.
    ///
    /// - Throws: ``SDKFailure`` if `object` has members that JSON cannot express; `purpose` says what it is for.
    static func json(
        _ method: String, _ path: String, _ object: [String: Any], token: String?, purpose: String
    ) throws -> Self {
        guard isShallow(object) else {
            throw SDKFailure(.ErrorCodeBadRequest, "\(purpose) must be nested at most \(maxDepth) deep")
        }
        guard JSONSerialization.isValidJSONObject(object),
            let body = try? JSONSerialization.data(withJSONObject: object)
        else {
            throw SDKFailure(
                .ErrorCodeBadRequest,
                "\(purpose) must hold only what JSON can: strings, numbers, booleans, arrays and dictionaries with string keys"
            )
        }
        return Self(method: method, path: path, body: body, contentType: "application/json", token: token)
    }
}

/// A JSON object that is certain to be one: its bytes cross threads, and each reader parses them for itself.
struct JSONObjectData: Sendable {
    private let data: Data

    /// - Throws: ``SDKFailure`` if `data` is not a JSON object.
    init(_ data: Data, address: String) throws {
        guard (try? JSONSerialization.jsonObject(with: data)) is [String: Any] else {
            throw SDKFailure(
                .ErrorCodeUnknownError,
                "the answer of \(address) is not a JSON object: is it entrupy-sim? It begins with "
                    + "\(String(decoding: data.prefix(60), as: UTF8.self).debugDescription)")
        }
        self.data = data
    }

    var dictionary: [String: Any] {
        // Checked when the answer arrived.
        (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }
}
