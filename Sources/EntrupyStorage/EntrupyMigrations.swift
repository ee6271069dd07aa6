import Storage

/// The changes of Entrupy's tables since the engine took over those of the first release, in the order of their release.
package enum EntrupyMigrations {
    package static let all = [
        Migration("fingerprints", fingerprints),
        Migration("market edge", marketEdge),
        Migration("form factor", formFactor),
    ]

    /// The service performed for an item, and the item that it was compared with.
    private static let fingerprints = """
        ALTER TABLE captures ADD COLUMN activity TEXT NOT NULL DEFAULT 'authentication';
        ALTER TABLE captures ADD COLUMN fingerprint_parent TEXT;
        ALTER TABLE items ADD COLUMN activity TEXT NOT NULL DEFAULT 'authentication';
        ALTER TABLE items ADD COLUMN fingerprint_parent TEXT;
        """

    /// The market data that an item was given; null if it follows from the item.
    private static let marketEdge = "ALTER TABLE items ADD COLUMN market_edge TEXT;"

    /// The device that took an item's pictures.
    private static let formFactor = "ALTER TABLE items ADD COLUMN form_factor TEXT NOT NULL DEFAULT 'free_camera';"
}
