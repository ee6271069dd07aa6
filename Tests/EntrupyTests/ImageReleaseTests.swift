import EntrupyStorage
import Foundation
import Hashes
import NIOPosix
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// The removal of images: during requests, and without asking any namespace.
@Suite struct ImageReleaseTests {
    /// Namespaces on disk or in memory, used without a server.
    private struct Bench {
        let bench: NamespaceTests.Bench
        let namespace: Namespace
        let user: Credential

        var environment: Environment { bench.namespaces.environment }

        init(directory: String?) async throws {
            bench = try NamespaceTests.Bench(directory: directory)
            namespace = try await bench.open()
            user = try await NamespaceTests().login(namespace)
        }

        /// An image that differs for each text.
        static func picture(_ text: String) -> Data {
            let comment = Data(text.utf8)
            return Data([0xff, 0xd8, 0xff, 0xfe, 0, UInt8(comment.count + 2)]) + comment
                + Data([
                    0xff, 0xc0, 0, 0x0b, 8, 0, 16, 0, 16, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x12,
                    0xff,
                    0xd9,
                ])
        }

        func start(in other: Namespace? = nil) async throws -> String {
            try await NamespaceTests().startCapture(other ?? namespace, user)
        }

        /// Uploads an image and returns its hash.
        @discardableResult func upload(
            _ text: String, _ capture: String, _ region: String = "outer_side", in other: Namespace? = nil
        ) async throws -> String {
            let image = ReceivedImage(Self.picture(text), digests: [], store: environment.images)
            let receipt = await (other ?? namespace).answer(
                .success(UploadImage(captureID: capture, regionID: region, image: image)), user, RequestHead())
            image.release(isKept: (try? receipt.result.get()) != nil)
            return image.sha256
        }

        func isThere(_ sha256: String) throws -> Bool { try environment.images.bytes(sha256: sha256) != nil }

        /// Whether the images that the namespace claims to refer to are those in its database.
        func isExact(_ other: Namespace? = nil) async throws -> Bool {
            let stored = try await (other ?? namespace).run(RequestHead(isControl: true), .reads) {
                try $0.transaction.images()
            }.result.get()
            var known: Set<ImageHash> = []
            (other ?? namespace).images.add(to: &known)
            return known == stored
        }
    }

