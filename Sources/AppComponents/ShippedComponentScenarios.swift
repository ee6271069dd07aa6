import Resources

/// The scenarios of App Components: a successful run, a blurry picture, and errors of Fourthline's documentation [S].
package enum ComponentScenarios {
    /// The texts of the scenarios, by name.
    package static let all = Resource.texts(in: "component-scenarios", ending: ".yaml")
}
