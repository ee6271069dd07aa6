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
    static let all = read(String(decoding: Description.bytes, as: UTF8.self))

    /// Reads the paths of a description that is indented as ours is: paths by 2 blanks, methods by 4, `responses` by 6 and statuses
    /// by 8.
    static func read(_ text: String) -> [Operation] {
        var operations: [Operation] = []
        var anchors: [Substring: [Int]] = [:]
        var (isInPaths, path, isInResponses) = (false, "", false)
        var anchor: Substring?
        for line in text.split(separator: "\n") {
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            if indent == 0, line.first != "#" {
                isInPaths = line == "paths:"
                continue
            }
            guard isInPaths, !operations.isEmpty || indent <= 4 else { continue }
            let words = line.dropFirst(indent)
            switch indent {
            case 2 where words.first == "/":
                path = String(words.prefix { $0 != ":" })
                isInResponses = false
            case 4:
                isInResponses = false
                guard let method = methods[words.prefix { $0 != " " }] else { continue }
                operations.append(Operation(method: method, path: path))
            case 6:
                isInResponses = words.hasPrefix("responses:")
                guard isInResponses else { continue }
                let value = words.dropFirst("responses:".count).drop { $0 == " " }
                anchor = value.first == "&" ? value.dropFirst() : nil
                if value.first == "*" { operations[operations.count - 1].statuses = anchors[value.dropFirst()] ?? [] }
            case 8 where isInResponses && words.first == "'":
                guard let status = Int(words.dropFirst().prefix { $0 != "'" }) else { continue }
                operations[operations.count - 1].statuses.append(status)
                if let anchor { anchors[anchor, default: []].append(status) }
            default: break
            }
        }
        return operations.filter { !Target($0.path).isSimulators && $0.path != "/" }
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
