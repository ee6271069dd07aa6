import Logging
import Platform

/// Masks secrets in every line before another handler writes it, at every level, also in lines of libraries.
///
/// It finds secrets that have a form of their own: session tokens, JSON web tokens, passwords in URLs.
package struct MaskedLogHandler<Wrapped: LogHandler>: LogHandler {
    private var wrapped: Wrapped
    private static var secrets: Secrets { Secrets(known: []) }

    package init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    package var logLevel: Logger.Level {
        get { wrapped.logLevel }
        set { wrapped.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { wrapped.metadata }
        set { wrapped.metadata = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { wrapped[metadataKey: key] }
        set { wrapped[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) {
        let secrets = Self.secrets
        // Metadata of the logger goes with the event's own, or the other handler would write it as it is.
        var metadata = wrapped.metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { metadata["error"] = "\(error)" }
        var masked = event
        masked.error = nil
        masked.message = "\(secrets.masked(text: "\(event.message)"))"
        masked.metadata = metadata.mapValues { "\(secrets.masked(text: "\($0)"))" }
        wrapped.log(event: masked)
    }
}
