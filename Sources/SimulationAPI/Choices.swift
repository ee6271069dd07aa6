extension Choice {
    /// A value that is its own name.
    public init(_ id: String) {
        self.init(id: id, name: id)
    }
}
