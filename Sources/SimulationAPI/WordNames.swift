extension CaseIterable where Self: RawRepresentable<String> {
    /// The known words as text.
    package static var names: [String] {
        // A key path of a generic type is made anew each time.
        allCases.map { $0.rawValue }
    }
}
