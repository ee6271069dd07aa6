/// A saved state of a namespace, under a name [D snapshots].
public struct SnapshotInfo: Codable, Sendable {
    public var id: String
    /// The snapshot's name: 1 to 63 characters of `A-Za-z0-9._-`, beginning with a letter or digit.
    public var name: String
    /// The namespace that the snapshot belongs to.
    public var namespace: String
    /// The real time at which the snapshot was saved or uploaded, in epoch seconds.
    public var created_at: Double
    /// The saved state of the clock.
    public var clock: ClockState
    /// The random seed. Every id, token and key of the saved namespace is derived from it.
    public var random_seed: Int
    /// The name of the seed data that the saved namespace was made from.
    public var seed: String
    /// The sizes of its contents.
    public var counts: NamespaceCounts
    /// The number of pictures that it refers to.
    public var images: Int
    /// The total size of those pictures in bytes.
    public var image_bytes: Int
    /// The size of its database in bytes, without images.
    public var database_bytes: Int

    public init(
        name: String, namespace: String, created_at: Double, clock: ClockState, random_seed: Int, seed: String,
        counts: NamespaceCounts, images: Int, image_bytes: Int, database_bytes: Int
    ) {
        id = name
        self.name = name
        self.namespace = namespace
        self.created_at = created_at
        self.clock = clock
        self.random_seed = random_seed
        self.seed = seed
        self.counts = counts
        self.images = images
        self.image_bytes = image_bytes
        self.database_bytes = database_bytes
    }
}

/// `GET /_sim/snapshots`.
public struct SnapshotList: Codable, Sendable {
    /// The snapshots, sorted by name.
    public var snapshots: [SnapshotInfo]
    /// The snapshots whose files cannot be read, which are not in ``snapshots``; `nil` from servers before 0.3.
    public var damaged: [DamagedFile]?

    public init(snapshots: [SnapshotInfo], damaged: [DamagedFile]? = nil) {
        self.snapshots = snapshots
        self.damaged = damaged
    }
}

/// The content of `manifest.json`, the first file of a snapshot's or bundle's archive [D snapshots].
public struct ArchiveManifest: Codable, Sendable {
    /// The kind of archive: `entrupy-sim snapshot` or `entrupy-sim bundle`.
    public var format: String
    /// The version of the format, 1. A program that supports only lower versions rejects the archive.
    public var format_version: Int
    /// The version of the program that wrote the archive.
    public var version: String
    /// The snapshot in the archive.
    public var snapshot: SnapshotInfo
    /// The SHA-256 of `world.sqlite`, in lower-case hex. Archives of older versions do not have it.
    public var world_sha256: String?

    /// The `format_version` that this program writes, and the highest that it reads.
    public static let currentVersion = 1

    public init(format: String, version: String, snapshot: SnapshotInfo, world_sha256: String? = nil) {
        self.world_sha256 = world_sha256
        self.format = format
        format_version = Self.currentVersion
        self.version = version
        self.snapshot = snapshot
    }
}
