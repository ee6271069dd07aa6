import ArgumentParser
import Foundation
import SimulationAPI

struct DownloadOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The maximum size of the download, for instance 500MB.", valueName: "size"))
    var maxBytes = SizeArgument(argument: "16GB")

    func validate() throws { try maxBytes.check("--max-bytes") }

    /// The maximum size, in bytes.
    var limit: Int { maxBytes.bytes ?? 0 }
}

/// Answers of any size, which are written as they come.
extension ControlClient {
    /// Writes an archive to a file; `-` is standard output. If the download fails, no file is written.
    func saveArchive(
        _ path: ControlPath, to file: String, _ options: DownloadOptions, _ terminal: Terminal
    ) async throws {
        let call = ControlCall(.GET, path, takesLong: true).showing("exporting")
        guard file != "-" else {
            guard !terminal.isInteractive else {
                throw Refusal(
                    .usage, "the archive is not text for a terminal",
                    next: "write it to a file with --output, or through a pipe")
            }
            return try await download(call, maxBytes: options.limit) { terminal.document($0) }
        }
        let output = try OutputFile(file, option: "--output")
        defer { output.discard() }
        try await download(call, maxBytes: options.limit) { try output.write($0) }
        let count = try output.finish()
        if terminal.isJSON {
            try terminal.json(of: JSONValue.members([("file", file), ("bytes", count)]))
        } else {
            terminal.line("\(file): \(SizeText.text(count))")
        }
    }

    /// Prints text: the server's bytes through a pipe, of any size up to the limit.
    func printText(
        _ path: ControlPath, _ query: [(String, String?)], _ options: DownloadOptions, _ terminal: Terminal,
        isJSON: Bool
    ) async throws {
        let call = ControlCall(.GET, path, query, takesLong: true).showing("exporting")
        guard !terminal.isInteractive else {
            let bytes = try await send(call).bytes
            return isJSON ? terminal.json(bytes) : terminal.document(bytes)
        }
        try await download(call, maxBytes: options.limit) { terminal.document($0) }
        if isJSON { terminal.document(Data("\n".utf8)) }
    }
}
