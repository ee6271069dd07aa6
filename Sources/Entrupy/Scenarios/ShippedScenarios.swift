import Resources

/// The scenarios in `seed-data/scenarios`, one for each edge case that the vendor documents [S].
package enum ShippedScenarios {
    /// The texts of the scenarios, by name.
    package static let all = Resource.texts(in: "scenarios", ending: ".yaml")
}
