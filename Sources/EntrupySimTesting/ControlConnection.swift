import Foundation
import SimulationAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to the control API of one namespace.
struct ControlConnection: Sendable {
    /// The namespace's address, without a slash at its end.
    let address: String
    let token: String?
    #if canImport(FoundationNetworking)
        /// On Linux each request has a connection of its own: libcurl repeats a request whose kept connection was closed, and
        /// URLSession then does not send the body again.
        private static var session: URLSession { URLSession(configuration: .ephemeral) }
    #else
        private static let session = URLSession(configuration: .ephemeral)
    #endif

    /// Sends a request and returns the body of its answer.
    ///
    /// - Throws: ``SimulatorError`` for every answer but 2xx, and if there is none.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: Data? = nil, type: String = "application/json",
        timeout: TimeInterval = 90
    ) async throws -> Data {
        let (status, data) = try await answer(method, path, body, type: type, timeout: timeout)
        guard (200..<300).contains(status) else {
            throw SimulatorError(Self.problem(method, path, status, data, address), status: status)
        }
        return data
    }

    /// Sends a request with a JSON body, and decodes the answer.
    func send<Value: Decodable>(
        _ method: String, _ path: String, _ members: [String: JSONValue]? = nil, as type: Value.Type
    ) async throws -> Value {
        try decode(type, from: try await send(method, path, members.map(Self.json)))
    }

    /// The members as JSON. Members whose value is null are left out.
    static func json(_ members: [String: JSONValue]) throws -> Data {
        try WireJSON.encode(
            JSONValue.object(JSONObject(members.filter { $0.value != .null }.map { ($0.key, $0.value) })))
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        do {
            return try WireJSON.decode(type, from: data)
        } catch {
            throw SimulatorError(
                "\(address) does not answer like entrupy-sim \(Simulator.version): check its version with "
                    + "`entrupy-sim --version`, or the address")
        }
    }

    /// Sends a request and returns status and body of its answer.
    func answer(
        _ method: String, _ path: String, _ body: Data? = nil, type: String = "application/json",
        timeout: TimeInterval = 90
    ) async throws -> (status: Int, body: Data) {
        guard let url = URL(string: address + path), url.host != nil else {
            throw SimulatorError("\(address) is not an http or https URL")
        }
        // `TaskBox` ends it. URLSession on Linux counts whole seconds.
        var request = URLRequest(url: url, timeoutInterval: 86_400)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue(token, forHTTPHeaderField: "X-Sim-Control-Token") }
        let task = TaskBox()
        let final = request
        let session = Self.session
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                task.start(
                    atMost: timeout,
                    session.dataTask(with: final) { data, response, error in
                        if let error {
                            let isLate = task.isLate
                            continuation.resume(throwing: Self.error(isLate ? URLError(.timedOut) : error, address))
                        } else {
                            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                            continuation.resume(returning: (status, data ?? Data()))
                        }
                    })
                #if canImport(FoundationNetworking)
                    session.finishTasksAndInvalidate()
                #endif
            }
        } onCancel: {
            task.cancel()
        }
    }

    private static func error(_ error: any Error, _ address: String) -> any Error {
        switch (error as? URLError)?.code {
        case .cancelled: CancellationError()
        case .timedOut: SimulatorError("\(address) did not answer in time")
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet:
            SimulatorError(
                "no server answers at \(address): start one with `entrupy-sim serve`, or let Simulator.start() do it")
        default: SimulatorError("the connection to \(address) failed: \(error.localizedDescription)")
        }
    }

    /// An error answer in one sentence.
    private static func problem(
        _ method: String, _ path: String, _ status: Int, _ body: Data, _ address: String
    ) -> String {
        let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: body)
        guard let envelope else { return "\(method) \(path): \(address) answered \(status)" }
        // The envelope's sentence often says it already.
        let details = envelope.details.filter { !envelope.error.contains($0.problem) }.map {
            "\($0.field): \($0.problem)"
        }
        let text = ([envelope.error] + details).joined(separator: "; ")
        switch envelope.code {
        case "unknown_namespace": return "\(text). The namespace was deleted, or its time to live is over"
        case "forbidden", "unauthorized":
            return
                "\(text). A server that does not listen on loopback requires its control token: "
                + "set ENTRUPY_SIM_CONTROL_TOKEN"
        default: return "\(method) \(path): \(text)"
        }
    }
}

/// A task that is started once and can be cancelled from another thread, even before it starts.
private final class TaskBox: @unchecked Sendable {
    private let lock = NSLock()
    private var task: URLSessionTask?
    private var isCancelled = false
    private var late = false

    /// Whether it was cancelled because its time was over.
    var isLate: Bool {
        lock.lock()
        defer { lock.unlock() }
        return late
    }

    func start(atMost seconds: TimeInterval, _ task: URLSessionTask) {
        lock.lock()
        self.task = task
        let isCancelled = isCancelled
        lock.unlock()
        task.resume()
        if isCancelled { task.cancel() }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.end() }
    }

    private func end() {
        lock.lock()
        late = task?.state == .running
        let task = task
        lock.unlock()
        task?.cancel()
    }

    func cancel() {
        lock.lock()
        isCancelled = true
        let task = task
        lock.unlock()
        task?.cancel()
    }
}
