import Logging

/// Writes log lines as text to standard error, one event a line. Messages and metadata hold paths, URLs and errors of others, so
/// both are written as ``VisibleText``.
struct TextLogHandler: LogHandler {
    private var wrapped: StreamLogHandler
    /// Not the wrapped handler's: that would write it as text at every change, and each request has an id.
    var metadata: Logger.Metadata = [:]

    init(label: String) {
        wrapped = StreamLogHandler.standardError(label: label)
    }

    var logLevel: Logger.Level {
        get { wrapped.logLevel }
        set { wrapped.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        wrapped.log(event: Self.visible(event, metadata))
    }

    /// The event with the handler's metadata, all as ``VisibleText``.
    static func visible(_ event: LogEvent, _ metadata: Logger.Metadata) -> LogEvent {
        var metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { metadata["error"] = "\(error)" }
        var shown = event
        shown.error = nil
        shown.message = "\(VisibleText.line("\(event.message)"))"
        shown.metadata = metadata.mapValues { "\(VisibleText.line("\($0)"))" }
        return shown
    }
}
