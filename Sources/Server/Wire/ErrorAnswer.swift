import EntrupyAPI
import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Platform

/// Builds the error envelope for an error [D error-envelope]. No other type knows the status of an error.
enum ErrorAnswer {
    /// The maximum number of details in an answer.
    private static let maxDetails = 100

    /// An error's status and envelope. The envelope of a capture that was submitted twice has its
    /// `entrupy_id` [D submitted-twice].
    static func envelope(_ error: PlatformError, requestID: String) -> (HTTPResponse.Status, ErrorEnvelope) {
        let shape = shape(error)
        var envelope = ErrorEnvelope(
            error: shape.message, code: shape.code, sdk_error: shape.sdkError.map { "\($0)" },
            details: Array(shape.details.prefix(maxDetails)),
            request_id: requestID)
        switch error {
        case .wrongState(_, _, let entrupyID):
            envelope.entrupy_id = entrupyID
        case .unverified(_, let count, let nearest):
            envelope.count = count
            envelope.nearest = nearest
        case .scenarioFailed(let run): envelope.scenario = run
        case .unsettled(let settlement): envelope.add(settlement)
        case .userDataConflict(_, let signed):
            envelope.signed_authorization_request = signed.signed_authorization_request
            envelope.username = signed.username
        default: break
        }
        return (shape.status, envelope)
    }

