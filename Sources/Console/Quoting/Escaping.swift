extension String {
    /// The text with other texts for some of its characters.
    ///
    /// - Parameter escape: the text for a character; `nil` if it stays.
    package func escaping(_ escape: (Unicode.Scalar) -> String?) -> String {
        var escaped = ""
        for scalar in unicodeScalars {
            if let text = escape(scalar) { escaped += text } else { escaped.unicodeScalars.append(scalar) }
        }
        return escaped
    }
}
