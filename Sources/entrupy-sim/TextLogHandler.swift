import Foundation
import Logging
import SimulationAPI

/// Writes log lines to standard error, one event a line: as text, in which paths, URLs and errors of others are ``VisibleText``, or as a
/// JSON object with `time`, `level`, `message`, and the metadata.
struct TextLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    /// Kept here: the handler of text would write it as text at every change, and each request has an id.
    var metadata: Logger.Metadata = [:]
    /// Writes text; `nil` for JSON.
    private let text: StreamLogHandler?

    init(label: String, format: LogFormat = .text) {
        text = format == .text ? StreamLogHandler.standardError(label: label) : nil
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if let text { return text.log(event: Self.visible(event, metadata)) }
        var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        // Real time, because logs are about the process and not about a namespace.
        members["time"] = Date().ISO8601Format(.init(includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["message"] = "\(event.message)"
        // Text can always be encoded, and a program that reads the log needs an object on each line.
        Terminal.log(json: (try? WireJSON.encode(members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
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
