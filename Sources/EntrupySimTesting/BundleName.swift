import Foundation

/// The name of a failed test's bundle. It follows from the test's id alone: it is the same in each run, so that a later run finds it,
/// and another one for another test.
struct BundleName: Equatable, CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - test: the whole id of the test.
    ///   - readable: a text whose beginning is shown, so that a person finds the file.
    init(test: String, readable: String) {
        let parts = readable.unicodeScalars.split { !Self.isPlain($0) }.map { String(String.UnicodeScalarView($0)) }
        let name = String(parts.joined(separator: "-").prefix(80))
        description = (name.isEmpty ? "" : "\(name)-") + Self.hash(test)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }

    /// FNV-1a with 64 bits, in hexadecimal digits. Foundation has no hash that is the same in each process.
    private static func hash(_ text: String) -> String {
        let value = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(format: "%016llx", value)
    }
}

#if canImport(Testing)
    import Testing

    extension BundleName {
        /// `nil` if the case cannot be told from the others of its test.
        init?(_ test: Test, _ testCase: Test.Case?) {
            // The line of a test changes while it is mended.
            let id = [test.sourceLocation.fileID] + [test.id.moduleName] + test.id.nameComponents
            var whole = id.joined(separator: "\u{0}")
            var readable = test.name
            if let testCase, testCase.isParameterized {
                guard let text = Self.arguments(of: testCase) else { return nil }
                whole += "\u{0}\(text)"
                readable += " \(text)"
            }
            self.init(test: whole, readable: readable)
        }

        /// Types and descriptions of a case's arguments; `nil` if they cannot be read.
        ///
        /// Swift Testing shows them to its own tools alone. The id of a case is no help: for arguments that are not `Codable` it may
        /// differ from run to run.
        static func arguments(of testCase: Test.Case) -> String? {
            guard let kind = Mirror(reflecting: testCase).descendant("_kind", "parameterized"),
                let arguments = Mirror(reflecting: kind).descendant("arguments")
            else { return nil }
            let values = Mirror(reflecting: arguments).children.map { Mirror(reflecting: $0.value).descendant("value") }
            guard !values.isEmpty, !values.contains(where: { $0 == nil }) else { return nil }
            let texts = values.compactMap { $0.map { "\(stable($0)): \(String(reflecting: type(of: $0)))" } }
            // Cases of equal arguments have numbers.
            let number = Mirror(reflecting: kind).descendant("discriminator") as? Int ?? 0
            return texts.joined(separator: ", ") + (number > 0 ? " #\(number)" : "")
        }

        /// A value's description without what differs from run to run: addresses, and the order of sets and dictionaries.
        static func stable(_ value: Any, depth: Int = 0) -> String {
            if let text = value as? any StringProtocol { return String(text) }
            let mirror = Mirror(reflecting: value)
            let parts = { mirror.children.map { ($0.label ?? "") + "=" + stable($0.value, depth: depth + 1) } }
            switch mirror.displayStyle {
            case .set?, .dictionary?: return "[\(parts().sorted().joined(separator: ", "))]"
            case .collection?, .tuple?, .optional?: return "[\(parts().joined(separator: ", "))]"
            case .struct? where !isDescribed(value) && depth < 8, .enum? where !isDescribed(value) && depth < 8:
                let name = mirror.displayStyle == .enum ? String(describing: value).prefix { $0 != "(" } : ""
                return "\(name)(\(parts().joined(separator: ", ")))"
            default:
                return String(describingForTest: value)
                    .replacingOccurrences(of: "0x[0-9a-fA-F]{9,}", with: "0x", options: .regularExpression)
            }
        }

        private static func isDescribed(_ value: Any) -> Bool {
            value is any CustomStringConvertible || value is any CustomTestStringConvertible
        }
    }
#endif
