import Foundation
import Testing

@testable import Storage

@Suite struct ImageSweepTests {
    private let old = String(repeating: "a", count: 64)
    private let used = String(repeating: "b", count: 64)
    private let new = String(repeating: "c", count: 64)

    /// A store with two pictures that nobody holds any more.
    private func withStore(_ body: (ImageStore) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("image-store-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = ImageStore(root: path)
        for sha256 in [old, used] {
            try store.hold(Data("x".utf8), sha256: sha256)
            store.release(sha256: sha256, isKept: true)
        }
        try body(store)
    }

    @Test func aSweepRemovesWhatNobodyNames() throws {
        try withStore { store in
            store.beginSweep()
            store.sweep(keeping: [used])
            let (unnamed, named) = (try store.bytes(sha256: old), try store.bytes(sha256: used))
            #expect(unnamed == nil && named != nil)
        }
    }

    @Test func whatComesDuringASweepStays() throws {
        try withStore { store in
            store.beginSweep()
            // Named again, and kept, before the sweep gets to it; and one that is quite new.
            for sha256 in [old, new] {
                try store.hold(Data("x".utf8), sha256: sha256)
                store.release(sha256: sha256, isKept: true)
            }
            store.sweep(keeping: [used])
            let kept = try [old, new].map { try store.bytes(sha256: $0) }
            #expect(kept.allSatisfy { $0 != nil })
            store.beginSweep()
            store.sweep(keeping: [used])
            let swept = try [old, new].map { try store.bytes(sha256: $0) }
            #expect(swept.allSatisfy { $0 == nil }, "the next one takes them")
        }
    }

    @Test func whatWasOnItsWayWhenASweepBeganStays() throws {
        try withStore { store in
            try store.hold(Data("x".utf8), sha256: new)
            store.beginSweep()
            // Its job runs after the databases were asked, and before the sweep gets to it.
            store.release(sha256: new, isKept: true)
            store.sweep(keeping: [used])
            let found = try store.bytes(sha256: new)
            #expect(found != nil)
        }
    }

    @Test func whereItIsNotKnownWhatIsUsedNothingIsRemoved() throws {
        try withStore { store in
            store.beginSweep()
            store.sweep(keeping: nil)
            let untouched = try [old, used].map { try store.bytes(sha256: $0) }
            #expect(untouched.allSatisfy { $0 != nil })
        }
    }
}
