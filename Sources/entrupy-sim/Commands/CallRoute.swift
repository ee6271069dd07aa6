import ArgumentParser
import Foundation
import NIOHTTP1
import SimulationAPI

/// `entrupy-sim api`: any request, for what has no command.
struct CallRoute: ControlAction {
    static let name = "api"
    static let abstract = "Send any request to the server, and print its answer."
    static let discussion = """
        api GET /_sim/due
        api PUT /_sim/namespaces/a -d '{"seed": "empty"}'
        api GET /v2/webhooks -H 'Authorization: Token demo-api-token'

        The path is below the namespace. An answer that is an error exits 1, or 64 if the request was wrong.
        """
    @Argument(help: "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.") var method: String
    @Argument(help: "The path on the server, with a query, for instance '/_sim/requests?status=4xx'.") var path: String
    @Option(name: [.customShort("d"), .long], help: "The body, as JSON.") var data: String?
    @Option(name: [.customShort("H"), .long], help: "A header, for instance 'Api-Version: 1.3'; may be repeated.")
    var header: [String] = []

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    func validate() throws {
        try require(
            Self.methods.contains(method.uppercased()),
            "METHOD must be one of \(Self.methods.joined(separator: ", ")), got \"\(method)\"")
        for text in header {
            let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            let isName = name.allSatisfy { $0 > 0x20 && $0 < 0x7f } && !name.isEmpty && name.count < text.utf8.count
            // A line break would begin another header.
            let isLine = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
            try require(isName && isLine, "--header must be 'Name: value', got '\(text)'")
        }
    }

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let body = try data.map { ControlCall.Body.json(try InputFile.json(Data($0.utf8), "--data")) }
        let headers = header.map { text in
            let parts = text.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), (parts.count > 1 ? String(parts[1]) : "").trimmingCharacters(in: .whitespaces))
        }
        let answer = try await client.send(
            ControlCall(
                HTTPMethod(rawValue: method.uppercased()), ControlPath(stringLiteral: try target(client.options)),
                headers: headers, body: body, takesLong: path.hasPrefix("/_sim/")))
        if terminal.isJSON { return terminal.json(answer.bytes) }
        guard !answer.bytes.isEmpty else { return terminal.note("\(answer.status), without a body") }
        terminal.document(answer.bytes)
        if answer.bytes.last == UInt8(ascii: "}") { terminal.document(Data("\n".utf8)) }
    }

    /// The path on the server.
    ///
    /// - Throws: ``Refusal`` if it leads elsewhere, or is not one.
    private func target(_ options: ControlOptions) throws -> String {
        func refusal(_ problem: String, _ next: String) -> Refusal { Refusal(.usage, "PATH \(problem)", next: next) }
        let odd = Set("\\#\"<>^`{|}".utf8)
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !odd.contains($0) }) else {
            throw refusal(
                "has characters that a URL cannot have: \(path)", "percent-encode them: %20 is a space, %2F a slash")
        }
        var text = path
        if text.hasPrefix(options.base + "/") { text.removeFirst(options.base.count) }
        guard text.hasPrefix("/"), !text.hasPrefix("//") else {
            throw refusal(
                "must be one of the server, which begins with /, got \(path)",
                "name another server with --url: entrupy-sim api \(method) /_sim/info --url http://127.0.0.1:8642")
        }
        let parts = text.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? "" }
        guard !parts.contains(where: { $0 == ".." || $0 == "." || $0.contains("/") && $0.contains("..") }) else {
            throw refusal("must not have . or .. as a part, got \(path)", "write the path that is meant")
        }
        guard options.named == "default" || parts.first != "ns" else {
            throw refusal(
                "names a namespace already, and \"\(options.named)\" is chosen too",
                "leave out /ns/\(parts.dropFirst().first ?? "")")
        }
        return text
    }
}
