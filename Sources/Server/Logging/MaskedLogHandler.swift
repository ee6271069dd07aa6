import Logging
import Simulation

/// Masks secrets in every line before another handler writes it, at every level and for libraries too [D secrets].
///
/// Secrets are found by their form: session tokens, JSON web tokens and passwords in URLs.
package struct MaskedLogHandler<Wrapped: LogHandler>: LogHandler {
    private var wrapped: Wrapped
    private let secrets = Secrets(KnownSecrets([], tokensOf: .simulated))

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
        // The logger's metadata is masked with the event's own. Otherwise the wrapped handler would add it unmasked.
        var metadata = wrapped.metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { metadata["error"] = "\(error)" }
        var masked = event
        masked.error = nil
        masked.message = "\(secrets.masked(text: "\(event.message)"))"
        masked.metadata = metadata.mapValues { "\(secrets.masked(text: "\($0)"))" }
        wrapped.log(event: masked)
    }
}
