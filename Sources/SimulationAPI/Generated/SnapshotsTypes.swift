// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// A saved state of a namespace, under a name [D snapshots].
public struct SnapshotInfo: Codable, Sendable {
    public var id: String
    /// The snapshot's name: 1 to 63 characters of `A-Za-z0-9._-`, beginning with a letter or digit.
    public var name: String
    /// The namespace that the snapshot belongs to.
    public var namespace: String
    /// The real time, in epoch seconds.
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
    /// The size of the database in bytes, without images.
    public var database_bytes: Int

    public init(
        name: String, namespace: String, created_at: Double, clock: ClockState, random_seed: Int, seed: String,
        counts: NamespaceCounts, images: Int, image_bytes: Int, database_bytes: Int
    ) {
        self.id = name
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
    /// The snapshots whose files cannot be read. Absent or empty if there are none.
    public var damaged: [DamagedFile]?

    public init(snapshots: [SnapshotInfo], damaged: [DamagedFile]? = nil) {
        self.snapshots = snapshots
        self.damaged = damaged
    }
}
