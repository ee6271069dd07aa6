import ClientTransport
import Foundation
import SimulationAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to the control API of one namespace, or to its platform.
struct ControlConnection: Sendable {
    /// The namespace's address, without a slash at its end.
    let address: String
    let token: String?
    /// The most that the server may take of a test's time and memory.
    var limits = RequestLimits()
    /// The header `Authorization` of each request; `nil` for none.
    var authorization: String?

    /// The longest time until the answer to a long operation begins, in seconds: an advance waits for receivers of webhooks.
    static let work: TimeInterval = 600

    /// Sends a request and returns the body of its answer.
    ///
    /// The parameters are those of ``answer(_:_:_:type:timeout:maxBytes:receive:)``.
    ///
    /// - Throws: ``SimulatorError`` for every answer but 2xx, and if there is none or it is too large.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: Data? = nil, type: String = "application/json",
        timeout: TimeInterval? = nil, maxBytes: Int? = nil, receive: (@Sendable (Data) throws -> Void)? = nil
    ) async throws -> Data {
        let (status, data) = try await answer(
            method, path, body, type: type, timeout: timeout, maxBytes: maxBytes, receive: receive)
        guard (200..<300).contains(status) else {
            throw SimulatorError(problem(method, path, status, data), status: status)
        }
        return data
    }

    /// Sends a request with a JSON body of the members that are not `nil`, and decodes the answer.
    func send<Value: Decodable>(
        _ method: String, _ path: String, _ members: [String: (any ControlValue)?]? = nil, as type: Value.Type,
        timeout: TimeInterval? = nil
    ) async throws -> Value {
        try decode(type, from: try await send(method, path, members.map(Self.json), timeout: timeout))
    }

    /// Sends a request with a JSON body of the members that are not `nil`.
    func send(
        _ method: String, _ path: String, members: [String: (any ControlValue)?], timeout: TimeInterval? = nil
    ) async throws {
        try await send(method, path, Self.json(members), timeout: timeout)
    }

    /// The members that are not `nil` as JSON.
    static func json(_ members: [String: (any ControlValue)?]) throws -> Data {
        try WireJSON.encode(
            JSONValue.object(JSONObject(members.compactMap { name, value in value.map { (name, $0.json) } })))
    }

    /// A path with the parameters that are not `nil`.
    static func path(_ path: String, _ parameters: [(String, String?)]) -> String {
        let given = parameters.compactMap { name, value in value.map { "\(name)=\($0.segment)" } }
        return given.isEmpty ? path : "\(path)?\(given.joined(separator: "&"))"
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
    ///
    /// - Parameters:
    ///   - timeout: the longest time until the answer begins, in seconds; `nil` for the usual one.
    ///   - maxBytes: the maximum size of the answer's body; `nil` for the usual one.
    ///   - receive: gets the parts of a successful answer's body as they come, instead of the result.
    func answer(
        _ method: String, _ path: String, _ body: Data? = nil, type: String = "application/json",
        timeout: TimeInterval? = nil, maxBytes: Int? = nil, receive: (@Sendable (Data) throws -> Void)? = nil
    ) async throws -> (status: Int, body: Data) {
        guard var request = URLRequest(method, address + path, body, type: type) else {
            throw SimulatorError("\(address) is not an http or https URL")
        }
        if let token { request.setValue(token, forHTTPHeaderField: "X-Sim-Control-Token") }
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        var limits = limits
        limits.head = timeout ?? limits.head
        limits.bytes = maxBytes ?? limits.bytes
        do {
            let answer = try await BoundedRequest(request, limits, receive: receive).answer()
            return (answer.status, answer.body)
        } catch let refused as RefusedAnswer {
            throw SimulatorError(refused.description(of: address))
        } catch let error where error is SimulatorError || error is CancellationError {
            throw error
        } catch {
            switch (error as? URLError)?.code {
            case .cancelled: throw CancellationError()
            case .networkConnectionLost:
                throw SimulatorError("the connection to \(address) was lost before its answer was complete")
            case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet:
                throw SimulatorError(
                    "no server answers at \(address): start one with `entrupy-sim serve`, or let Simulator.start() do it"
                )
            default: throw SimulatorError("the connection to \(address) failed: \(error.localizedDescription)")
            }
        }
    }

    /// An error answer in one sentence.
    private func problem(_ method: String, _ path: String, _ status: Int, _ body: Data) -> String {
        // Without an envelope the text has the status alone.
        guard let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: body) else {
            return "\(method) \(path): \(address) answered \(status)"
        }
        // The envelope's sentence often says it already.
        let details = envelope.details.filter { !envelope.error.contains($0.problem) }.map {
            "\($0.field): \($0.problem)"
        }
        let text = ([envelope.error] + details).joined(separator: "; ")
        switch envelope.code {
        case "unknown_namespace": return "\(text). The namespace was deleted, or its time to live is over"
        // The platform's own 401 and 403 are about its tokens.
        case "forbidden" where path.hasPrefix("/_sim"), "unauthorized" where path.hasPrefix("/_sim"):
            return
                "\(text). A server that does not listen on loopback requires its control token: "
                + "set ENTRUPY_SIM_CONTROL_TOKEN"
        default: return "\(method) \(path): \(text)"
        }
    }
}
