import EntrupyAPI
import Foundation
import Logging

/// Logs a JSON object a line to standard error: `time`, `level`, `message`, and whatever belongs to it.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]
    /// Gives each line's time; real time, since logs are about the process and not about a namespace.
    var now: @Sendable () -> Date = { Date() }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        FileHandle.standardError.write(Data((line(event) + "\n").utf8))
    }

    /// The line of an event, without its end.
    func line(_ event: LogEvent) -> String {
        var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        members["time"] = now().ISO8601Format(.init(includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["message"] = "\(event.message)"
        return (try? WireJSON.encode(members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
