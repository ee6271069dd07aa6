import Console
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Outgoing
import SimulationAPI

/// A client of the control API. It does not trust the server: answers are bounded, silence ends them, and redirects are not
/// followed.
struct ControlClient: Sendable {
    let options: ControlOptions
    var limits = Limits()
    /// Where the progress of long operations is shown; `nil` if nowhere.
    var terminal: Terminal?

    /// The most that a server may take of this program's time and memory.
    struct Limits: Sendable {
        /// The longest time without a byte. Event streams have a heartbeat every 15 s.
        var silence = Duration.seconds(30)
        /// The longest time until the answer to a long operation begins. `settle` alone waits up to 10 minutes.
        var work = Duration.seconds(900)
        /// The maximum size of an answer that is held in memory, and of a server-sent event, in bytes.
        var bytes = 64_000_000
    }

    /// The beginning of the message of an answer that a fault rule made.
    private static let ofFault = "answered by the fault rule "
    private static let otherServer = "name the server with --url or ENTRUPY_SIM_URL"

    /// A successful answer of the server.
    struct Answer: Sendable {
        let status: Int
        let bytes: Data

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

    /// Sends a request to the namespace.
    ///
    /// - Throws: ``Refusal`` if there is no server, or if it answers with an error.
    @discardableResult func send(_ call: ControlCall) async throws -> Answer {
        try await exchange(call) { Answer(status: $0.status, bytes: try await collect($0, $1)) }
    }

    /// A client of another namespace of the same server.
    func of(_ namespace: String) -> ControlClient {
        var options = options
        options.namespace = namespace
        return ControlClient(options: options, limits: limits)
    }

    func get<Value: Decodable>(
        _ path: ControlPath, _ query: [(String, String?)] = [], takesLong: Bool = false
    ) async throws -> Value {
        try await send(ControlCall(.GET, path, query, takesLong: takesLong)).decoded()
    }

    func post<Value: Decodable>(
        _ path: ControlPath, headers: [(String, String)] = [], body: ControlCall.Body, takesLong: Bool = false
    ) async throws -> Value {
        try await send(ControlCall(.POST, path, headers: headers, body: body, takesLong: takesLong)).decoded()
    }

    /// Hands the parts of the answer to `write` as they come.
    ///
    /// - Parameter maxBytes: the size from which the answer is refused.
    func download(
        _ call: ControlCall, maxBytes: Int, to write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await exchange(call) { response, watch in
            var count = 0
            let length = response.headers.first(name: "Content-Length").flatMap { Int($0) }
            try await read(response, watch) { part in
                count += part.readableBytes
                watch.progress?.note(count, of: length)
                guard count <= maxBytes else {
                    throw Refusal(
                        .no, "the download is larger than \(SizeText.text(maxBytes)), the limit of --max-bytes",
                        next: "raise it with --max-bytes if the server is right")
                }
                try write(Data(part.readableBytesView))
                return true
            }
        }
    }

    /// Reads server-sent events and calls `body` with each event's name and data, until it returns false.
    ///
    /// - Throws: ``Refusal`` if the stream ends before that, or the namespace is deleted.
    func listen(
        _ query: [(String, String?)], _ body: @escaping @Sendable (String, Data) async throws -> Bool
    ) async throws {
        let isDone = try await exchange(ControlCall(.GET, "/_sim/events", query)) { response, watch in
            var events = EventReader(maxBytes: limits.bytes)
            // The stream's limit is that of its heartbeats, not of `--timeout`, which is for answers.
            return try await !read(response, watch, idle: limits.silence) { part in
                do {
                    for (name, data) in try events.events(in: part.readableBytesView) {
                        if name == "world.deleted" {
                            throw Refusal(.no, "the namespace \(options.named) was deleted")
                        }
                        guard try await body(name, data) else { return false }
                    }
                } catch is EventReader.TooLong {
                    throw tooLong("an event")
                }
                return true
            }
        }
        guard isDone else {
            throw Refusal(
                .noServer, "the server at \(options.base) stopped",
                next: "start it again with \"entrupy-sim serve\", then repeat this command")
        }
    }

    // MARK: Bounds

    /// Sends a request and reads its answer, in a task that ends when the server is silent for too long.
    ///
    /// - Parameter read: reads the body of a successful answer.
    private func exchange<Value: Sendable>(
        _ call: ControlCall, reading read: @escaping @Sendable (OutgoingAnswer, AnswerWatch) async throws -> Value
    ) async throws -> Value {
        guard let terminal, let doing = call.doing else { return try await exchange(call, nil, reading: read) }
        return try await ProgressLine.showing(terminal, doing, of: call.body?.fileSize, in: .bytes) {
            try await exchange(call, $0, reading: read)
        }
    }

