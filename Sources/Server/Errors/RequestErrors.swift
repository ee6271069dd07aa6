import Simulation
import SimulationAPI

/// The kinds of errors that only HTTP knows.
extension PlatformError.Kind {
    static let unknownRoute = Self("unknown_route")
    static let methodNotAllowed = Self("method_not_allowed")
    /// The server does not know the method [D methods].
    static let notImplemented = Self("not_implemented")
    static let bodyTooLarge = Self("body_too_large")
    static let unsupportedMediaType = Self("unsupported_media_type")
    /// The body's `Content-Encoding` is not supported [D content-encoding].
    static let unsupportedEncoding = Self("unsupported_encoding")
    /// The body did not arrive in time [D body-timeout].
    static let bodyTimedOut = Self("body_timed_out")
    /// The server has not finished starting.
    static let notReady = Self("not_ready")
}

extension PlatformError {
    static func unknownRoute(_ message: String, _ details: [ErrorDetail], because: Because) -> Self {
        Self(.unknownRoute, message, details, because: because)
    }

    static func methodNotAllowed(_ message: String, allowed: [String]) -> Self {
        Self(.methodNotAllowed, message, payload: .methods(allowed))
    }

    static func notImplemented(_ method: String, known: [String]) -> Self {
        Self(
            .notImplemented,
            "the method \(method.excerpt) is not known here; the methods are \(known.joined(separator: ", "))")
    }

    /// - Parameter limit: the maximum size in bytes.
    static func bodyTooLarge(limit: Int) -> Self {
        Self(
            .bodyTooLarge, "the body is larger than \(limit) bytes",
            [ErrorDetail("body", "must be at most \(limit) bytes")])
    }

    static func unsupportedMediaType(_ message: String) -> Self {
        Self(.unsupportedMediaType, message, [ErrorDetail("Content-Type", message)])
    }

    static func unsupportedEncoding(_ message: String) -> Self {
        Self(.unsupportedEncoding, message, [ErrorDetail("Content-Encoding", message)])
    }

    static func bodyTimedOut(seconds: Int) -> Self {
        Self(.bodyTimedOut, "the body did not arrive within \(seconds) seconds")
    }

    static let notReady = Self(.notReady, "the server is starting; ask again when GET /_sim/ready answers 200")
}
