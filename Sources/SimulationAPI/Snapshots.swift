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
    /// The SHA-256 of `world.sqlite`, in lower-case hex; empty until it is known.
    public var world_sha256: String

    /// The `format_version` that this program writes, and the highest that it reads.
    public static let currentVersion = 1

    public init(format: String, version: String, snapshot: SnapshotInfo, world_sha256: String = "") {
        self.world_sha256 = world_sha256
        self.format = format
        format_version = Self.currentVersion
        self.version = version
        self.snapshot = snapshot
    }
}
