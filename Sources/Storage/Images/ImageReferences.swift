import GRDB

// The engine asks every database which images it refers to: the sweep, and snapshots of any age.

extension Transaction {
    /// The hashes of all images in use in this namespace: those of captures that have not released them. Also reads
    /// snapshots from before captures could release images.
    package func imageHashes() throws -> [String] {
        let isOld: Bool
        do {
            isOld = try !database.columns(in: "capture_images").contains { $0.name == "in_use" }
        } catch {
            throw StorageError.from(error)
        }
        return try all(
            isOld
                ? """
                SELECT DISTINCT sha256 FROM capture_images WHERE capture_id NOT IN (
                    SELECT id FROM captures WHERE status = 'cancelled' OR status = 'timed_out')
                """ : "SELECT DISTINCT sha256 FROM capture_images WHERE in_use = 1"
        ) { $0[0] }
    }

    /// The images in use, as ``ImageHash``.
    package func images() throws -> Set<ImageHash> {
        Set(try imageHashes().compactMap { ImageHash($0) })
    }

    /// The number of images in use, and their total bytes. Each image counts once.
    package func imageSizes() throws -> (count: Int, bytes: Int) {
        try first(
            """
            SELECT COUNT(*), COALESCE(SUM(bytes), 0)
            FROM (SELECT DISTINCT sha256, bytes FROM capture_images WHERE in_use = 1)
            """
        ) { (count: $0[0], bytes: $0[1]) }!
    }
}
