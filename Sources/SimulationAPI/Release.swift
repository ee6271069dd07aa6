/// The release of entrupy-sim that this code belongs to.
package enum Release {
    /// The version. `scripts/version` keeps it the same in every file that states it.
    package static let version = "0.2.0"
}
