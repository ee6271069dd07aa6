/// Writes texts as values of YAML that the console makes. Exported seed data is written by the library.
package enum YAMLScalar {
    /// A text in double quotes, on one line. It stays a text whatever it looks like: `no`, `null`, `1e3`, a date.
    ///
    /// Characters that YAML does not allow, and those that a reader cannot see, are escaped.
    package static func quoted(_ text: String) -> String {
        let content = text.escaping { scalar in
            if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
            guard scalar.isInvisible else { return nil }
            let digits = String(scalar.value, radix: 16, uppercase: true)
            let (letter, count) = scalar.value <= 0xffff ? ("u", 4) : ("U", 8)
            return "\\" + letter + String(repeating: "0", count: count - digits.count) + digits
        }
        return "\"\(content)\""
    }
}
