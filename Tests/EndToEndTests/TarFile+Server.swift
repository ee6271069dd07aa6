import Foundation
import TestSupport
import Testing

extension TarFile {
    /// Opens the archive as a bundle in a server of its own, with another journal.
    func opened(withJournal text: String, _ body: (TestWorld) async throws -> Void) async throws {
        var archive = self
        let index = try #require(entries.firstIndex { $0.name == "journal.json" })
        archive.entries[index].bytes = Data(text.utf8)
        let bytes = archive.bytes
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try bytes.write(to: URL(fileURLWithPath: directory + "/failure.tar"))
            let server = try await SimProcess(["--bundle", directory + "/failure.tar"])
            defer { server.stop() }
            try await body(TestWorld(base: server.baseURL))
        }
    }
}
