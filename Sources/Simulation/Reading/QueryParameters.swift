import Foundation

/// The parameters of a query, decoded as those of an HTML form.
package struct QueryParameters {
    private let parameters: [(key: String, value: String?)]
    let isStrict: Bool
    private var known: [String] = []

    /// - Parameters:
    ///   - query: the text after the `?`, still encoded.
    ///   - isStrict: whether parameters that are not read are problems.
    package init(_ query: Substring, isStrict: Bool) {
        self.isStrict = isStrict
        parameters = query.split(at: "&").map { pair in
            let parts = pair.split(at: "=", maxSplits: 1, omittingEmpty: false)
            let value = parts.count > 1 ? parts[1].replacing(each: "+", with: " ").removingPercentEncoding : ""
            return (parts[0].removingPercentEncoding ?? String(parts[0]), value)
        }
    }

    package func has(_ key: String) -> Bool { parameters.contains { $0.key.isIdentical(to: key) } }

    /// The value of a parameter, `nil` if it is absent; and its problem.
    package mutating func read(_ key: String) -> (value: String?, problem: String?) {
        // One that has several forms is read once for each.
        if isStrict, !known.contains(where: { $0.isIdentical(to: key) }) { known.append(key) }
        let found = parameters.filter { $0.key.isIdentical(to: key) }
        guard let first = found.first else { return (nil, nil) }
        if found.count > 1 { return (nil, "is given twice") }
        return (first.value, first.value == nil ? "is not valid percent-encoding of UTF-8" : nil)
    }

    /// The problems of the parameters that were not read.
    package var unread: [(key: String, problem: String)] {
        guard isStrict else { return [] }
        let keys = parameters.map(\.key).filter { key in !known.contains { $0.isIdentical(to: key) } }
        return keys.enumerated().map { index, key in
            (key, FieldReader.unknown(key, known, guesses: index < FieldReader.maxGuesses))
        }
    }
}
