import Foundation
import SimulationAPI

/// A message of a client of the Model Context Protocol: JSON-RPC 2.0, one object for each message.
enum ContextMessage: Sendable {
    case request(ContextRequest)
    /// A message without an id, which gets no answer.
    case notification(method: String, params: JSONObject)
    /// What is no message; the id is null where none could be read.
    case invalid(id: JSONValue, ContextError)

    /// - Parameter place: the part of the transport that must be the message, for errors.
    init(_ bytes: Data, of place: String) {
        do {
            self = try Self.read(WireJSON.decode(JSONValue.self, from: bytes))
        } catch {
            self = .invalid(id: .null, ContextError(.parseError, "\(place) must be one JSON object: \(error)"))
        }
    }

    /// The protocol forbids batches since its version of 2025-06-18.
    private static func read(_ value: JSONValue) -> ContextMessage {
        func invalid(_ problem: String, id: JSONValue? = nil) -> ContextMessage {
            .invalid(id: id.flatMap { isID($0) ? $0 : nil } ?? .null, ContextError(.invalidRequest, problem))
        }
        guard case .object(let message) = value else {
            return invalid("a message must be one JSON-RPC object, got \(value.typeName)")
        }
        let id = message["id"]
        guard message["jsonrpc"]?.text == "2.0" else { return invalid("jsonrpc must be \"2.0\"", id: id) }
        guard let method = message["method"]?.text else {
            return invalid("method must be a text: this server sends no requests, so it expects no answers", id: id)
        }
        guard let params = (message["params"] ?? [:]).members else {
            return invalid("params must be an object", id: id)
        }
        guard let id else { return .notification(method: method, params: params) }
        guard isID(id) else { return invalid("id must be a text or an integer, got \(id.typeName)") }
        return .request(ContextRequest(id: id, method: method, params: params))
    }

    private static func isID(_ value: JSONValue) -> Bool {
        switch value {
        case .string: true
        case .number(let number): number.integer != nil
        default: false
        }
    }
}

/// A request of a client, which gets one answer.
struct ContextRequest: Sendable {
    let id: JSONValue
    let method: String
    let params: JSONObject
}

/// An error of the protocol itself. What goes wrong in a tool is a result of the tool, so that the agent sees it.
struct ContextError: Error {
    let code: Code
    let message: String
    let data: JSONValue?

    /// The codes of JSON-RPC, and those that the protocol of 2026-07-28 adds.
    enum Code: Int {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case internalError = -32603
        case headerMismatch = -32020
        case unsupportedVersion = -32022
    }

    init(_ code: Code, _ message: String, data: JSONValue? = nil) {
        (self.code, self.message, self.data) = (code, message, data)
    }
}

struct ContextReply: Sendable {
    let id: JSONValue
    let result: Result<JSONValue, ContextError>

    var message: JSONValue {
        switch result {
        case .success(let value): return ["jsonrpc": "2.0", "id": id, "result": value]
        case .failure(let error):
            return [
                "jsonrpc": "2.0", "id": id,
                "error": .members([("code", error.code.rawValue), ("message", error.message), ("data", error.data)]),
            ]
        }
    }

    /// The status of the answer over HTTP: that of the version of 2026-07-28, in which an error of the protocol is no 200.
    var status: Int {
        guard case .failure(let error) = result else { return 200 }
        return switch error.code {
        case .methodNotFound: 404
        case .internalError: 500
        default: 400
        }
    }
}
