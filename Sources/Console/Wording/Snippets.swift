import Foundation
import SimulationAPI

/// An exchange as text to paste: a command line, code, a step of a scenario, a check.
struct Snippets {
    private let request: JournaledRequest
    private let url: String?
    private let path: String
    private let headers: [(name: String, value: String)]

    /// Headers that the sender adds by itself.
    private static let ofTransport: Set = [
        "content-length", "connection", "host", "accept-encoding", "transfer-encoding", "expect", "x-request-id",
    ]

    /// - Parameter url: the address of the namespace; `nil` if readers set it as the variable `URL`.
    init(_ request: JournaledRequest, url: String?) {
        self.request = request
        let path = request.path + (request.query.map { "?\($0)" } ?? "")
        self.path = path
        self.url = url.map { $0 + path }
        headers = (request.request?.headers ?? []).filter {
            $0.count == 2 && !Self.ofTransport.contains($0[0].lowercased())
        }.map { (name: $0[0], value: $0[1]) }
    }

    private var body: String? { request.request?.body.flatMap { $0.isEmpty ? nil : $0 } }

    /// A masked token is written as the variable that a reader sets.
    private static func shellValue(_ header: (name: String, value: String)) -> String {
        // Only the variable is outside of single quotes, where a shell would read the client's text.
        "\(header.name): \(header.value)".components(separatedBy: "***").map { $0.isEmpty ? "" : Shell.quoted($0) }
            .joined(separator: "\"$TOKEN\"")
    }

    var curl: String {
        var lines = ["curl -X \(request.method) \(url.map(Shell.quoted) ?? "\"$URL\"" + Shell.quoted(path))"]
        lines += headers.map { "  -H \(Self.shellValue($0))" }
        if let body { lines.append("  --data-raw \(Shell.quoted(body))") }
        return lines.joined(separator: " \\\n")
    }

    var swift: String {
        var lines = [
            "var request = URLRequest(url: URL(string: \(Self.swiftString(url ?? path)))!)",
            "request.httpMethod = \(Self.swiftString(request.method))",
        ]
        lines += headers.map { header in
            let value = header.value.components(separatedBy: "***").map { Self.swiftContent($0) }
                .joined(separator: "\\(token)")
            return "request.setValue(\"\(value)\", forHTTPHeaderField: \(Self.swiftString(header.name)))"
        }
        if let body { lines.append("request.httpBody = Data(\(Self.swiftString(body)).utf8)") }
        lines.append("let (data, response) = try await URLSession.shared.data(for: request)")
        return lines.joined(separator: "\n")
    }

    private static func swiftString(_ text: String) -> String { "\"\(swiftContent(text))\"" }

    private static func swiftContent(_ text: String) -> String {
        var content = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": content += "\\\\"
            case "\"": content += "\\\""
            case "\n": content += "\\n"
            case "\r": content += "\\r"
            case "\t": content += "\\t"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7f {
                    content += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    content.unicodeScalars.append(scalar)
                }
            }
        }
        return content
    }

    /// An expectation of a scenario.
    var scenarioStep: String {
        "expect:\n  - {route: \(Self.yaml(request.path)), method: \(request.method), status: \(request.status), times: 1}"
    }

    /// A quoted text of YAML, which is that of JSON.
    private static func yaml(_ text: String) -> String { PrettyJSON.line(.string(text)) }

    /// The command that checks that the request was made.
    var verify: String {
        "entrupy-sim requests verify --route \(Shell.quoted(request.path)) --method \(request.method) --status \(request.status) --times 1"
    }

    /// The headers as they can be edited: those with a masked token are left out, since the request keeps its own.
    var editableHeaders: String {
        let kept = headers.filter { !$0.value.contains("***") }
        return PrettyJSON.text(
            .object(JSONObject(kept.map { ($0.name, JSONValue.string($0.value)) })))
    }
}

/// Writes words of a shell's command line.
enum Shell {
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || "-_./:@%+=,".utf8.contains(byte)
            }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
