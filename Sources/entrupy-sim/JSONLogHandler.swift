import Foundation
import Logging
import SimulationAPI

/// Writes log lines to standard error, one JSON object a line: `time`, `level`, `message`, and the metadata.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        // Real time, because logs are about the process and not about a namespace.
        members["time"] = Date().ISO8601Format(.init(includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["message"] = "\(event.message)"
        // Text can always be encoded, and a program that reads the log needs an object on each line.
        Terminal.log(json: (try? WireJSON.encode(members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
    }
}
