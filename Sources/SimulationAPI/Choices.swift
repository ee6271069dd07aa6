extension Choice {
    /// A value that is its own name.
    public init(_ id: String, about: String? = nil) {
        self.init(id: id, name: id, about: about)
    }
}
