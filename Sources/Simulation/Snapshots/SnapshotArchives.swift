import Foundation
import Hashes
import SimulationAPI
import Storage

/// A download of a snapshot. The snapshot's images are kept until this is released.
package final class SnapshotDownload: Sendable {
    /// The length in bytes.
    package let size: Int
    private let stream: ArchiveStream
    private let pictures: HeldImages

    package init(_ archive: Archive, _ pictures: HeldImages) {
        size = archive.size
        stream = ArchiveStream(archive)
        self.pictures = pictures
    }

    /// The next piece; `nil` at the end. Blocks.
    package func next() throws -> Data? {
        try stream.next()
    }
}

/// Holds images, which are kept as long as this instance exists.
package final class HeldImages: Sendable {
    package let hashes: [String]
    private let store: ImageStore

    /// - Parameter hashes: images that are in use now.
    package init(_ hashes: [String], in store: ImageStore) {
        self.hashes = hashes
        self.store = store
        store.hold(hashes)
    }

    deinit {
        for hash in hashes { store.release(sha256: hash, isKept: true) }
    }
}

/// The names of the files in an archive.
package enum ArchiveNames {
    package static let manifest = "manifest.json"
    package static let world = "world.sqlite"
    package static let images = "images/"
    package static let snapshotFormat = "entrupy-sim snapshot"
}

extension Namespace {
    /// A snapshot as one file: a manifest, the database and the images.
    ///
    /// - Parameter version: the program's version.
    package func downloadSnapshot(
        _ name: String, version: String, _ head: RequestHead
    ) async -> Completed<SnapshotDownload> {
        await runLongOperation(head) { [self] in
            try await environment.copyingImages {
                while true {
                    let snapshot = try await snapshot(name)
                    do {
                        return try await pack(snapshot, version: version)
                    } catch StorageError.changedMeanwhile {
                        // Deleted, or replaced: then the new one is packed. Nothing was sent yet.
                        continue
                    }
                }
            }
        }
    }

    /// - Throws: ``StorageError/changedMeanwhile(_:)`` if the snapshot was deleted or replaced since it was found. A download
    ///   that is returned is whole: its files are open, or held.
    func pack(_ snapshot: SnapshotRecord, version: String) async throws -> SnapshotDownload {
        try await environment.copying { [environment] in
            try environment.pack(snapshot, as: ArchiveNames.snapshotFormat, version: version)
        }
    }

    /// Saves an uploaded archive as a snapshot.
    ///
    /// - Parameter open: opens the archive.
    package func uploadSnapshot(
        _ name: String, _ head: RequestHead, opening open: @escaping @Sendable () throws -> any ByteSource
    ) async -> Completed<Saved<SnapshotInfo>> {
        await runLongOperation(head) { [self] in
            try SnapshotName.check(name)
            return try await environment.copying { [self] in
                let saved = try environment.unpack(ArchiveReader(open()), as: name, of: self.name)
                try checkExists { _ = try environment.snapshots.remove(self.name, name) }
                return saved
            }
        }
    }
}

extension Environment {
    /// Creates an archive. Call it within ``copyingImages(_:)``, so that its images exist. Blocks.
    ///
    /// - Parameters:
    ///   - format: the kind of archive.
    ///   - version: the program's version.
    ///   - more: files besides those of the snapshot.
    package func pack(
        _ snapshot: SnapshotRecord, as format: String, version: String, more: [Archive.Entry] = []
    ) throws -> SnapshotDownload {
        var manifest = ArchiveManifest(format: format, version: version, snapshot: try snapshot.info())
        let world = try Archive.Entry(
            ArchiveNames.world, opened: snapshot.open(writingTo: snapshots.temporaryPath()))
        var hash = SHA256()
        try world.forEachPiece { hash.update(data: $0) }
        manifest.world_sha256 = Hex.string(hash.finalize())
        var entries = [Archive.Entry(ArchiveNames.manifest, try WireJSON.encode(manifest)), world]
        let pictures = HeldImages(try snapshot.images().map(\.text).sorted(), in: images)
        for hash in pictures.hashes {
            entries.append(try images.entry(ArchiveNames.images + hash, sha256: hash))
        }
        return SnapshotDownload(Archive(entries + more, modified: Int(manifest.snapshot.created_at)), pictures)
    }

