import Foundation
import HTTPSTestSupport
import NIOSSL
import SimulationAPI
import TestSupport
import Testing

/// The same for requests over HTTP/2.
@Suite(.serialized) struct LinearStreamTests {
    private static let server = Task {
        try await SimProcess(["--in-memory", "--ready-json", "--rate-limits", "off", "--tls-port", "0"])
    }

    private func isLinear(
        _ what: String, from length: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ send: (Int) async throws -> Void
    ) async throws {
        try await LinearRequestTests.isLinear(
            what, from: length, on: try await Self.server.value, sourceLocation: sourceLocation, send)
    }

    /// The HTTPS port, and the authority that signs its certificate.
    private struct Secure {
        let port: Int
        let roots: NIOSSLTrustRoots

        /// Makes a request on a connection of its own. Returns the status; `nil` if the server resets the stream.
        func send(
            _ method: String, _ path: String, _ fields: [(String, String)] = [], body: [UInt8] = [],
            frameBytes: Int = 16_384
        ) async throws -> Int? {
            let connection = try await HTTP2Connection.open(port: port, trusting: roots)
            let stream = try await connection.begin(method, path, fields, body: body, frameBytes: frameBytes)
            let answer = try await connection.answer(stream)
            try await connection.close()
            return answer.status
        }
    }

    private func secure() async throws -> Secure {
        let server = try await Self.server.value
        let ready = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
        let port = try #require(ready["tls_url"].text?.split(separator: ":").last.flatMap { Int($0) })
        let pem = try await TestWorld(base: server.baseURL).send("GET", "/_sim/authority.pem").body
        return Secure(port: port, roots: .certificates([try NIOSSLCertificate(bytes: Array(pem), format: .pem)]))
    }

    /// HTTP/2 has neither of these two, and another name for the host.
    static let fieldsOfHTTP2 =
        LinearRequestTests.fields.filter { !["Connection", "Transfer-Encoding"].contains($0) } + [":authority"]

    @Test(arguments: fieldsOfHTTP2) func marksInHeadersOverHTTP2(field: String) async throws {
        let secure = try await secure()
        for path in ["/sdk/session", "/_sim/events", "/v1/health"] {
            try await isLinear("\(field) at \(path)", from: 6000) { length in
                let method = path == "/_sim/events" ? "PUT" : "GET"
                let status = try await secure.send(
                    method, path, [(field.lowercased(), LinearRequestTests.marks(length))])
                #expect((400..<500).contains(status ?? 0), "\(String(describing: status))")
            }
        }
    }

    /// Fields that are short, long, equal, different, and more than are read.
    @Test(arguments: ["short", "long", "equal", "cookies", "too many"])
    func manyHeadersOverHTTP2(shape: String) async throws {
        let secure = try await secure()
        for path in ["/sdk/session", "/_sim/console/nowhere"] {
            // Each field counts for 32 bytes more than it has, and all together for at most 65,536.
            try await isLinear("\(shape) at \(path)", from: shape == "too many" ? 150 : 18) { count in
                let fields = (0..<count).map { number in
                    switch shape {
                    case "long": ("x-\(number)", LinearRequestTests.marks(280))
                    case "equal": ("accept-language", "*;q=0," + LinearRequestTests.marks(240))
                    case "cookies": ("cookie", "a\(number)=" + LinearRequestTests.marks(240))
                    default: ("x-\(number)", "y")
                    }
                }
                let status = try await secure.send("GET", path, fields)
                #expect(
                    count > 200 ? status == 400 : (400..<500).contains(status ?? 0),
                    "\(String(describing: status))")
            }
        }
    }

    @Test(arguments: ["a=b; ", "a=", "; ", "sim_console_read_only=1;"])
    func manyPartsInACookieOverHTTP2(part: String) async throws {
        let secure = try await secure()
        for path in ["/sdk/session", "/_sim/console/nowhere"] {
            try await isLinear("\(part) at \(path)", from: 6000) { length in
                let value = "x" + String(repeating: part, count: length / part.utf8.count) + "y"
                let status = try await secure.send("GET", path, [("cookie", value)])
                #expect((400..<500).contains(status ?? 0), "\(String(describing: status))")
            }
        }
    }

    /// In the path and in the query.
    @Test(arguments: LinearRequestTests.targets.filter { !$0.hasPrefix("http:") })
    func marksInTargetsOverHTTP2(shape: String) async throws {
        let secure = try await secure()
        for isEncoded in [false, true] {
            try await isLinear("\(shape) \(isEncoded)", from: 4000) { length in
                // All fields together have at most 65,536 bytes.
                let target = LinearRequestTests.target(shape, length / shape.count { $0 == "X" }, isEncoded: isEncoded)
                let isPage = shape.hasPrefix("/_sim/console")
                let status = try await secure.send(isPage ? "GET" : "DELETE", target) ?? 0
                #expect((400..<500).contains(status) || isPage && (200..<300).contains(status), "\(status)")
            }
        }
    }

    /// Bodies in frames of any size.
    @Test(arguments: [16_384, 100, 1]) func marksInBodiesOverHTTP2(frameBytes: Int) async throws {
        let secure = try await secure()
        for (method, path) in [("POST", "/sdk/login"), ("PATCH", "/_sim/settings"), ("PUT", "/_sim/scenarios/x")] {
            try await isLinear("\(method) \(path)", from: frameBytes == 1 ? 2000 : 6000) { length in
                let text = LinearRequestTests.marks(length / 2)
                let body = try WireJSON.encode(JSONValue.object([text: .string(text)]))
                let status = try await secure.send(
                    method, path, [("content-type", "application/json")], body: Array(body), frameBytes: frameBytes)
                #expect((400..<500).contains(status ?? 0), "\(String(describing: status))")
            }
        }
    }
}
