import Foundation
import Hashes
import NIOCore
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Snapshots of more than 100 MB, with the command line and over HTTP.
@Suite struct LargeSnapshotTests {
    /// A JPEG of nearly `size` bytes that cannot be compressed: application segments of random bytes before the frame.
    private static func picture(of size: Int) throws -> Data {
        let random = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        var picture = Data([0xff, 0xd8])
        while picture.count < size {
            picture += [0xff, 0xef, 0xff, 0xff]
            picture += try #require(try random.read(upToCount: 65_533))
        }
        // A frame, a scan with one byte of data, and the end marker.
        return picture + [0xff, 0xc0, 0x00, 0x02, 0xff, 0xda, 0x00, 0x02, 0x00, 0xff, 0xd9]
    }

    /// Saves a snapshot `large` with one capture, whose images have more than 100 MB. Returns one of the images.
    private func makeLargeSnapshot(in world: TestWorld) async throws -> Data {
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        var picture = Data()
        for region in capture.regions {
            picture = try Self.picture(of: 101_000_000 / capture.regions.count)
            try #require(try await world.upload(capture.id, region, session, picture).status == 200)
        }
        try #require(try await world.send("PUT", "/_sim/snapshots/large").status == 201)
        return picture
    }

    private func size(of file: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
    }

    @Test func aSnapshotOfAHundredMegabytesIsExportedAndImported() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let here = try await SimProcess(["--in-memory"])
            defer { here.stop() }
            let picture = try await makeLargeSnapshot(in: TestWorld(base: here.baseURL))
            let file = directory + "/large.tar"
            let exported = try await SimProcess.run(["snapshot", "export", "large", "-o", file, "--url", here.baseURL])
            try #require(exported.status == 0, "\(exported.output)")
            let size = try size(of: file)
            #expect(size > 100_000_000)

            let there = try await SimProcess(["--data-dir", directory + "/data"])
            defer { there.stop() }
            // The command sends a content length.
            let imported = try await SimProcess.run(["snapshot", "import", "carried", file, "--url", there.baseURL])
            #expect(imported.status == 0 && imported.output.hasPrefix("carried imported"), "\(imported.output)")

            // Without a content length the body is chunked.
            var request = try OutgoingRequest(.PUT, there.baseURL + "/_sim/snapshots/chunked")
            request.headers.add(name: "Content-Type", value: "application/octet-stream")
            let parts = try #require(FileHandle(forReadingAtPath: file))
            request.body = .parts(length: nil) {
                try parts.read(upToCount: 1 << 20).flatMap { $0.isEmpty ? nil : ByteBuffer(bytes: $0) }
            }
            let kept = try await OutgoingClient.patient.whole(request)
            #expect(kept.status == 201)

            let world = TestWorld(base: there.baseURL)
            let listed = try await world.send("GET", "/_sim/snapshots")["snapshots"].items
            #expect(listed.map { $0["name"] } == ["carried", "chunked"])
            #expect(listed.someAndAll { $0["image_bytes"].double ?? 0 > 100_000_000 })
            try #require(try await world.send("POST", "/_sim/snapshots/carried/restore").status == 200)
            let hash = Data(SHA256.hash(data: picture)).map { String(format: "%02x", $0) }.joined()
            #expect(try await world.send("GET", "/images/\(hash)/original").body == picture)
        }
    }

    @Test func moreThanFourGigabytesAreRefusedBeforeTheyAreRead() async throws {
        let connection = try await RawConnection.open(.shared)
        let head = """
            PUT /_sim/snapshots/huge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n\
            Content-Length: 4000000001\r\nConnection: close\r\n\r\n
            """
        let answer = try await connection.exchange(head) { $0.contains("}") }
        #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("larger than 4000000000 bytes"), "\(answer)")
    }

    @Test func theCommandLineReportsAFileThatIsTooLarge() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/huge.tar"
            // A sparse file, which needs no disk space.
            try #require(FileManager.default.createFile(atPath: file, contents: nil))
            try #require(truncate(file, 4_000_000_001) == 0)
            let run = try await SimProcess.run(["snapshot", "import", "huge", file, "--url", SimProcess.shared.baseURL])
            #expect(run.status == 64 && run.output.contains("larger than 4000000000 bytes"), "\(run.output)")
        }
    }
}