    /// Validates an archive and saves its contents as a snapshot. Its data is not trusted, and is refused at the first block that
    /// is wrong. Blocks.
    package func unpack(_ archive: ArchiveReader, as name: String, of namespace: String) throws -> Saved<SnapshotInfo> {
        var reader = archive
        let world = try snapshots.temporaryPath()
        var held: [String] = []
        var isKept = false
        defer {
            NamespaceStore.removeDatabase(world)
            for hash in held { images.release(sha256: hash, isKept: isKept) }
            // The database may not refer to all of them.
            images.lost(held.compactMap { ImageHash($0) })
        }
        var manifest: ArchiveManifest?
        var worldHash: String?
        while let entry = try reader.next() {
            guard manifest != nil || entry.name == ArchiveNames.manifest else {
                throw StorageError.foreign("the archive must begin with manifest.json, got \"\(entry.name)\"")
            }
            switch entry.name {
            case ArchiveNames.manifest:
                guard manifest == nil else { throw StorageError.foreign("the archive has manifest.json twice") }
                manifest = try Self.manifest(entry, &reader)
            case ArchiveNames.world:
                guard worldHash == nil else { throw StorageError.foreign("the archive has world.sqlite twice") }
                var hash = SHA256()
                var isFirst = true
                try reader.extract(to: world) { bytes in
                    if isFirst { try UploadedDatabase.check(beginning: bytes) }
                    isFirst = false
                    hash.update(data: bytes)
                }
                worldHash = Hex.string(hash.finalize())
            case let name where name.hasPrefix(ArchiveNames.images):
                held.append(try hold(entry, String(name.dropFirst(ArchiveNames.images.count)), &reader))
            case let name where BundleNames.all.contains(name):
                continue
            default:
                throw StorageError.foreign("the archive holds \"\(entry.name)\", which is not a file of a snapshot")
            }
        }
        guard let manifest else { throw StorageError.foreign("the archive has no manifest.json") }
        guard let worldHash else { throw StorageError.foreign("the archive has no world.sqlite") }
        try reader.finish()
        guard manifest.world_sha256.isIdentical(to: worldHash) else {
            let announced = manifest.world_sha256.prefix(64)
            throw StorageError.foreign("world.sqlite is damaged: its SHA-256 is \(worldHash), not \(announced)")
        }
        let kept = try save(world, manifest, as: name, of: namespace, pictures: Set(held), hash: worldHash)
        isKept = true
        return kept
    }

    private func save(
        _ world: String, _ manifest: ArchiveManifest, as name: String, of namespace: String, pictures: Set<String>,
        hash: String
    ) throws -> Saved<SnapshotInfo> {
        try UploadedDatabase.prepare(world, migrations: seed.platforms.migrations)
        var info = manifest.snapshot
        guard let now = Instant(info.clock.now), ["running", "frozen"].contains(info.clock.mode) else {
            throw StorageError.foreign("manifest.json has no valid clock")
        }
        let stored = try SnapshotStore.read(world) { transaction in
            let stored = try UploadedNamespace.check(transaction, settings: settings, seed.platforms)
            if let missing = try transaction.imageHashes().first(where: { !pictures.contains($0) }) {
                throw StorageError.foreign("the archive lacks the image \(missing)")
            }
            return stored
        }
        let kept = try snapshots.save(file: world, as: name, of: namespace) { transaction in
            try transaction.setNamespaceValue(.renderingSalt, hash)
            info = try describe(
                transaction, name: name, namespace: namespace,
                SnapshotMoment(
                    clock: ClockState(now: now.display, epoch: now.epoch, mode: info.clock.mode),
                    randomSeed: stored.randomSeed, seed: stored.seed, takenAt: realTime()))
            return try StoredJSON.encode(info)
        }
        return Saved(info: try kept.snapshot.info(), isNew: kept.isNew)
    }

    private static func manifest(
        _ entry: ArchiveReader.Entry, _ reader: inout ArchiveReader
    ) throws -> ArchiveManifest {
        guard entry.size <= 1_000_000 else { throw StorageError.foreign("\(entry.name) is larger than 1 MB") }
        let bytes = try reader.all()
        guard let kind = try? WireJSON.decode(FileKind.self, from: bytes),
            [ArchiveNames.snapshotFormat, BundleNames.format].contains(kind.format)
        else { throw StorageError.foreign("manifest.json is not a manifest of entrupy-sim") }
        guard kind.format_version <= ArchiveManifest.currentVersion else {
            throw StorageError.foreign(
                "it was written by a newer version of entrupy-sim (\(kind.version ?? "unknown")): its format is version "
                    + "\(kind.format_version), this program knows up to \(ArchiveManifest.currentVersion)")
        }
        do {
            return try WireJSON.decode(ArchiveManifest.self, from: bytes)
        } catch {
            throw StorageError.foreign("manifest.json is not as entrupy-sim writes it")
        }
    }

    /// Stores an image after checking that its content matches the hash in its name.
    private func hold(_ entry: ArchiveReader.Entry, _ hash: String, _ reader: inout ArchiveReader) throws -> String {
        guard entry.size <= ReceivedImage.limit else {
            throw StorageError.foreign("\(entry.name) is larger than \(ReceivedImage.limit) bytes")
        }
        let bytes = try reader.all()
        guard Hex.string(SHA256.hash(data: bytes)) == hash else {
            throw StorageError.foreign("the content of \"\(entry.name)\" does not match the hash in its name")
        }
        try images.hold(bytes, sha256: hash)
        return hash
    }
}