    static func response(_ error: PlatformError, requestID: String) -> Response {
        if case .injected(_, let status, let body?) = error {
            return injected(body, HTTPResponse.Status(code: status), requestID)
        }
        let (status, envelope) = envelope(error, requestID: requestID)
        var response = JSONAnswer.response(envelope, status: status, requestID: requestID)
        switch error {
        case .methodNotAllowed(_, let allowed): response.headers[.allow] = allowed.joined(separator: ", ")
        case .rateLimited(_, let seconds, _): response.headers[.retryAfter] = String(seconds)
        case .injected(_, 429, _), .injected(_, 503, _), .notReady: response.headers[.retryAfter] = "1"
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

    private struct Shape {
        let status: HTTPResponse.Status
        let code: String
        let sdkError: SDKErrorCode?
        let message: String
        var details: [ErrorDetail] = []
    }

    private static func shape(_ error: PlatformError) -> Shape {
        switch error {
        case .invalid(let message, let details):
            Shape(
                status: .badRequest, code: "bad_request", sdkError: .ErrorCodeBadRequest, message: message,
                details: details)
        case .unauthorized(let message):
            Shape(
                status: .unauthorized, code: "unauthorized", sdkError: .ErrorCodeUnauthorizedAccess, message: message)
        case .forbidden(let message, let details):
            Shape(
                status: .forbidden, code: "forbidden", sdkError: .ErrorCodeForbiddenError, message: message,
                details: details)
        case .notFound(let message):
            Shape(
                status: .notFound, code: "not_found", sdkError: .ErrorCodeSearchItemNotFound, message: message)
        case .unknownRoute(let message, let details):
            Shape(
                status: .notFound, code: "unknown_route", sdkError: .ErrorCodeSearchItemNotFound, message: message,
                details: details.isEmpty ? [ErrorDetail("path", message)] : details)
        case .unknownNamespace(let message, let details):
            Shape(
                status: .notFound, code: "unknown_namespace", sdkError: .ErrorCodeSearchItemNotFound,
                message: message, details: details.isEmpty ? [ErrorDetail("path", message)] : details)
        case .methodNotAllowed(let message, _):
            Shape(
                status: .methodNotAllowed, code: "method_not_allowed", sdkError: .ErrorCodeBadRequest,
                message: message)
        case .bodyTooLarge(let limit):
            Shape(
                status: .contentTooLarge, code: "payload_too_large", sdkError: .ErrorCodeBadRequest,
                message: "the body is larger than \(limit) bytes",
                details: [ErrorDetail("body", "must be at most \(limit) bytes")])
        case .unsupportedMediaType(let message):
            Shape(
                status: .unsupportedMediaType, code: "unsupported_media_type", sdkError: .ErrorCodeBadRequest,
                message: message, details: [ErrorDetail("Content-Type", message)])
        case .unsupportedEncoding(let message):
            Shape(
                status: .unsupportedMediaType, code: "unsupported_media_type", sdkError: .ErrorCodeBadRequest,
                message: message, details: [ErrorDetail("Content-Encoding", message)])
        case .bodyTimedOut(let seconds):
            Shape(
                status: .requestTimeout, code: "request_timeout", sdkError: .ErrorCodeRequestTimeoutError,
                message: "the body did not arrive within \(seconds) seconds")
        case .unverified(let message, _, let nearest):
            Shape(
                status: .conflict, code: "conflict", sdkError: .ErrorCodeBadRequest, message: message,
                details: nearest.map { miss in
                    ErrorDetail(
                        "\(miss.request.method) \(miss.request.path)",
                        miss.differences.isEmpty ? "is one of them" : miss.differences.joined(separator: "; "))
                })
        case .scenarioFailed(let run):
            Shape(
                status: .conflict, code: "conflict", sdkError: .ErrorCodeBadRequest, message: "\(error)",
                details: run.failures)
        case .unsettled(let settlement):
            Shape(
                status: .conflict, code: "conflict", sdkError: .ErrorCodeBadRequest, message: "\(error)",
                details: [wayOut(settlement)])
        case .wrongState(let message, let details, _):
            Shape(
                status: .conflict, code: "conflict", sdkError: .ErrorCodeBadRequest, message: message,
                details: details)
        case .userDataConflict(let fields, _):
            Shape(
                status: .conflict, code: "conflict", sdkError: .ErrorCodeBadRequest,
                message: "\(fields.joined(separator: ", ")) differs from the value first set; the first value stays",
                details: fields.map { ErrorDetail($0, "differs from the value first set; the first value stays") })
        case .captureTimedOut(let id, let moment):
            Shape(
                status: .gone, code: "capture_timed_out", sdkError: nil,
                message: "the capture timed out at \(moment.display); start another one",
                details: [ErrorDetail("capture_id", "\(id) timed out at \(moment.display)")])
        case .missingRegions(let regions):
            Shape(
                status: .badRequest, code: "bad_request", sdkError: .ErrorCodeBadRequest,
                message: "required images are missing: \(regions.joined(separator: ", "))",
                details: regions.map { ErrorDetail($0, "is required and has no image yet") })
        case .imageRejected(let message):
            Shape(
                status: .unprocessableContent, code: "image_rejected", sdkError: .ErrorCodeImageUploadError,
                message: message, details: [ErrorDetail("image", message)])
        case .rateLimited(let message, _, let details):
            Shape(
                status: .tooManyRequests, code: "too_many_requests", sdkError: .ErrorCodeTooManyRequests,
                message: message, details: details)
        case .injected(let id, let status, _):
            Shape(
                status: HTTPResponse.Status(code: status), code: code(ofStatus: status),
                sdkError: sdkError(ofStatus: status), message: "answered by the fault rule \(id)",
                details: [ErrorDetail("fault", id)])
        case .unavailable(let message):
            Shape(
                status: .serviceUnavailable, code: "unavailable", sdkError: .ErrorCodeInternalServerError,
                message: message)
        case .notReady:
            Shape(
                status: .serviceUnavailable, code: "unavailable", sdkError: .ErrorCodeInternalServerError,
                message: "the server is starting; ask again when GET /_sim/ready answers 200")
        case .bug(let message):
            Shape(
                status: .internalServerError, code: "internal_error", sdkError: .ErrorCodeInternalServerError,
                message: "internal error: \(message)")
        }
    }

    /// Tells the caller what to do when a namespace did not settle.
    private static func wayOut(_ settlement: Settlement) -> ErrorDetail {
        settlement.clock.mode == "frozen" && settlement.next_due_at != nil
            ? ErrorDetail(
                "clock",
                "is frozen, so waiting does not help: advance it with POST /_sim/clock/advance {\"to\": \"next\"}, or let it "
                    + "run with POST /_sim/clock/resume")
            : ErrorDetail("within", "has passed; wait longer, up to 10m, or advance the clock")
    }

    /// The code for a status that a fault rule chose.
    private static func code(ofStatus status: Int) -> String {
        switch status {
        case 400: "bad_request"
        case 401: "unauthorized"
        case 403: "forbidden"
        case 404: "not_found"
        case 405: "method_not_allowed"
        case 408: "request_timeout"
        case 409: "conflict"
        case 410: "capture_timed_out"
        case 413: "payload_too_large"
        case 415: "unsupported_media_type"
        case 422: "image_rejected"
        case 429: "too_many_requests"
        case 503: "unavailable"
        case 504: "server_timeout"
        default: status < 500 ? "bad_request" : "internal_error"
        }
    }

    /// The SDK error for a status that a fault rule chose.
    private static func sdkError(ofStatus status: Int) -> SDKErrorCode? {
        switch status {
        case 401: .ErrorCodeUnauthorizedAccess
        case 403: .ErrorCodeForbiddenError
        case 404: .ErrorCodeSearchItemNotFound
        case 408: .ErrorCodeRequestTimeoutError
        case 410: nil
        case 422: .ErrorCodeImageUploadError
        case 429: .ErrorCodeTooManyRequests
        case 504: .ErrorCodeServerTimeoutError
        case ..<500: .ErrorCodeBadRequest
        default: .ErrorCodeInternalServerError
        }
    }
}

/// Builds JSON answers.
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
