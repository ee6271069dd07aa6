import Evidence
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Simulation
import SimulationAPI

/// Builds the answer for an error: the envelope, and the headers that go with its kind [D error-envelope].
package enum ErrorAnswer {
    /// The maximum number of details in an answer.
    private static let maxDetails = 100

    /// An error's status and envelope.
    ///
    /// - Parameter hasSDKError: whether the answer names the error of Entrupy's SDK. Other platforms have none.
    static func envelope(
        _ error: PlatformError, requestID: String, hasSDKError: Bool = true
    ) -> (HTTPResponse.Status, ErrorEnvelope) {
        let row = ErrorTable.row(error)
        var envelope = ErrorEnvelope(
            error: error.message, code: row.code, sdk_error: hasSDKError ? row.sdkError.map { "\($0)" } : nil,
            details: Array(error.details.prefix(maxDetails)), request_id: requestID)
        switch error.payload {
        case .fact(let fact): fact.add(to: &envelope)
        case .nearMisses(let count, let nearest):
            envelope.count = count
            envelope.nearest = nearest
        case .forgotten(let count, let sequence):
            (envelope.count, envelope.sequence, envelope.nearest) = (count, sequence, [])
        case .sequenceMisses(let step, let nearest):
            envelope.step = step
            envelope.nearest = nearest
        case .scenario(let run): envelope.scenario = run
        case .settlement(let settlement): envelope.add(settlement)
        case .retryAfter, .answer, .methods, .size, nil: break
        }
        return (row.status, envelope)
    }

    /// The status and the envelope in JSON for a request that cannot be read.
    package static func encoded(
        _ problem: String, requestID: String
    ) -> (status: HTTPResponse.Status, body: Data) {
        let (status, envelope) = envelope(.invalid(problem, []), requestID: requestID)
        // Texts always encode. If one does not, the status alone is better than no answer.
        return (status, (try? WireJSON.encode(envelope)) ?? Data())
    }

    /// The documented edges that an answer with the error meets, beside that of its status.
    static func edges(_ error: PlatformError, hasSDKError: Bool) -> [Coverage.Name] {
        // The answer of a fault names an error only where its rule gave the status of one, and no body.
        if case .answer(let status, let body, _) = error.payload, status < 400 || body != nil { return [] }
        var edges: [Coverage.Name] = []
        if hasSDKError, let code = ErrorTable.row(error).sdkError {
            edges.append(Coverage.Name(EdgeTable.sdkErrors, "\(code)"))
        }
        if case .fact(let fact) = error.payload, let edge = fact.edge { edges.append(edge) }
        return edges
    }

    static func response(_ error: PlatformError, requestID: String, hasSDKError: Bool = true) -> Response {
        guard case .answer(let status, let body?, _) = error.payload else {
            return withHeaders(of: error, ownResponse(error, requestID: requestID, hasSDKError: hasSDKError))
        }
        return withHeaders(of: error, injected(body, HTTPResponse.Status(code: status), requestID))
    }

    /// An answer with the headers that a fault rule gives it.
    static func withHeaders(of error: PlatformError, _ response: Response) -> Response {
        guard case .answer(_, _, let headers) = error.payload else { return response }
        var response = response
        for header in headers {
            // The rule was refused if the name is none.
            if let name = HTTPField.Name(header.name) { response.headers[name] = header.value }
        }
        return response
    }

    private static func ownResponse(_ error: PlatformError, requestID: String, hasSDKError: Bool) -> Response {
        let (status, envelope) = envelope(error, requestID: requestID, hasSDKError: hasSDKError)
        // A fault may answer a status that has no body (RFC 9110). Clients would read one as the next answer.
        if [.noContent, .resetContent, .notModified].contains(status) {
            return Response(status: status, headers: [.requestID: requestID])
        }
        var response = JSONAnswer.response(envelope, status: status, requestID: requestID)
        switch error.payload {
        case .methods(let allowed): response.headers[.allow] = allowed.joined(separator: ", ")
        case .size(let size): response.headers[.contentRange] = "bytes */\(size)"
        case .retryAfter(let seconds): response.headers[.retryAfter] = String(seconds)
        case .answer(429, _, _), .answer(503, _, _): response.headers[.retryAfter] = "1"
        default: break
        }
        switch error.kind {
        case .notReady: response.headers[.retryAfter] = "1"
        case .unauthorized: response.headers[.wwwAuthenticate] = "Token"
        case .bodyTimedOut: response.headers[.connection] = "close"
        case .unsupportedEncoding: response.headers[.acceptEncoding] = "gzip, identity"
        default: break
        }
        return response
    }

    /// The answer with a fault rule's body. A string is sent as text, any other value as JSON.
    private static func injected(_ body: JSONValue, _ status: HTTPResponse.Status, _ requestID: String) -> Response {
        guard let text = body.text else { return JSONAnswer.response(body, status: status, requestID: requestID) }
        return Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8", .requestID: requestID],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

enum JSONAnswer {
    static func response(encoded bytes: ByteBuffer, status: HTTPResponse.Status, requestID: String) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .requestID: requestID],
            body: .init(byteBuffer: bytes))
    }

    static func response(_ value: some Encodable, status: HTTPResponse.Status, requestID: String) -> Response {
        do {
            return response(encoded: ByteBuffer(data: try WireJSON.encode(value)), status: status, requestID: requestID)
        } catch {
            // Wire values always encode. If one does not, an empty 500 is better than half an answer.
            return Response(status: .internalServerError, headers: [.requestID: requestID])
        }
    }
}
