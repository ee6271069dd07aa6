import ArgumentParser
import Foundation
import SimulationAPI

/// The option of commands that download.
struct DownloadOptions: ParsableArguments {
    @Option(help: "The maximum size of the download, in bytes.")
    var maxBytes = 16 << 30

    func validate() throws {
        guard maxBytes > 0 else { throw ValidationError("--max-bytes must be at least 1, got \(maxBytes)") }
    }
}

/// Answers of any size, which are written as they come.
enum Download {
    /// Writes an archive to a file; `-` is standard output.
    static func archive(
        _ client: ControlClient, _ path: String, to file: String, _ options: DownloadOptions, _ terminal: Terminal
    ) async throws {
        guard file != "-" else {
            guard !terminal.isInteractive else {
                throw Refusal(
                    .usage, "the archive is not text for a terminal",
                    next: "write it to a file with --output, or through a pipe")
            }
            return _ = try await client.download(path, maxBytes: options.maxBytes) { terminal.document($0) }
        }
        let count = try await client.download(path, maxBytes: options.maxBytes, file: file)
        if terminal.isJSON {
            let answer = JSONValue.object(["file": .string(file), "bytes": .number(JSONNumber(count))])
            terminal.json(try WireJSON.encode(answer))
        } else {
            terminal.line("\(file): \(Readable.bytes(count))")
        }
    }

    /// Prints text: the server's bytes through a pipe, of any size up to the limit.
    static func text(
        _ client: ControlClient, _ path: String, query: [(String, String?)], _ options: DownloadOptions,
        _ terminal: Terminal, isJSON: Bool
    ) async throws {
        guard !terminal.isInteractive else {
            let bytes = try await client.send("GET", path, query: query, takesLong: true).bytes
            return isJSON ? terminal.json(bytes) : terminal.document(bytes)
        }
        try await client.download(path, query: query, maxBytes: options.maxBytes) { terminal.document($0) }
        if isJSON { terminal.document(Data("\n".utf8)) }
    }
}
