import Foundation
import SimulationAPI

/// A message of a client of the Model Context Protocol: JSON-RPC 2.0, one object for each message.
enum ContextMessage: Sendable {
    case request(ContextRequest)
    /// A message without an id, which gets no answer.
    case notification(method: String, params: JSONObject)
    /// What is no message; the id is null where none could be read.
    case invalid(id: JSONValue, ContextError)

    /// The protocol forbids batches since its version of 2025-06-18.
    init(_ value: JSONValue) {
        guard case .object(let message) = value else {
            self = .invalid(id: .null, .invalidRequest("a message must be one JSON-RPC object, got \(value.typeName)"))
            return
        }
        let id = message["id"]
        func invalid(_ problem: String) -> ContextMessage {
            .invalid(id: id.flatMap { Self.isID($0) ? $0 : nil } ?? .null, .invalidRequest(problem))
        }
        guard message["jsonrpc"]?.text == "2.0" else {
            self = invalid("jsonrpc must be \"2.0\"")
            return
        }
        guard let method = message["method"]?.text else {
            self = invalid("method must be a text: this server sends no requests, so it expects no answers")
            return
        }
        guard let params = (message["params"] ?? [:]).members else {
            self = invalid("params must be an object")
            return
        }
        if let id {
            self =
                Self.isID(id)
                ? .request(ContextRequest(id: id, method: method, params: params))
                : invalid("id must be a text or an integer, got \(id.typeName)")
        } else {
            self = .notification(method: method, params: params)
        }
    }

    /// - Parameter place: the part of the transport that must be the message, for errors.
    init(_ bytes: Data, of place: String) {
        do {
            self.init(try WireJSON.decode(JSONValue.self, from: bytes))
        } catch {
            let problem = "\(place) must be one JSON object: \(error)"
            self = .invalid(id: .null, ContextError(code: .parseError, message: problem))
        }
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
    var data: JSONValue?

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

    static func invalidRequest(_ message: String) -> ContextError {
        ContextError(code: .invalidRequest, message: message)
    }
    static func invalidParams(_ message: String) -> ContextError {
        ContextError(code: .invalidParams, message: message)
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
        switch result {
        case .success: 200
        case .failure(let error):
            switch error.code {
            case .methodNotFound: 404
            case .internalError: 500
            default: 400
            }
        }
    }
}