    private func exchange<Value: Sendable>(
        _ call: ControlCall, _ progress: ProgressLine?,
        reading read: @escaping @Sendable (OutgoingAnswer, AnswerWatch) async throws -> Value
    ) async throws -> Value {
        let (takesLong, mayFailOtherwise, path) = (call.takesLong, call.mayFailOtherwise, call.path.text)
        let head = timeout ?? (takesLong ? limits.work : limits.silence)
        let watch = AnswerWatch(progress: progress)
        // The time until the answer counts from the last part of a file that the server took.
        let request = try request(call) { count in
            progress?.add(count)
            watch.extend(by: head)
        }
        do {
            return try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask {
                    try await send(request, watch, head, read) { refusal($0, $1, path, mayFailOtherwise) }
                }
                group.addTask { try await watch.expire(lookingEvery: min(head, limits.silence)) }
                if takesLong {
                    group.addTask {
                        try await proveLife(watch)
                        return nil
                    }
                }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                throw CancellationError()
            }
        } catch let silence as AnswerWatch.Silence {
            throw silent(silence)
        }
    }

    private func send<Value: Sendable>(
        _ request: OutgoingRequest, _ watch: AnswerWatch, _ time: Duration,
        _ read: @Sendable (OutgoingAnswer, AnswerWatch) async throws -> Value,
        refusal: @Sendable (_ status: Int, _ answer: Data) -> Refusal
    ) async throws -> Value {
        watch.extend(by: time)
        do {
            return try await OutgoingClient().exchange(request) { response in
                watch.beginBody()
                try refuseRedirect(response)
                guard (200..<300).contains(response.status) else {
                    throw refusal(response.status, try await collect(response, watch))
                }
                return try await read(response, watch)
            }
        } catch {
            // The server was reached: an answer that has begun has errors of its own.
            if watch.isInBody { throw error }
            try Task.checkCancellation()
            throw unreachable(error)
        }
    }

    /// Returns when the answer has begun.
    ///
    /// - Throws: ``AnswerWatch/Silence`` if the server does not answer `/_sim/ping` before that: it does not work, it hangs.
    private func proveLife(_ watch: AnswerWatch) async throws {
        let half = limits.silence / 2
        while true {
            try await Task.sleep(for: half)
            guard !watch.isInBody else { return }
            do {
                let ping = try OutgoingRequest(.GET, options.base + "/_sim/ping")
                _ = try await OutgoingClient().exchange(ping, deadline: .now() + TimeAmount(half)) { $0.status }
            } catch {
                try Task.checkCancellation()
                guard !watch.isInBody else { return }
                throw AnswerWatch.Silence(limit: limits.silence, isInBody: false)
            }
        }
    }

    /// - Throws: ``Refusal`` if it is larger than the maximum.
    private func collect(_ response: OutgoingAnswer, _ watch: AnswerWatch) async throws -> Data {
        var bytes = Data()
        try await read(response, watch) { part in
            guard bytes.count + part.readableBytes <= limits.bytes else { throw tooLong("the answer") }
            bytes.append(contentsOf: part.readableBytesView)
            return true
        }
        return bytes
    }

    private var timeout: Duration? { options.timeout?.duration }

    /// Hands the body's parts to `take` until it returns false.
    ///
    /// - Parameter idle: the longest time without a byte; `nil` for the usual one.
    /// - Returns: whether the whole body was read.
    @discardableResult private func read(
        _ response: OutgoingAnswer, _ watch: AnswerWatch, idle: Duration? = nil,
        _ take: (ByteBuffer) async throws -> Bool
    ) async throws -> Bool {
        let idle = idle ?? min(limits.silence, timeout ?? limits.silence)
        let parts = response.body.makeAsyncIterator()
        func next() async throws -> ByteBuffer? {
            do {
                return try await parts.next()
            } catch {
                try Task.checkCancellation()
                throw Refusal(
                    .noServer, "the connection to \(options.base) was lost before its answer was complete",
                    next: "try again, or check the server: \(options.command("doctor"))")
            }
        }
        while let part = try await watch.waiting(idle, next) {
            guard try await take(part) else { return false }
        }
        return true
    }

    /// The control token is for this server alone, so a redirect is an error.
    private func refuseRedirect(_ response: OutgoingAnswer) throws {
        guard (300..<400).contains(response.status), let place = response.headers.first(name: "Location") else {
            return
        }
        throw Refusal(
            .noServer, "\(options.base) redirects to \(place), and redirects are not followed",
            next: "name the server itself with --url or ENTRUPY_SIM_URL")
    }

