import Foundation

/// The documented answers of the platforms' routes, read from the description.
///
/// The lines of the file are read, and not its YAML: parsing that takes a good part of a second, and every server needs the
/// answers. A test compares both.
enum DescribedAnswers {
    struct Operation: Equatable, Sendable {
        let method: String
        /// With `{name}` for its parameters.
        let path: String
        var statuses: [Int] = []
    }

    /// The operations of the platforms, in the order of the file.
    static let all = read(Description.bytes)

    /// Reads the paths of a description that is indented as ours is: paths by 2 blanks, methods by 4, `responses` by 6 and statuses
    /// by 8. Lines that are deeper, which are most, cost a look at their beginning.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> [Operation] {
        var reader = AnswerLineReader()
        guard var line = bytes.baseAddress else { return [] }
        let end = line + bytes.count
        while line < end {
            let found = memchr(line, 0x0a, end - line)?.assumingMemoryBound(to: UInt8.self)
            let next = found.map { UnsafePointer($0) } ?? end
            // Nine blanks, or a line of fewer bytes.
            if next - line < 9 || memcmp(line, "         ", 9) != 0 {
                let words = UnsafeBufferPointer(start: line, count: next - line)
                let indent = words.prefix { $0 == UInt8(ascii: " ") }.count
                if indent < words.count {
                    reader.read(Substring(decoding: words[indent...], as: UTF8.self), indent: indent)
                }
            }
            line = next + 1
        }
        return reader.operations.filter { !Target($0.path).isSimulators && $0.path != "/" }
    }
}

/// Reads the lines of the description one by one.
private struct AnswerLineReader {
    private(set) var operations: [DescribedAnswers.Operation] = []
    private var anchors: [Substring: [Int]] = [:]
    private var (isInPaths, path, isInResponses) = (false, "", false)
    private var anchor: Substring?

    mutating func read(_ words: Substring, indent: Int) {
        if indent == 0 {
            if !words.hasPrefix("#") { isInPaths = words == "paths:" }
            return
        }
        guard isInPaths, !operations.isEmpty || indent <= 4 else { return }
        switch indent {
        case 2 where words.hasPrefix("/"):
            path = String(words.prefix { $0 != ":" })
            isInResponses = false
        case 4:
            isInResponses = false
            guard let method = Self.methods[words.prefix { $0 != " " }] else { return }
            operations.append(DescribedAnswers.Operation(method: method, path: path))
        case 6:
            isInResponses = words.hasPrefix("responses:")
            guard isInResponses else { return }
            let value = words.dropFirst("responses:".count).drop { $0 == " " }
            anchor = value.first == "&" ? value.dropFirst() : nil
            if value.first == "*" { operations[operations.count - 1].statuses = anchors[value.dropFirst()] ?? [] }
        case 8 where isInResponses && words.hasPrefix("'"):
            guard let status = Int(words.dropFirst().prefix { $0 != "'" }) else { return }
            operations[operations.count - 1].statuses.append(status)
            if let anchor { anchors[anchor, default: []].append(status) }
        default: break
        }
    }

    private static let methods: [Substring: String] = [
        "get:": "GET", "post:": "POST", "put:": "PUT", "patch:": "PATCH", "delete:": "DELETE",
    ]
}

struct AnswerEdges: Sendable {
    let edges: [(status: Int, edge: Int)]

    /// The number of the edge of a status; `nil` if the status is not documented.
    subscript(status: Int) -> Int? { edges.first { $0.status == status }?.edge }
}
