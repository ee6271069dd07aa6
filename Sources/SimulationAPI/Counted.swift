/// Numbers of things in words.
package enum Counted {
    /// `1 error`, `2 errors`.
    ///
    /// - Parameter plural: the plural of the thing; absent, the thing with an `s`.
    package static func text(_ count: Int, _ thing: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? thing : plural ?? thing + "s")"
    }
}
