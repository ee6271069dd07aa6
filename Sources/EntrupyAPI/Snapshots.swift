/// A world as it was once, under a name [D].
public struct SnapshotInfo: Codable, Sendable {
    /// The same as `name`.
    public var id: String
    /// 1 to 63 of `A-Za-z0-9._-`, beginning with a letter or digit.
    public var name: String
    /// The namespace it belongs to.
    public var namespace: String
    /// When it was saved or uploaded, in epoch seconds of real time.
    public var created_at: Double
    /// What its clock showed.
    public var clock: ClockState
    /// What every id, token and key of that world follows from.
    public var random_seed: Int
    /// The name of the seed data it was made from.
    public var seed: String
    /// How much it holds.
    public var counts: NamespaceCounts
    /// How many pictures it refers to.
    public var images: Int
    /// Bytes of those pictures.
    public var image_bytes: Int
    /// Bytes of its database, images aside.
    public var database_bytes: Int

    /// Makes one from its members.
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
    /// By name.
    public var snapshots: [SnapshotInfo]

    /// Makes one from its members.
    public init(snapshots: [SnapshotInfo]) {
        self.snapshots = snapshots
    }
}

/// `manifest.json`, the first file of an archive that carries a world [D].
public struct ArchiveManifest: Codable, Sendable {
    /// `entrupy-sim snapshot` or `entrupy-sim bundle`.
    public var format: String
    /// 1. A program that knows less refuses the archive.
    public var format_version: Int
    /// The version of the program that wrote it.
    public var version: String
    /// The world in it.
    public var snapshot: SnapshotInfo
    /// The SHA-256 of `world.sqlite`, in lower-case hex; absent in archives of older versions.
    public var world_sha256: String?

    /// What `format_version` this program writes, and the highest it reads.
    public static let currentVersion = 1

    /// Makes one from its members.
    public init(format: String, version: String, snapshot: SnapshotInfo, world_sha256: String? = nil) {
        self.world_sha256 = world_sha256
        self.format = format
        format_version = Self.currentVersion
        self.version = version
        self.snapshot = snapshot
    }
}
