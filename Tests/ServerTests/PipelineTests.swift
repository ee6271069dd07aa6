import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Storage
import Testing

@testable import Entrupy
@testable import Server
@testable import Simulation

/// Each responder around the router by itself: the one it wraps is a function of the test.
@Suite struct PipelineTests {
    /// Answers with `body`, and counts its requests.
    struct Inner: RequestResponder {
        let count = NIOLockedValueBox(0)
        var body: @Sendable (IncomingRequest) async throws -> Answer = { _ in PipelineTests.answer() }

        func respond(to request: IncomingRequest) async throws -> Answer {
            count.withLockedValue { $0 += 1 }
            return try await body(request)
        }
    }

    static let text = #"{"a":"0123456789"}"#

    private static func answer(_ outcome: RequestOutcome? = nil) -> Answer {
        Answer(
            Response(
                status: .ok, headers: [.contentType: "application/json", .contentLength: "\(text.utf8.count)"],
                body: .init(byteBuffer: ByteBuffer(string: text))), outcome)
    }

    private static func outcome(fault: AnswerEffect? = nil, generation: Int = 0) -> RequestOutcome {
        var outcome = RequestOutcome(
            at: Instant(microseconds: 0), generation: generation,
            journal: .init(entries: 10, bytes: 100_000, bodyBytes: 1000), secrets: [])
        outcome.change { outcome in outcome.fault = fault.map { TriggeredFault(id: "flt_1", effect: $0) } }
        return outcome
    }

