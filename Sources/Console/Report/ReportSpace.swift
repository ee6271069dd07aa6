/// Parts of a report that are rendered one after another until their space is used up. The sizes are those of the rendered
/// HTML, so a report is bounded whatever texts are in it.
struct ReportSpace {
    /// The rendered parts.
    private(set) var html = ""
    /// The number of rendered parts.
    private(set) var count = 0
    /// Whether a part was left out for lack of space.
    private(set) var isFull = false
    /// The bytes that further parts may have.
    var left: Int

    /// Renders a part and adds it.
    ///
    /// - Returns: whether it had space.
    @discardableResult
    mutating func add(_ view: some Encodable, _ template: String) throws -> Bool {
        let part = try PageTemplates.render(view, template)
        guard part.utf8.count <= left else {
            isFull = true
            return false
        }
        left -= part.utf8.count
        html += part
        count += 1
        return true
    }

    /// Renders parts until one has no space.
    mutating func add(all views: [some Encodable], _ template: String) throws {
        for view in views where try !add(view, template) { return }
    }
}
