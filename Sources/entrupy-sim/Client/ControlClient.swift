import AsyncHTTPClient
import Console
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SimulationAPI

/// A client of the control API.
struct ControlClient: Sendable {
    let options: ControlOptions

    /// The process's one HTTP client. It does not retry a refused connection.
    private static let shared: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)))
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }()

    /// A successful answer of the server.
    struct Answer: Sendable {
        let status: Int
        let bytes: Data

        /// The body as one of the wire's types.
        func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            do {
                return try WireJSON.decode(type, from: bytes)
            } catch {
                throw Refusal(
                    .internalError, "the server's answer is not understood: \(error)",
                    next: "check its version with entrupy-sim doctor; this program needs \(Release.version)")
            }
        }
    }

    /// Sends a request with an optional JSON body to the namespace.
    ///
    /// - Throws: ``Refusal`` if there is no server, or if it answers with an error.
    @discardableResult func send(
        _ method: String, _ path: String, query: [(String, String?)] = [], _ body: JSONValue? = nil
    ) async throws -> Answer {
        try await send(
            method, path, query: query, bytes: try body.map { try WireJSON.encode($0) }, type: "application/json")
    }

    /// Sends a request with a body of any media type to the namespace.
    ///
    /// - Throws: ``Refusal`` if there is no server, or if it answers with an error.
    @discardableResult func send(
        _ method: String, _ path: String, query: [(String, String?)] = [], bytes: Data?, type: String
    ) async throws -> Answer {
        var request = request(method, path, query)
        if let bytes {
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(bytes: bytes))
        }
        let response = try await execute(request)
        let body = try await reading { try await response.body.collect(upTo: 1 << 30) }
        let answer = Answer(status: Int(response.status.code), bytes: Data(body.readableBytesView))
        guard (200..<300).contains(answer.status) else { throw refusal(answer) }
        return answer
    }

    /// Writes the server's answer to a file; `-` is standard output. If the download fails, no file is written.
    ///
    /// - Returns: the number of bytes.
    func download(_ path: String, to file: String) async throws -> Int {
        let response = try await execute(request("GET", path, []))
        guard response.status == .ok else {
            let bytes = try await reading { try await response.body.collect(upTo: 1 << 20) }
            throw refusal(Answer(status: Int(response.status.code), bytes: Data(bytes.readableBytesView)))
        }
        var count = 0
        var parts = response.body.makeAsyncIterator()
        guard file != "-" else {
            while let part = try await reading({ try await parts.next() }) {
                count += part.readableBytes
                Terminal.write(Data(part.readableBytesView))
            }
            return count
        }
        let fresh = "\(file).part"
        func cannotWrite(_ error: String) -> Refusal {
            Refusal(.usage, "\(file) cannot be written: \(error)", next: "name another place with --output")
        }
        // Only the owner may read it: the database holds tokens.
        guard FileManager.default.createFile(atPath: fresh, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: fresh)
        else { throw cannotWrite(String(cString: strerror(errno))) }
        defer { unlink(fresh) }
        while let part = try await reading({ try await parts.next() }) {
            count += part.readableBytes
            do {
                try handle.write(contentsOf: part.readableBytesView)
            } catch {
                throw cannotWrite(error.localizedDescription)
            }
        }
        try? handle.close()
        guard rename(fresh, file) == 0 else { throw cannotWrite(String(cString: strerror(errno))) }
        return count
    }

    /// Sends a file as the body, unchanged.
    func upload(_ method: String, _ path: String, file: String, type: String) async throws -> Answer {
        // The size comes from the handle: by path, a link would give its own size.
        guard let handle = FileHandle(forReadingAtPath: file), let size = try? handle.seekToEnd(),
            (try? handle.seek(toOffset: 0)) != nil
        else { throw Refusal(.usage, "\(file) cannot be read", next: "name a file that entrupy-sim exported") }
        defer { try? handle.close() }
        var request = request(method, path, [])
        request.headers.add(name: "Content-Type", value: type)
        request.body = .stream(FileParts(handle: handle), length: .known(Int64(size)))
        let response = try await execute(request)
        let body = try await reading { try await response.body.collect(upTo: 1 << 20) }
        let answer = Answer(status: Int(response.status.code), bytes: Data(body.readableBytesView))
        guard (200..<300).contains(answer.status) else { throw refusal(answer) }
        return answer
    }

    /// A file's bytes in pieces of at most 256 KiB.
    private struct FileParts: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let handle: FileHandle

        func next() async throws -> ByteBuffer? {
            guard let bytes = try handle.read(upToCount: 262_144), !bytes.isEmpty else { return nil }
            return ByteBuffer(bytes: bytes)
        }

        func makeAsyncIterator() -> FileParts { self }
    }

    /// Reads server-sent events and calls `body` with each event's name and data, until it returns false or the stream ends.
    func listen(_ query: [(String, String?)], _ body: (String, Data) async throws -> Bool) async throws {
        let response = try await execute(request("GET", "/_sim/events", query))
        guard response.status == .ok else {
            let bytes = try await reading { try await response.body.collect(upTo: 1 << 20) }
            throw refusal(Answer(status: Int(response.status.code), bytes: Data(bytes.readableBytesView)))
        }
        var rest = Data()
        var parts = response.body.makeAsyncIterator()
        while let part = try await reading({ try await parts.next() }) {
            rest.append(contentsOf: part.readableBytesView)
            while let end = rest.range(of: Data("\n\n".utf8)) {
                let (name, data) = Self.event(rest[..<end.lowerBound])
                rest = Data(rest[end.upperBound...])
                if !name.isEmpty, try await !body(name, data) { return }
            }
        }
    }

    private static func event(_ text: Data) -> (name: String, data: Data) {
        var (name, data) = ("", Data())
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("event: ") { name = String(line.dropFirst("event: ".count)) }
            if line.hasPrefix("data: ") { data = Data(line.dropFirst("data: ".count).utf8) }
        }
        return (name, data)
    }

    private func request(_ method: String, _ path: String, _ query: [(String, String?)]) -> HTTPClientRequest {
        let given = query.compactMap { name, value in value.map { "\(name)=\(Self.escaped($0))" } }
        let place = options.named == "default" ? "" : "/ns/\(options.named)"
        var request = HTTPClientRequest(
            url: options.base + place + path + (given.isEmpty ? "" : "?" + given.joined(separator: "&")))
        request.method = HTTPMethod(rawValue: method)
        request.headers.add(name: "User-Agent", value: "entrupy-sim/\(Release.version)")
        if let token = options.token { request.headers.add(name: "X-Sim-Control-Token", value: token) }
        return request
    }

    /// Percent-encodes one part of a path or a query.
    static func escaped(_ text: String) -> String {
        URLPart.escaped(text)
    }

    private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let timeout = TimeAmount.milliseconds(Int64(options.timeout * 1000))
        return try await reading { try await Self.shared.execute(request, timeout: timeout) }
    }

    /// Turns connection errors of `body` into a ``Refusal`` that says what to do.
    private func reading<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            throw Refusal(
                .noServer, "\(options.base) did not answer within \(options.timeout) s",
                next: "wait longer with --timeout, or check the server: entrupy-sim doctor")
        } catch is CancellationError {
            throw CancellationError()
        } catch is NIOSSLError {
            throw Refusal(
                .noServer, "the certificate of \(options.base) is not trusted here, or the port does not speak HTTPS",
                next: "use the server's plain address, or run entrupy-sim trust and name the server localhost")
        } catch {
            throw Refusal(
                .noServer, "no server answers at \(options.base)",
                next: "start one with \"entrupy-sim serve\", or name another with --url or ENTRUPY_SIM_URL")
        }
    }

    private func refusal(_ answer: Answer) -> Refusal {
        guard let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: answer.bytes) else {
            return Refusal(
                .noServer, "\(options.base) answers \(answer.status), but it is not an entrupy-sim",
                next: "name the server with --url or ENTRUPY_SIM_URL")
        }
        let isUnknownNamespace = envelope.code == "unknown_namespace"
        // The server's text ends with the HTTP request that makes one; `next` names the command instead.
        let message = isUnknownNamespace ? String(envelope.error.prefix { $0 != ";" }) : envelope.error
        let code: Refusal.Code =
            switch answer.status {
            case 400, 413, 415, 422: .usage
            case 500: .internalError
            default: .no
            }
        var refusal = Refusal(code, message, answer: answer.bytes)
        refusal.details = envelope.details.map { ($0.field, $0.problem) }
        refusal.next =
            switch answer.status {
            case 401:
                "give the server's control token with --control-token or ENTRUPY_SIM_CONTROL_TOKEN; the server prints it if it made one"
            case 404 where isUnknownNamespace:
                "make it with \"entrupy-sim namespace make \(Shell.operand(options.named))\", or see which there are: entrupy-sim namespace list"
            case 503: "try again in a moment"
            default: nil
            }
        return refusal
    }
}