    private func tooLong(_ thing: String) -> Refusal {
        Refusal(
            .no, "\(thing) of \(options.base) is larger than \(SizeText.text(limits.bytes))",
            next: "ask for less, for instance with --limit, or check which server that is")
    }

    private func silent(_ silence: AnswerWatch.Silence) -> Refusal {
        let time = DurationText.text(seconds: silence.limit / .seconds(1))
        return Refusal(
            .noServer,
            silence.isInBody
                ? "\(options.base) sent nothing for \(time), and its answer is not complete"
                : "\(options.base) did not answer within \(time)",
            next: "wait longer with --timeout, or check the server: \(options.command("doctor"))")
    }

    /// - Parameter taken: is called before each part of a file that is sent, with the size of the one before.
    private func request(_ call: ControlCall, taken: @escaping @Sendable (Int) -> Void) throws -> OutgoingRequest {
        let given = call.query.compactMap { name, value in value.map { "\(name)=\(URLPart.escaped($0))" } }
        let place = options.named == "default" ? "" : "/ns/\(options.named)"
        var request = try OutgoingRequest(
            call.method,
            options.base + place + call.path.text + (given.isEmpty ? "" : "?" + given.joined(separator: "&")))
        request.headers.add(name: "User-Agent", value: "entrupy-sim/\(Release.version)")
        if let token = options.token { request.headers.add(name: "X-Sim-Control-Token", value: token) }
        for (name, value) in call.headers { request.headers.add(name: name, value: value) }
        if let (type, body) = try call.body?.sent(taken) {
            request.headers.add(name: "Content-Type", value: type)
            request.body = body
        }
        return request
    }

    private func unreachable(_ error: any Error) -> Refusal {
        switch error {
        case is HTTPParserError:
            Refusal(.noServer, "what listens at \(options.base) does not answer in HTTP", next: Self.otherServer)
        case OutgoingError.closedBeforeAnswer, OutgoingError.closedInAnswer:
            Refusal(
                .noServer, "the connection to \(options.base) was closed before an answer came",
                next:
                    "a fault may do that (\(options.command("fault list"))); else check the server: \(options.command("doctor"))"
            )
        case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode):
            unreachable(OutgoingError.closedBeforeAnswer)
        // The file that is sent cannot be read.
        case let refusal as Refusal: refusal
        case OutgoingError.wrongBodyLength:
            Refusal(.usage, "the file changed while it was sent", next: "repeat the command when the file is complete")
        case OutgoingError.withoutEncryption: Encryption.missing(options.base)
        case OutgoingError.badURL:
            Refusal(.usage, "\(options.base) cannot be read as a URL", next: Self.otherServer)
        default:
            Self.encryptionProblem(error).map {
                Refusal(
                    .noServer, "no connection over TLS to \(options.base): \($0)",
                    next: "use the server's plain address, or run entrupy-sim trust and name the server localhost")
            }
                ?? Refusal(
                    .noServer, "no server answers at \(options.base)",
                    next: "start one with \"entrupy-sim serve\", or name another with --url or ENTRUPY_SIM_URL")
        }
    }

    /// Why no connection could be encrypted, in words; `nil` for other errors.
    private static func encryptionProblem(_ error: any Error) -> String? {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.lazy.compactMap { OutgoingClient.installedEncryption?.reason(of: $0) }.first
    }

    /// The refusal for an answer that is an error.
    ///
    /// - Parameter mayFailOtherwise: whether it may have another form than errors of the control API.
    private func refusal(
        _ status: Int, _ answer: Data, _ path: String, _ mayFailOtherwise: Bool
    ) -> Refusal {
        let code: Refusal.Code =
            switch status {
            case 400, 413, 415, 422: .usage
            case 500: .internalError
            default: .no
            }
        guard let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: answer) else {
            if mayFailOtherwise {
                // A failure is the answer to the question.
                let isJSON = (try? WireJSON.decode(JSONValue.self, from: answer)) != nil
                return Refusal(
                    code, "the answer is \(status)",
                    next: answer.isEmpty ? nil : String(decoding: answer.prefix(4096), as: UTF8.self),
                    answer: isJSON ? answer : nil)
            }
            return Refusal(
                .noServer, "\(options.base) answers \(status), but it is not an entrupy-sim", next: Self.otherServer)
        }
        let isUnknownNamespace = envelope.code == "unknown_namespace"
        // The server's text ends with the HTTP request that makes one; `next` names the command instead.
        let text =
            isUnknownNamespace
            ? envelope.error.prefix { $0 != ";" }
                + (options.isNamespaceOfEnvironment ? ", which ENTRUPY_SIM_NAMESPACE names" : "")
            : envelope.error
        // The name of a thing stays in its line.
        let message = text.hasPrefix("there is no ") ? VisibleText.line(text) : text
        var refusal = Refusal(code, message, answer: answer)
        // The detail of a namespace that does not exist says it again, with the nearest.
        refusal.details = isUnknownNamespace ? [] : envelope.details.map { ($0.field, $0.problem) }
        refusal.status = mayFailOtherwise || !path.contains("/_sim/") ? status : nil
        refusal.next =
            switch status {
            case 401: Self.advice(aboutTokenFor: path)
            case 404 where isUnknownNamespace: adviceOnNamespace(envelope.details.first?.problem ?? "")
            case _ where message.hasPrefix(Self.ofFault):
                "see it with \"\(options.command("fault list"))\", remove it with \"\(options.command("fault clear \(Shell.operand(String(message.dropFirst(Self.ofFault.count))))"))\""
            case 503: "try again in a moment"
            default: nil
            }
        if refusal.next == nil, !mayFailOtherwise { refusal.nameCommands(options) }
        return refusal
    }

    /// The ways out of a namespace that does not exist.
    ///
    /// - Parameter problem: the server's detail, which may end with the nearest name.
    private func adviceOnNamespace(_ problem: String) -> String {
        let near = problem.range(of: "; the nearest is ").map { "did you mean \(problem[$0.upperBound...])? " } ?? ""
        let unset = options.isNamespaceOfEnvironment ? ", or leave it with \"unset ENTRUPY_SIM_NAMESPACE\"" : ""
        let make = options.serverCommand("namespace make \(Shell.operand(options.named))")
        return
            "\(near)make it with \"\(make)\", or see which there are: \(options.serverCommand("namespace list"))\(unset)"
    }

    /// The token that a refused request needs: only the control API takes the control token.
    private static func advice(aboutTokenFor path: String) -> String? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        // A login is what gets a token.
        if parts.last == "login" { return nil }
        switch parts.first == "ns" ? parts.dropFirst(2).first : parts.first {
        case "_sim":
            return
                "give the server's control token with --control-token or ENTRUPY_SIM_CONTROL_TOKEN; the server prints it if it made one"
        case "sdk": return "send the token of a login: -H 'Authorization: Token TOKEN'"
        case "v1", "v2":
            return
                "send an organization's API token, in the standard seed data: -H 'Authorization: Token demo-api-token'"
        default: return "send the client's token with -H; --control-token is for /_sim alone"
        }
    }
}

