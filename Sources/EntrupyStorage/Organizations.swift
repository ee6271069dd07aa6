import Storage

extension Transaction {
    package func insertBundle(_ bundleID: String, organizationID: Int64) throws {
        try run("INSERT INTO bundles VALUES (?, ?)", [organizationID, bundleID])
    }

    /// An organization's bundle ids, sorted.
    package func bundles(organizationID: Int64) throws -> [String] {
        try all("SELECT bundle_id FROM bundles WHERE organization_id = ? ORDER BY bundle_id", [organizationID]) {
            try $0[0]
        }
    }

    /// Whether an app's bundle id is registered for the organization.
    package func hasBundle(_ bundleID: String, organizationID: Int64) throws -> Bool {
        try first(
            "SELECT 1 FROM bundles WHERE organization_id = ? AND bundle_id = ?", [organizationID, bundleID]
        ) { _ in true } ?? false
    }

    /// Sets whether an organization's users may flag through the SDK.
    package func setFlagging(organizationID: Int64, _ sdk: Bool) throws {
        try run("UPDATE organizations SET sdk_flagging = ? WHERE id = ?", [sdk, organizationID])
    }
}
