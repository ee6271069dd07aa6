import ArgumentParser
import Foundation
import NIOHTTP1
import SimulationAPI

struct CallRoute: ControlAction {
    static let name = "api"
    static let abstract = "Send any request to the server, and print its answer."
    static let discussion = """
        api GET /_sim/due
        api PUT /_sim/namespaces/a '{"seed": "empty"}'
        api GET /v2/webhooks -H 'Authorization: Token demo-api-token'

        The path is below the namespace. An answer that is an error exits 1, or 64 if the request was wrong.
        """
    @Argument(help: "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.") var method: String
    @Argument(help: "The path on the server, with a query, for instance '/_sim/requests?status=4xx'.") var path: String
    @Argument(help: "The body, as JSON. (default: none)") var body: String?
    @Option(name: [.customShort("d"), .long], help: "The body too, as in curl: @FILE reads a file.") var data: String?
    @Option(name: [.customShort("H"), .long], help: "A header, for instance 'Api-Version: 1.3'; may be repeated.")
    var header: [String] = []

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// Headers that the HTTP client sets, or that belong to an option.
    private static let ownHeaders = ["host", "content-length", "transfer-encoding", "connection", "content-type"]

    func validate() throws {
        try require(
            Self.methods.contains(method.uppercased()),
            "METHOD must be one of \(Self.methods.joined(separator: ", ")), got \"\(method)\"")
        try require(body == nil || data == nil, "give the body once: behind the path, or with --data")
        for text in header {
            // A name as RFC 9110 has it. A line break would begin another header.
            let header = #/([A-Za-z0-9!#$%&'*+.^_`|~-]+):[^\x00-\x1f\x7f]*/#.matchingSemantics(.unicodeScalar)
            guard let name = text.wholeMatch(of: header)?.1.lowercased() else {
                throw ValidationError("--header must be 'Name: value', got '\(text)'")
            }
            try require(!Self.ownHeaders.contains(name), "--header cannot be \(name), which follows from the request")
        }
    }

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let body = try (body ?? data).map { text in
            let isFile = data != nil && text.hasPrefix("@")
            let bytes = isFile ? try InputFile.bytes(String(text.dropFirst())) : Data(text.utf8)
            return ControlCall.Body.json(try InputFile.json(bytes, data == nil ? "BODY" : "--data"))
        }
        let target = try target(client.options)
        var call = ControlCall(
            HTTPMethod(rawValue: method.uppercased()), ControlPath(stringLiteral: target),
            headers: HeaderOption.pairs(header), body: body, takesLong: target.hasPrefix("/_sim/"))
        call.mayFailOtherwise = true
        let answer = try await client.send(call)
        if terminal.isJSON {
            // A failure is the answer to the question.
            let isJSON = (try? WireJSON.decode(JSONValue.self, from: answer.bytes)) != nil
            return isJSON || answer.bytes.isEmpty
                ? terminal.json(answer.bytes)
                : try terminal.json(of: JSONValue.string(String(decoding: answer.bytes, as: UTF8.self)))
        }
        guard !answer.bytes.isEmpty else { return terminal.note("\(answer.status), without a body") }
        terminal.document(answer.bytes)
        // JSON has no line break at its end.
        if answer.bytes.last == UInt8(ascii: "}") { terminal.document(Data("\n".utf8)) }
    }

    /// The path on the server, below the namespace.
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
                "write for instance /_sim/info; --url names another server")
        }
        // Some servers and proxies read an escaped slash as a slash.
        let parts = text.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? "" }
        let isDotted = parts.contains { $0.split(separator: "/").contains { $0 == "." || $0 == ".." } }
        guard !isDotted else {
            throw refusal("must not have . or .. as a part, got \(path)", "write the path that is meant")
        }
        guard options.named != "default", parts.first == "ns" else { return text }
        let own = "/ns/\(options.named)/"
        guard text.hasPrefix(own) else {
            throw refusal(
                "names a namespace, and \"\(options.named)\" is chosen too, by --namespace, --url or the environment",
                "leave out one of the two")
        }
        return String(text.dropFirst(own.count - 1))
    }
}