extension ControlCall.Body {
    /// The size of a file that is sent, in bytes; `nil` for other bodies.
    fileprivate var fileSize: Int? {
        guard case .file(let path) = self, let handle = FileHandle(forReadingAtPath: path) else { return nil }
        // A file that cannot be read is reported when it is sent.
        return (try? handle.seekToEnd()).map { Int($0) }
    }

    /// The media type, and the body as the HTTP client sends it.
    fileprivate func sent(_ taken: @escaping @Sendable (Int) -> Void) throws -> (String, OutgoingRequest.Body) {
        switch self {
        case .json(let value): return ("application/json", .bytes(ByteBuffer(bytes: try WireJSON.encode(value))))
        case .bytes(let bytes, let type): return (type, .bytes(ByteBuffer(bytes: bytes)))
        case .file(let path):
            // The size comes from the handle: by path, a link would give its own size.
            guard let handle = FileHandle(forReadingAtPath: path), let size = try? handle.seekToEnd(),
                (try? handle.seek(toOffset: 0)) != nil
            else { throw Refusal(.usage, "\(path) cannot be read", next: "name a file that entrupy-sim exported") }
            return ("application/octet-stream", Self.parts(of: handle, path, size: Int(size), taken))
        }
    }

    /// A file's bytes in pieces of at most 256 KiB.
    ///
    /// - Parameter taken: is called before each piece, with the size of the one before.
    private static func parts(
        of handle: FileHandle, _ path: String, size: Int, _ taken: @escaping @Sendable (Int) -> Void
    ) -> OutgoingRequest.Body {
        let last = NIOLockedValueBox(0)
        return .parts(length: size) {
            taken(last.withLockedValue { $0 })
            do {
                let bytes = try handle.read(upToCount: 262_144) ?? Data()
                last.withLockedValue { $0 = bytes.count }
                return bytes.isEmpty ? nil : ByteBuffer(bytes: bytes)
            } catch {
                throw Refusal(
                    .usage, "\(path) cannot be read to its end", next: "name a file that entrupy-sim exported")
            }
        }
    }
}