    private func withBench(onDisk: Bool, _ body: (Bench) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("image-release-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(try await Bench(directory: onDisk ? path : nil))
    }

    private let control = RequestHead(isControl: true)

    @Test(arguments: [true, false]) func cancelledAndTimedOutCapturesReleaseTheirPictures(onDisk: Bool) async throws {
        try await withBench(onDisk: onDisk) { bench in
            let (cancelled, late, open) = (try await bench.start(), try await bench.start(), try await bench.start())
            let first = try await bench.upload("cancelled", cancelled)
            let second = try await bench.upload("late", late)
            let shared = try await bench.upload("shared", cancelled, "inner_side")
            try await bench.upload("shared", open, "inner_side")
            await bench.bench.namespaces.sweepImages()
            #expect(try bench.isThere(first) && bench.isThere(second) && bench.isThere(shared))
            let cancel = ByID<CancelCapture>(cancelled)
            let shown = try await bench.namespace.answer(.success(cancel), bench.user, RequestHead())
                .result.get()
            #expect(shown.steps.count(where: \.uploaded) == 2, "the regions still say which had an image")
            let find = await bench.namespace.answer(.success(ByID<FindImage>(first)), .missing, RequestHead()).result
            guard case .failure(let error) = find, error.kind == .notFound else {
                Issue.record("the image is found: \(find)")
                return
            }
            await bench.bench.namespaces.sweepImages()
            #expect(try !bench.isThere(first) && bench.isThere(second) && bench.isThere(shared))
            #expect(try await bench.isExact())
            bench.bench.time.withLockedValue { $0 = Instant("2026-01-05T11:30:00Z")! }
            await bench.namespace.tick()
            await bench.bench.namespaces.sweepImages()
            #expect(try !bench.isThere(second) && !bench.isThere(shared))
            #expect(try await bench.isExact())
        }
    }

    @Test func deletedSnapshotsLeaveNothingInMemory() async throws {
        try await withBench(onDisk: true) { bench in
            let snapshots = bench.environment.snapshots
            for turn in 0..<3 {
                try await bench.upload("turn \(turn)", try await bench.start())
                _ = try await bench.namespace.saveSnapshot("one", control).result.get()
                _ = try await bench.namespace.saveSnapshot("one", control).result.get()
                _ = try await bench.namespace.deleteSnapshot("one", control).result.get()
                let child = try await bench.bench.namespaces.make("child", NamespaceOptions())
                _ = try await child.saveSnapshot("own", control).result.get()
                try await bench.bench.namespaces.delete("child")
            }
            #expect(snapshots.knownImages.withLockedValue { $0.keys.sorted() } == [])
        }
    }

    @Test func aReplacedPictureIsRemovedAndARepeatedOneStays() async throws {
        try await withBench(onDisk: true) { bench in
            let capture = try await bench.start()
            let first = try await bench.upload("first", capture)
            let second = try await bench.upload("second", capture)
            #expect(try await bench.upload("second", capture) == second)
            await bench.bench.namespaces.sweepImages()
            #expect(try !bench.isThere(first) && bench.isThere(second))
            #expect(try await bench.isExact())
        }
    }

    @Test(arguments: [true, false]) func resetsAndDeletedNamespacesAndSnapshotsReleasePictures(onDisk: Bool)
        async throws
    {
        try await withBench(onDisk: onDisk) { bench in
            let namespaces = bench.bench.namespaces
            let picture = try await bench.upload("kept", bench.start())
            _ = try await bench.namespace.saveSnapshot("s", control).result.get()
            _ = try await namespaces.fork(bench.namespace, snapshot: "s", as: "child", ttl: nil)
            let child = try #require(namespaces.find("child"))
            #expect(try await bench.isExact(child))
            func isThereAfterASweep() async throws -> Bool {
                await namespaces.sweepImages()
                return try bench.isThere(picture)
            }
            _ = try await bench.namespace.reset(control).result.get()
            #expect(try await bench.isExact())
            #expect(try await isThereAfterASweep(), "the snapshot and the child refer to it")
            _ = try await bench.namespace.deleteSnapshot("s", control).result.get()
            #expect(try await isThereAfterASweep(), "the child refers to it")
            _ = try await child.saveSnapshot("t", control).result.get()
            _ = try await child.reset(control).result.get()
            #expect(try await isThereAfterASweep(), "the child's snapshot refers to it")
            _ = try await child.restoreSnapshot("t", control).result.get()
            #expect(try await bench.isExact(child))
            try await namespaces.delete("child")
            #expect(try await !isThereAfterASweep(), "the child's snapshot was removed with the child")
        }
    }

    @Test func aReplacedSnapshotReleasesItsPictures() async throws {
        try await withBench(onDisk: true) { bench in
            let picture = try await bench.upload("old", bench.start())
            _ = try await bench.namespace.saveSnapshot("s", control).result.get()
            _ = try await bench.namespace.reset(control).result.get()
            _ = try await bench.namespace.saveSnapshot("s", control).result.get()
            await bench.bench.namespaces.sweepImages()
            #expect(try !bench.isThere(picture))
        }
    }

    /// It may refer to any, and its file may be repaired.
    @Test func noPictureIsRemovedWhileANamespaceCannotBeOpened() async throws {
        try await withBench(onDisk: true) { bench in
            let picture = try await bench.upload("unknown", bench.start())
            bench.environment.damaged.add("broken", "its file is empty")
            _ = try await bench.namespace.reset(control).result.get()
            await bench.bench.namespaces.sweepImages(isFull: true)
            #expect(try bench.isThere(picture))
            bench.environment.damaged.remove("broken")
            await bench.bench.namespaces.sweepImages(isFull: true)
            #expect(try !bench.isThere(picture))
        }
    }

    @Test func picturesOfADownloadStayUntilItEnds() async throws {
        try await withBench(onDisk: true) { bench in
            let picture = try await bench.upload("downloaded", bench.start())
            var download: SnapshotDownload? = try await bench.namespace.bundle(version: "1", control).result.get()
            _ = try await bench.namespace.reset(control).result.get()
            await bench.bench.namespaces.sweepImages()
            var bytes = Data()
            while let piece = try download?.next() { bytes += piece }
            #expect(bytes.range(of: Bench.picture("downloaded")) != nil)
            download = nil
            await bench.bench.namespaces.sweepImages()
            #expect(try !bench.isThere(picture))
        }
    }

    @Test func aJobThatFailsChangesNoReference() async throws {
        struct UploadThenFail: Simulation.Operation {
            static let access = Access.writes
            let capture: String
            let sha256: String

            func perform(_ job: JobContext, as caller: Control) throws {
                let replaced = try job.transaction.putCaptureImage(
                    CaptureImageRecord(
                        captureID: capture, regionID: "outer_side", sha256: sha256, bytes: 1, mediaType: "image/jpeg",
                        uploadedAt: job.now))
                job.state.refer(to: sha256)
                job.state.releaseImages([replaced].compactMap(\.self))
                throw PlatformError.bug("on purpose")
            }
        }
        try await withBench(onDisk: true) { bench in
            let capture = try await bench.start()
            let picture = try await bench.upload("stays", capture)
            let failing = UploadThenFail(capture: capture, sha256: String(repeating: "a", count: 64))
            _ = await bench.namespace.answer(.success(failing), RequestHead())
            await bench.bench.namespaces.sweepImages()
            #expect(try bench.isThere(picture))
            #expect(try await bench.isExact())
        }
    }

    /// Runs captures, cancellations, resets, snapshots, restores, forks and deletions at once, with sweeps all the
    /// time. No image in use is removed, and in the end no unused one is left.
    @Test(.timeLimit(.minutes(30)), arguments: [true, false]) func noImageInUseIsRemovedUnderConcurrentWork(
        onDisk: Bool
    )
        async throws
    {
        try await withBench(onDisk: onDisk) { bench in
            let namespaces = bench.bench.namespaces
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask { try await work(worker, bench) }
                }
                let sweeper = Task {
                    while !Task.isCancelled {
                        await namespaces.sweepImages()
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
                sweeper.cancel()
                await sweeper.value
            }
            for worker in 0..<4 { try? await namespaces.delete("worker-\(worker)") }
            _ = try await bench.namespace.reset(control).result.get()
            await namespaces.sweepImages()
            let sweep = try #require(bench.environment.images.beginSweep(isFull: true))
            var left = 0
            for worker in 0..<4 {
                for turn in 0..<Self.turns {
                    let hash = Hex.string(SHA256.hash(data: Bench.picture("\(worker % 2)-\(turn % 3)")))
                    if try bench.isThere(hash) { left += 1 }
                }
            }
            bench.environment.images.endSweep(sweep, used: nil)
            #expect(left == 0)
        }
    }

    private static let turns = 5

    /// The work of one worker. Every two workers share their images.
    private func work(_ worker: Int, _ bench: Bench) async throws {
        let namespaces = bench.bench.namespaces
        for turn in 0..<Self.turns {
            let capture = try await bench.start()
            let text = "\(worker % 2)-\(turn % 3)"
            let picture = try await bench.upload(text, capture)
            let name = "snapshot-\(worker)"
            _ = try await bench.namespace.saveSnapshot(name, control).result.get()
            _ = await bench.namespace.answer(.success(ByID<CancelCapture>(capture)), bench.user, RequestHead())
            let child = try await namespaces.fork(bench.namespace, snapshot: name, as: "worker-\(worker)", ttl: nil)
            #expect(try bench.isThere(picture), "the snapshot and the child refer to it")
            _ = try await bench.namespace.deleteSnapshot(name, control).result.get()
            _ = try await child.saveSnapshot("own", control).result.get()
            _ = try await child.reset(control).result.get()
            _ = try await child.restoreSnapshot("own", control).result.get()
            #expect(try bench.isThere(picture), "the child refers to it")
            #expect(try await bench.isExact(child))
            try await namespaces.delete(child.name)
        }
    }
}
