import Foundation
import Testing

@testable import Storage

@Suite struct ImageSweepTests {
    private static func hash(_ digit: Character) -> ImageHash { ImageHash(String(repeating: digit, count: 64))! }
    private let old = hash("a")
    private let used = hash("b")
    private let new = hash("c")

    /// Runs `body` with a store of two images that no request holds, in memory or on disk.
    private func withStore(onDisk: Bool, _ body: (ImageStore) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("image-store-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = ImageStore(root: onDisk ? path : nil)
        for hash in [old, used] { try keep(hash, in: store) }
        try await body(store)
    }

    private func keep(_ hash: ImageHash, in store: ImageStore) throws {
        try store.hold(Data("x".utf8), sha256: hash.text)
        store.release(sha256: hash.text, isKept: true)
    }

    private func isThere(_ hash: ImageHash, _ store: ImageStore) throws -> Bool {
        try store.bytes(sha256: hash.text) != nil
    }

    @Test(arguments: [true, false]) func aFullSweepRemovesWhatNoOwnerRefersTo(onDisk: Bool) async throws {
        try await withStore(onDisk: onDisk) { store in
            let sweep = try #require(store.beginSweep(isFull: true))
            store.endSweep(sweep, used: [used])
            #expect(try !isThere(old, store) && isThere(used, store))
        }
    }

    @Test(arguments: [true, false]) func aSweepChecksOnlyImagesThatLostAReference(onDisk: Bool) async throws {
        try await withStore(onDisk: onDisk) { store in
            #expect(store.beginSweep(isFull: false) == nil, "no image has lost a reference")
            store.lost([old, used])
            let sweep = try #require(store.beginSweep(isFull: false))
            #expect(Set(sweep.candidates ?? []) == [old, used])
            #expect(store.beginSweep(isFull: true) == nil, "one sweep at a time")
            store.endSweep(sweep, used: [used])
            #expect(try !isThere(old, store) && isThere(used, store))
            #expect(store.beginSweep(isFull: false) == nil, "both images were checked")
        }
    }

    @Test func anImageStoredDuringASweepStays() async throws {
        try await withStore(onDisk: true) { store in
            let sweep = try #require(store.beginSweep(isFull: true))
            // An old image that is referred to and kept again before the sweep looks at it, and a new image.
            for hash in [old, new] { try keep(hash, in: store) }
            store.endSweep(sweep, used: [used])
            #expect(try isThere(old, store) && isThere(new, store))
            store.endSweep(try #require(store.beginSweep(isFull: true)), used: [used])
            #expect(try !isThere(old, store) && !isThere(new, store), "the next sweep removes them")
        }
    }

    @Test func aHeldImageStaysUntilItIsReleased() async throws {
        try await withStore(onDisk: true) { store in
            try store.hold(Data("x".utf8), sha256: new.text)
            store.hold([old.text])
            store.lost([old, new])
            store.endSweep(try #require(store.beginSweep(isFull: false)), used: [])
            #expect(try isThere(new, store) && isThere(old, store))
            let sweep = try #require(store.beginSweep(isFull: false), "they are looked at again")
            // Their jobs run after the owners were asked, and before the sweep looks at the images.
            for hash in [old, new] { store.release(sha256: hash.text, isKept: true) }
            store.endSweep(sweep, used: [])
            #expect(try isThere(new, store) && isThere(old, store))
            store.endSweep(try #require(store.beginSweep(isFull: false)), used: [])
            #expect(try !isThere(new, store) && !isThere(old, store))
        }
    }

    @Test func anImageReleasedAgainDuringASweepStays() async throws {
        try await withStore(onDisk: true) { store in
            store.lost([old])
            let sweep = try #require(store.beginSweep(isFull: false))
            // A copy took the reference from an owner that had it. The owner released the image before it was asked.
            store.lost([old])
            store.endSweep(sweep, used: [])
            #expect(try isThere(old, store))
            let full = try #require(store.beginSweep(isFull: true))
            store.lost([old])
            store.endSweep(full, used: [])
            #expect(try isThere(old, store))
        }
    }

    @Test(.timeLimit(.minutes(15))) func aSweepWaitsForEarlierCopiesAndNotForLaterOnes() async throws {
        try await withStore(onDisk: true) { store in
            let before = store.beginCopy()
            let sweep = try #require(store.beginSweep(isFull: true))
            let later = store.beginCopy()
            let waiting = Task { await store.copiesEnded(before: sweep) }
            while store.state.withLockedValue({ $0.waiting.isEmpty }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            store.endCopy(before)
            await waiting.value
            await store.copiesEnded(before: sweep)
            store.endCopy(later)
            store.endSweep(sweep, used: nil)
        }
    }

    @Test func aSweepWithoutKnownReferencesRemovesNothing() async throws {
        try await withStore(onDisk: true) { store in
            store.lost([old])
            store.endSweep(try #require(store.beginSweep(isFull: false)), used: nil)
            store.endSweep(try #require(store.beginSweep(isFull: true)), used: nil)
            #expect(try isThere(old, store) && isThere(used, store))
            #expect(store.beginSweep(isFull: false) != nil, "the image is checked again")
        }
    }

    @Test func aHalfWrittenFileIsRemovedAndTheImageStays() async throws {
        try await withStore(onDisk: true) { store in
            let folder = try #require(store.root).appendingPathComponent("bb")
            let half = folder.appendingPathComponent("\(used.text).7.new")
            try Data("h".utf8).write(to: half)
            store.endSweep(try #require(store.beginSweep(isFull: true)), used: [used])
            #expect(!FileManager.default.fileExists(atPath: half.path))
            #expect(try isThere(used, store))
        }
    }

    @Test(arguments: ["0123456789abcdef", String(repeating: "g", count: 64), String(repeating: "A", count: 64)])
    func textThatIsNotAHashIsRefused(text: String) {
        #expect(ImageHash(text) == nil)
        let good = String(repeating: "0123456789abcdef", count: 4)
        #expect(ImageHash(good)?.text == good)
    }
}