    static func request(
        _ path: String, _ method: HTTPRequest.Method = .get, host: String = "localhost", headers: HTTPFields = [:]
    ) -> IncomingRequest {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: host, path: path, headerFields: headers)
        let source = ApplicationRequestContextSource(channel: openChannel(), logger: Logger(label: "test"))
        return IncomingRequest(Request(head: head, body: .init(buffer: ByteBuffer())), SimContext(source: source))
    }

    /// A connection whose client waits: a read of a client that has gone is not begun.
    static func openChannel() -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        if let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1) {
            channel.connect(to: address, promise: nil)
        }
        return channel
    }

    static func text(_ response: Response) async -> String { String(buffer: await response.collectedBody()) }

    static func namespaces(_ recorder: Recorder? = nil) async throws -> Namespaces {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        var configuration = NamespacesConfiguration(
            dataDirectory: nil, durability: .process, seed: try .standard(), randomSeed: 1, settings: .object([:]),
            autoCreates: false)
        if let recorder { configuration.jobOrder = .recording(recorder) }
        let namespaces = try Namespaces(
            configuration, realTime: { Instant(microseconds: 0) }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        return namespaces
    }

    @Test func aFaultChangesTheAnswerAndNotItsOriginal() async throws {
        let inner = Inner { _ in Self.answer(Self.outcome(fault: AnswerEffect(rewrite: { $0.dropLast() }))) }
        let broken = try await inner.injectingFaults(true, RouteTable(RouteBuilder())).respond(
            to: Self.request("/sdk/session"))
        #expect(broken.response.headers[.fault] == "flt_1")
        #expect(await Self.text(broken.response) == String(Self.text.dropLast()))
        #expect(await Self.text(broken.original) == Self.text)
        #expect(broken.original.headers[.fault] == nil)
        let whole = try await inner.injectingFaults(false, RouteTable(RouteBuilder())).respond(
            to: Self.request("/sdk/session"))
        #expect(await Self.text(whole.response) == Self.text)
    }

    @Test func onlyPlatformRequestsThatRanAJobAreJournaled() async throws {
        let namespaces = try await Self.namespaces()
        let namespace = try #require(namespaces.find("default"))
        func count(_ path: String, _ outcome: RequestOutcome?) async throws -> Int {
            var request = Self.request(path)
            request.namespace = namespace
            let inner = Inner { _ in Self.answer(outcome) }
            _ = try await JournalResponder(inner: inner, coverage: nil).respond(to: request)
            return namespaces.environment.journals.entries(of: "default").count
        }
        let outcome = Self.outcome(generation: namespace.outbox.generation)
        #expect(try await count("/sdk/session", outcome) == 1)
        #expect(try await count("/_sim/clock", outcome) == 1)
        #expect(try await count("/sdk/session", nil) == 1)
        #expect(try await count("/sdk/session", outcome) == 2)
    }

    @Test func theJournalHoldsTheAnswerBeforeItsFault() async throws {
        let namespaces = try await Self.namespaces()
        let namespace = try #require(namespaces.find("default"))
        var request = Self.request("/sdk/session")
        request.namespace = namespace
        let outcome = Self.outcome(fault: AnswerEffect(maxBytes: 3), generation: namespace.outbox.generation)
        let faulty = Inner { _ in Self.answer(outcome) }.injectingFaults(true, RouteTable(RouteBuilder()))
        _ = try await JournalResponder(inner: faulty, coverage: nil).respond(to: request)
        let entry = try #require(namespaces.environment.journals.entries(of: "default").first)
        #expect(String(decoding: entry.response.body.data, as: UTF8.self) == Self.text)
        #expect(entry.outcome.fault?.id == "flt_1")
    }

    /// An answer may be a slice of a larger buffer, and its memory is not given back as long as the journal holds it.
    @Test func theJournalHoldsAndCountsNoMoreMemoryThanABodyNeeds() async throws {
        let namespaces = try await Self.namespaces()
        let namespace = try #require(namespaces.find("default"))
        var large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let taken = large.readSlice(length: 700)
        let slice = try #require(taken)
        var request = Self.request("/sdk/session")
        request.namespace = namespace
        let outcome = Self.outcome(generation: namespace.outbox.generation)
        let inner = Inner { _ in
            let headers: HTTPFields = [.contentType: "application/json"]
            return Answer(Response(status: .ok, headers: headers, body: .init(byteBuffer: slice)), outcome)
        }
        _ = try await JournalResponder(inner: inner, coverage: nil).respond(to: request)
        let entry = try #require(namespaces.environment.journals.entries(of: "default").first)
        let kept = try #require(entry.response.body as? ByteBuffer)
        #expect(entry.response.body.data == Data(repeating: UInt8(ascii: "x"), count: 700))
        #expect(kept.storageCapacity == 1024, "a new buffer has a power of two")
        #expect(entry.response.bytes >= 1024)
        // What is small enough is not copied.
        let whole = ByteBuffer(repeating: UInt8(ascii: "y"), count: 900)
        let other = Inner { _ in Answer(Response(status: .ok, body: .init(byteBuffer: whole)), outcome) }
        _ = try await JournalResponder(inner: other, coverage: nil).respond(to: request)
        let last = try #require(namespaces.environment.journals.entries(of: "default").last)
        let isShared = (last.response.body as? ByteBuffer)?.withUnsafeReadableBytes { bytes in
            whole.withUnsafeReadableBytes { $0.baseAddress == bytes.baseAddress }
        }
        #expect(isShared == true)
    }

    @Test func unauthorizedControlRequestsAreRefusedFirst() async throws {
        let namespaces = try await Self.namespaces()
        let inner = Inner()
        let access = ControlAccess(
            hosts: HostGuard(allowedHosts: []), key: ControlKey(token: "secret"), csrfToken: "page-1")
        let responder = ControlResponder(inner: inner, access: access, environment: namespaces.environment)
        func status(_ request: IncomingRequest) async throws -> Int {
            try await responder.respond(to: request).response.status.code
        }
        #expect(try await status(Self.request("/_sim/clock", host: "evil.com")) == 403)
        #expect(try await status(Self.request("/_sim/clock")) == 401)
        #expect(inner.count.withLockedValue { $0 } == 0)
        #expect(try await status(Self.request("/_sim/clock", headers: [.controlToken: "secret"])) == 200)
        #expect(try await status(Self.request("/sdk/session", host: "evil.com")) == 200)
        #expect(inner.count.withLockedValue { $0 } == 2)
    }

    @Test func aRequestGetsItsNamespace() async throws {
        let namespaces = try await Self.namespaces()
        _ = try await namespaces.make("run-1", NamespaceOptions())
        let readiness = Readiness()
        let found = NIOLockedValueBox<String?>(nil)
        let inner = Inner { request in
            found.withLockedValue { $0 = request.namespace?.name }
            return Self.answer()
        }
        let access = ControlAccess(
            hosts: HostGuard(allowedHosts: []), key: ControlKey(token: nil), csrfToken: "page-1")
        let responder = NamespaceResponder(
            inner: inner, namespaces: namespaces, readiness: readiness, access: access)
        func ask(_ path: String, headers: HTTPFields = [:]) async throws -> String {
            found.withLockedValue { $0 = nil }
            let status = try await responder.respond(to: Self.request(path, headers: headers)).response.status.code
            return "\(status) \(found.withLockedValue { $0 } ?? "none")"
        }
        #expect(try await ask("/sdk/session") == "503 none")
        #expect(try await ask("/_sim/health") == "200 none")
        readiness.open()
        #expect(try await ask("/sdk/session") == "200 default")
        #expect(try await ask("/ns/run-1/sdk/session") == "200 run-1")
        #expect(try await ask("/sdk/session", headers: [.namespace: "run-1"]) == "200 run-1")
        #expect(try await ask("/ns/run-2/sdk/session") == "404 none")
        #expect(try await ask("/_sim/namespaces", headers: [.namespace: "run-2"]) == "200 default")
    }

    @Test func requestsAreCountedByRouteAndStatus() async throws {
        let (namespaces, metrics) = (try await Self.namespaces(), ServerMetrics())
        let inner = Inner { request in
            if request.target.path == "/known" { request.context.coreContext.endpointPath.value = "/known" }
            return Self.answer()
        }
        // No line of the log is wanted.
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let responder = LoggingResponder(inner: inner, logger: logger, namespaces: namespaces, metrics: metrics)
        for path in ["/known", "/known", "/x"] { _ = try await responder.respond(to: Self.request(path)) }
        let text = metrics.text(of: namespaces)
        func count(_ route: String) -> Substring? {
            text.split(separator: "\n").first {
                $0.hasPrefix("entrupy_sim_requests_total{") && $0.contains("\"\(route)\"")
            }
        }
        #expect(
            count("/known")?.hasSuffix(" 2") == true && count("/known")?.contains("status=\"200\"") == true, "\(text)")
        #expect(count("none")?.hasSuffix(" 1") == true)
    }

    @Test func aRequestGetsItsRouteOrARefusalThatNamesTheAlternatives() async throws {
        let namespaces = try await Self.namespaces()
        let builder = RouteBuilder()
        builder.on(.get, "greetings/{name}/{time}") { routed in
            let words = ["time", "name", "place"].map { routed.parameters.value(of: $0) ?? "nowhere" }
            let text = ([routed.namespace.name[...]] + words).joined(separator: " ")
            return Answer(
                Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: text))),
                Self.outcome(fault: AnswerEffect(rewrite: { $0.dropLast() })))
        }
        builder.router.get("pong") { _, _ in "ping" }
        let responder = RouteResponder(router: builder.router.buildResponder(), routes: RouteTable(builder))
        func ask(_ method: HTTPRequest.Method, _ path: String) async throws -> Answer {
            var request = Self.request(path, method)
            request.namespace = namespaces.find("default")
            return try await responder.respond(to: request)
        }
        let found = try await ask(.get, "/ns/default/greetings/Ann/noon?x=/y")
        #expect(found.response.status == .ok, "the route does not see the namespace")
        #expect(await Self.text(found.response) == "default noon Ann nowhere")
        #expect(found.outcome?.fault?.id == "flt_1", "the outcome comes with the answer")
        #expect(await Self.text(try await ask(.get, "//greetings//B%2f/noon/").response) == "default noon B%2f nowhere")
        #expect(await Self.text(try await ask(.head, "/greetings/{name}/x").response) == "default x {name} nowhere")
        #expect(await Self.text(try await ask(.get, "/pong").response) == "ping")
        let missing = try await ask(.get, "/greeting/Ann/noon")
        #expect(
            missing.response.status == .notFound && missing.outcome != nil, "a refusal takes its place among the jobs")
        #expect(await Self.text(missing.response).contains("/greetings/{name}/{time}"))
        let wrong = try await ask(.delete, "/greetings/Ann/noon")
        #expect(wrong.response.status == .methodNotAllowed && wrong.response.headers[.allow]?.contains("GET") == true)
    }

    @Test func aLogLineMasksTheTokenInAPath() async throws {
        /// Keeps the metadata of log lines.
        struct Handler: LogHandler {
            let lines: NIOLockedValueBox<[String]>
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.info
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) { lines.withLockedValue { $0.append("\(event.metadata ?? [:])") } }
        }
        let namespaces = try await Self.namespaces()
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in Handler(lines: lines) }
        let responder = LoggingResponder(
            inner: Inner(), logger: logger, namespaces: namespaces, metrics: ServerMetrics())
        _ = try await responder.respond(to: Self.request("/x/demo-api-token"))
        let line = try #require(lines.withLockedValue { $0 }.first)
        #expect(!line.contains("demo-api-token"))
        #expect(line.contains("200"))
    }

    private static func newPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("pipeline-\(UUID()).jsonl").path
    }

    private static func recorder(_ path: String) throws -> Recorder {
        let recorder = try Recorder(path: path, at: Instant(microseconds: 0))
        try recorder.begin(
            RecordingHead(
                version: "test", random_seed: 1, seed: .standard(), settings: .object([:]), public_url: "http://x",
                auto_creates: false, allows_any_target: false, allowed_hosts: [], control_token: nil, address: nil,
                started_at: Instant(microseconds: 0)))
        return recorder
    }

    /// A replay runs a job at once that is not in the recording: before its namespace ends, which it came after.
    @Test func aJobThatAnEndedNamespaceRefusesHasAPlaceInTheRecording() async throws {
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let namespaces = try await Self.namespaces(try Self.recorder(path))
        let ended = try await namespaces.make("ended", NamespaceOptions())
        try await namespaces.delete("ended")
        let inner = Inner { _ in
            _ = try await namespaces.allInOrder()
            let refused = await ended.run(RequestHead(isControl: true), .reads) { _ in }
            #expect(throws: PlatformError.self) { try refused.result.get() }
            return Self.answer(Self.outcome())
        }
        let responder = RecordingResponder(
            inner: inner, sequencer: namespaces.environment.sequencer, isRecording: true, replay: nil)
        _ = try await responder.respond(to: Self.request("/sdk/session"))
        #expect(try await Recording.read(path).entries.map(\.jobs.count) == [2])
    }

    @Test func aRecordingHoldsTheAnswerBeforeItsFaultAndEveryRequestThatFailed() async throws {
        let path = Self.newPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try Self.recorder(path)
        let namespaces = try await Self.namespaces(recorder)
        struct Lost: Error {}
        let inner = Inner { request in
            if request.target.path == "/lost" { throw Lost() }
            return Self.answer(Self.outcome(fault: AnswerEffect(rewrite: { $0.dropLast() })))
        }
        let responder = RecordingResponder(
            inner: inner.injectingFaults(true, RouteTable(RouteBuilder())), sequencer: namespaces.environment.sequencer,
            isRecording: true,
            replay: nil)
        _ = try await responder.respond(to: Self.request("/sdk/session"))
        await #expect(throws: Lost.self) { _ = try await responder.respond(to: Self.request("/lost")) }
        let recording = try await Recording.read(path)
        #expect(recording.requests == 2)
        let first = try #require(recording.entries.first?.request)
        #expect(first.answer.map { String(decoding: $0.data, as: UTF8.self) } == Self.text)
        #expect(first.unrepeatable == nil)
        #expect(recording.entries.last?.request?.unrepeatable == true)
    }
}
