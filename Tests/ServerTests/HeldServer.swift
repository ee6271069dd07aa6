import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import Entrupy
@testable import Server
@testable import Simulation

/// A server in this process whose namespaces a test can hold: requests wait in line until the test lets them go on.
struct HeldServer: Sendable {
    let server: SimServer
    private let pipeline: Pipeline
    private let heldNames = NIOLockedValueBox<[String]>([])

    /// A client that may go before its answer, also while a fault holds its request.
    final class Caller: HoldingCaller {
        private let state = NIOLockedValueBox((isGone: false, watches: [@Sendable () -> Void]()))
        var isGone: Bool { state.withLockedValue { $0.isGone } }

        func leave() {
            let watches = state.withLockedValue { state in
                state.isGone = true
                return state.watches
            }
            for hasGone in watches { hasGone() }
        }

        func watch(
            for span: Span, timeIsOver: @escaping @Sendable () -> Void, hasGone: @escaping @Sendable () -> Void
        ) -> @Sendable () -> Void {
            let clock = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(
                in: .microseconds(span.microseconds), timeIsOver)
            let isGone = state.withLockedValue { state in
                state.watches.append(hasGone)
                return state.isGone
            }
            if isGone { hasGone() }
            return { clock.cancel() }
        }
    }

    struct Reply: Sendable {
        let status: Int
        let headers: HTTPFields
        let body: ByteBuffer

        var text: String { String(buffer: body) }
        var requestID: String? { headers[.requestID] }
    }

    static func configuration(_ dataDirectory: String? = nil) throws -> ServerConfiguration {
        var configuration = ServerConfiguration(
            version: "test",
            namespaces: NamespacesConfiguration(
                dataDirectory: dataDirectory, durability: .process, seed: try .standard(), randomSeed: 1,
                settings: .object([:]), autoCreates: false))
        configuration.port = 0
        return configuration
    }

    private init(_ server: SimServer) {
        self.server = server
        pipeline = server.responder()
    }

