import GRDB
import NIOConcurrencyHelpers

// The engine asks every database which images it refers to: the sweep, and snapshots of any age.

extension Transaction {
    /// The tables whose rows refer to images: `capture_images`, and those of platforms. Each has the columns `sha256`,
    /// `bytes` and `in_use`.
    ///
    /// Read once for each open database: the statement looks at every column of the schema, which takes half a millisecond.
    private func imageTables() throws -> [String] {
        if let known = knownImageTables.withLockedValue({ $0 }) { return known }
        let found: [String] = try all(
            """
            SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'in_use'
            ORDER BY m.name
            """
        ) { try $0[0] }
        knownImageTables.withLockedValue { $0 = found }
        return found
    }

    /// The images in use in this namespace, once for each row that uses them.
    private func imagesInUse() throws -> String {
        try imageTables().map { "SELECT sha256, bytes FROM \"\($0)\" WHERE in_use = 1" }.joined(
            separator: " UNION ALL ")
    }

    /// An image that a row referred to; `nil` if there was none, or another row still refers to it.
    package func unused(_ sha256: String?) throws -> String? {
        guard let sha256, try !isImageInUse(sha256: sha256) else { return nil }
        return sha256
    }

    /// Releases the images of a table's rows with a certain key. The rows stay.
    ///
    /// - Returns: the images that nothing refers to any longer.
    package func releaseImages(in table: String, where column: String, is key: String) throws -> [String] {
        let hashes: [String] = try all(
            "SELECT DISTINCT sha256 FROM \(table) WHERE \(column) = ? AND in_use = 1", [key]
        ) { try $0[0] }
        guard !hashes.isEmpty else { return [] }
        try run("UPDATE \(table) SET in_use = 0 WHERE \(column) = ?", [key])
        return try hashes.filter { try !isImageInUse(sha256: $0) }
    }

    /// Whether a row of this namespace refers to an image.
    private func isImageInUse(sha256: String) throws -> Bool {
        try imageTables().contains { table in
            let found = "SELECT 1 FROM \"\(table)\" WHERE sha256 = ? AND in_use = 1 LIMIT 1"
            return try first(found, [sha256]) { _ in true } ?? false
        }
    }

    /// The hashes of all images in use in this namespace: those that rows have not released. Also reads snapshots from
    /// before captures could release images.
    package func imageHashes() throws -> [String] {
        let isOld = try StorageError.converting(nil) {
            try !database.columns(in: "capture_images").contains { $0.name == "in_use" }
        }
        return try all(
            isOld
                ? """
                SELECT DISTINCT sha256 FROM capture_images WHERE capture_id NOT IN (
                    SELECT id FROM captures WHERE status = 'cancelled' OR status = 'timed_out')
                """ : "SELECT DISTINCT sha256 FROM (\(imagesInUse()))"
        ) { try $0[0] }
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
            FROM (SELECT DISTINCT sha256, bytes FROM (\(imagesInUse())))
            """
        ) { try (count: $0[0], bytes: $0[1]) }!
    }
}