    private static func make(_ configuration: ServerConfiguration) throws -> SimServer {
        try SimServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Empties the namespace of a server that tests share. A server's threads last as long as all tests.
    func reset() async throws -> HeldServer {
        try #require(try await ask(.post, "/_sim/reset").status == 200)
        return self
    }

    /// A server without ports, in memory.
    ///
    /// - Parameters:
    ///   - path: the file of a recording; `nil` if nothing is recorded.
    ///   - configure: changes the configuration.
    static func open(
        recordsTo path: String? = nil, _ configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> HeldServer {
        var configuration = try configuration()
        configuration.recordsTo = path
        configure(&configuration)
        let held = HeldServer(try make(configuration))
        if let recorder = held.server.recorder {
            let options = configuration.namespaces
            try recorder.begin(
                RecordingHead(
                    version: "test", random_seed: options.randomSeed, seed: options.seed, settings: options.settings,
                    public_url: held.server.namespaces.environment.address.url, auto_creates: false,
                    allows_any_target: false, allowed_hosts: [], control_token: nil, address: nil,
                    started_at: recorder.startedAt))
        }
        try await held.server.namespaces.openAll()
        held.server.readiness.open()
        return held
    }

    /// Runs `body` with a server that listens, and stops it.
    ///
    /// - Parameters:
    ///   - secure: the port for HTTPS.
    ///   - body: gets the ports for HTTP and HTTPS.
    static func listening(
        with secure: any SecurePort,
        _ body: @escaping @Sendable (_ held: HeldServer, _ port: Int, _ tlsPort: Int) async throws -> Void
    ) async throws {
        var configuration = try configuration()
        configuration.tls = (0, secure)
        let held = HeldServer(try make(configuration))
        let failure = NIOLockedValueBox<(any Error)?>(nil)
        try await held.server.open { url in
            do {
                let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
                let tlsPort = try #require(held.server.namespaces.environment.webhooks.ownAddress?.tlsPort)
                try await body(held, port, tlsPort)
            } catch {
                failure.withLockedValue { $0 = error }
            }
        }
        if let error = failure.withLockedValue({ $0 }) { throw error }
    }

    /// The namespace that requests have which name none.
    var namespace: Namespace {
        get throws { try #require(server.namespaces.find("default")) }
    }

    /// The number of requests that wait for a namespace that is held, or for the answer of an equal request.
    var waiting: Int {
        let held = heldNames.withLockedValue { $0 }.compactMap { server.namespaces.find($0) }
        return held.reduce(server.sharedReads.joinedCount) { $0 + $1.mailbox.waitingCount }
    }

    /// Waits until another thread makes `condition` true.
    func wait(until condition: @Sendable () -> Bool) async {
        // A turn of another thread: many tests that wait would leave no thread to what they wait for.
        while !condition() { _ = try? await MultiThreadedEventLoopGroup.singleton.any().submit {}.get() }
    }

    /// Runs `body` while the jobs of some namespaces wait.
    func holding<Value>(_ names: [String] = ["default"], _ body: () async throws -> Value) async throws -> Value {
        let gate = DispatchSemaphore(value: 0)
        let held = NIOLockedValueBox(0)
        defer { for _ in names { gate.signal() } }
        for name in names {
            try #require(server.namespaces.find(name)).mailbox.post(
                .exclusive(
                    run: { _ in
                        held.withLockedValue { $0 += 1 }
                        gate.wait()
                        return {}
                    }, refuse: { _ in }))
        }
        await wait { held.withLockedValue { $0 } == names.count }
        heldNames.withLockedValue { $0 = names }
        return try await body()
    }

    /// Makes a request, and returns its whole answer.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", headers: HTTPFields = [:],
        host: String = "localhost", as caller: Caller = Caller()
    ) async throws -> Reply {
        var headers = headers
        if !body.isEmpty, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return try await ask(
            method, path, bytes: body.isEmpty ? nil : ByteBuffer(string: body), headers: headers, host: host, as: caller
        )
    }

    /// Makes a request with any body, and returns its whole answer.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, bytes: ByteBuffer?, headers: HTTPFields = [:],
        host: String = "localhost", as caller: Caller = Caller()
    ) async throws -> Reply {
        var fields = headers
        if let bytes { fields[.contentLength] = "\(bytes.readableBytes)" }
        let head = HTTPRequest(method: method, scheme: "http", authority: host, path: path, headerFields: fields)
        // A closed connection: only the caller says whether somebody waits.
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        let request = Request(head: head, body: .init(buffer: bytes ?? ByteBuffer()))
        let response = try await pipeline.first(
            IncomingRequest(request, SimContext(source: source), caller: caller, isHoldable: true)
        ).response
        return Reply(status: response.status.code, headers: response.headers, body: await response.collectedBody())
    }

    /// Makes a request from the boundary on, as a client that waits for its answer. It has a connection of its own: faults close it.
    func exchange(_ head: HTTPRequest, _ body: ByteBuffer) async throws -> Reply {
        let connection = NIOAsyncTestingChannel()
        try await connection.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let source = ApplicationRequestContextSource(channel: connection, logger: Logger(label: "test"))
        let response = try await pipeline.respond(
            to: Request(head: head, body: .init(buffer: body)), context: SimContext(source: source))
        return Reply(status: response.status.code, headers: response.headers, body: await response.collectedBody())
    }

    /// Makes a request while a namespace is held, and returns once the request waits.
    func begin(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", headers: HTTPFields = [:],
        host: String = "localhost", as caller: Caller = Caller()
    ) async throws -> Task<Reply, any Error> {
        let before = waiting
        let task = Task { try await ask(method, path, body, headers: headers, host: host, as: caller) }
        await wait { waiting > before }
        return task
    }
}

extension [Task<HeldServer.Reply, any Error>] {
    /// The answers, in the order of the requests.
    var replies: [HeldServer.Reply] {
        get async throws {
            var replies: [HeldServer.Reply] = []
            for task in self { replies.append(try await task.value) }
            return replies
        }
    }
}
