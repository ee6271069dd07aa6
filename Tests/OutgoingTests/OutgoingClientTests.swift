import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Outgoing
import TestSupport
import Testing

/// The outgoing client against servers that answer bytes of a test.
@Suite struct OutgoingClientTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func status(
        _ server: RawServer, with client: OutgoingClient = OutgoingClient(), addresses: [String]? = nil,
        deadline: NIODeadline = .now() + .minutes(5)
    ) async throws -> (status: Int, body: String) {
        var request = try OutgoingRequest(.GET, "http://receiver.test:\(server.port)/")
        request.addresses = addresses ?? [server.address]
        let answer = try await client.fetch(request, deadline: deadline, upTo: 1_000_000)
        return (answer.status, String(buffer: answer.body))
    }

    // MARK: What is sent

    @Test func aRequestHasItsTargetHostAndLength() async throws {
        let server = try await RawServer.start { _ in Self.ok }
        defer { server.stop() }
        var request = try OutgoingRequest(.POST, "http://user:secret@localhost:\(server.port)/a%20b?c=d#e")
        request.addresses = [server.address]
        request.headers.add(name: "X-A", value: "b")
        request.body = .bytes(ByteBuffer(string: "hello"))
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5)).status == 200)
        let sent = server.received
        #expect(sent.hasPrefix("POST /a%20b?c=d HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\nhello"))
        #expect(sent.contains("Host: localhost:\(server.port)\r\n") && sent.contains("Content-Length: 5\r\n"))
        #expect(!sent.contains("secret") && !sent.contains("Authorization"))
    }

    @Test(arguments: [5, nil]) func aBodyInPartsHasItsLengthOrComesInChunks(length: Int?) async throws {
        let server = try await RawServer.start { $0.contains(length == nil ? "0\r\n\r\n" : "hello") ? Self.ok : nil }
        defer { server.stop() }
        let parts = NIOLockedValueBox(["lo", "hel"])
        var request = try OutgoingRequest(.PUT, "http://127.0.0.1:\(server.port)/")
        request.body = .parts(length: length) { parts.withLockedValue { $0.popLast() }.map { ByteBuffer(string: $0) } }
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5)).status == 200)
        #expect(
            server.received.hasSuffix(length == nil ? "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n" : "\r\n\r\nhello"),
            "\(server.received)")
    }

    @Test(arguments: [("X-A", "b\r\nX-Injected: 1"), ("X-A\r\nX-Injected", "1"), ("X A", "1"), ("X-A", "a\u{0}b")])
    func aHeaderThatWouldBeAnotherIsNotSent(name: String, value: String) async throws {
        let server = try await RawServer.start { _ in Self.ok }
        defer { server.stop() }
        var request = try OutgoingRequest(.GET, "http://127.0.0.1:\(server.port)/")
        request.headers.add(name: name, value: value)
        await #expect(throws: (any Error).self) {
            _ = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5))
        }
        #expect(server.received.isEmpty)
    }

    @Test(arguments: ["", "nothing", "ftp://a/", "http://", "/path", "http:///path", "https:"])
    func aTextThatIsNotAWebURLIsRefused(url: String) {
        #expect(throws: OutgoingError.badURL(url)) { _ = try OutgoingRequest(.GET, url) }
    }

    // MARK: Addresses

    @Test(arguments: ["127.0.0.1", "::1"]) func theAddressesOfANameAreTriedInTurn(family: String) async throws {
        // One port that one family listens on, and the other does not.
        guard let server = try? await RawServer.start(on: family, { _ in Self.ok }) else { return }
        defer { server.stop() }
        for addresses in [["127.0.0.1", "::1"], ["::1", "127.0.0.1"], [family], ["127.0.0.9", "127.0.0.8", family]] {
            #expect(try await status(server, addresses: addresses).status == 200, "\(addresses)")
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func localhostIsReachedWhicheverFamilyListens(family: String) async throws {
        guard let server = try? await RawServer.start(on: family, { _ in Self.ok }) else { return }
        defer { server.stop() }
        let hasName = (try? SocketAddress.makeAddressResolvingHost("localhost", port: 0))?.ipAddress
        // A system whose localhost has one family cannot reach the other.
        guard hasName == family || family == "127.0.0.1" else { return }
        let request = try OutgoingRequest(.GET, "http://localhost:\(server.port)/")
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5)).status == 200)
    }

    @Test func anAddressInTheURLIsUsedAsItIs() async throws {
        guard let server = try? await RawServer.start(on: "::1", { _ in Self.ok }) else { return }
        defer { server.stop() }
        let request = try OutgoingRequest(.GET, "http://[::1]:\(server.port)/")
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5)).status == 200)
        #expect(server.received.contains("Host: [::1]:\(server.port)\r\n"))
    }

    @Test func allAddressesThatFailedAreNamed() async throws {
        let server = try await RawServer.start { _ in Self.ok }
        let port = server.port
        await server.stopped()
        var request = try OutgoingRequest(.GET, "http://receiver.test:\(port)/")
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        let error = await #expect(throws: NIOConnectionError.self) { _ = try await OutgoingClient().fetch(request) }
        #expect(error?.connectionErrors.compactMap(\.target.ipAddress).sorted() == request.addresses)
    }

    @Test func givenAddressesMustBeNumeric() async throws {
        var request = try OutgoingRequest(.GET, "http://receiver.test:1/")
        request.addresses = ["localhost"]
        await #expect(throws: (any Error).self) { _ = try await OutgoingClient().fetch(request) }
    }

    // MARK: Answers

    @Test func anAnswerInChunksIsPutTogether() async throws {
        let server = try await RawServer.start { _ in
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
        }
        defer { server.stop() }
        #expect(try await status(server) == (201, "abcde"))
    }

    @Test(arguments: ["HEAD", "204", "304"]) func someAnswersHaveNoBody(kind: String) async throws {
        let server = try await RawServer.start { _ in
            "HTTP/1.1 \(kind == "HEAD" ? "200" : kind) X\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n"
        }
        defer { server.stop() }
        var request = try OutgoingRequest(kind == "HEAD" ? .HEAD : .GET, "http://127.0.0.1:\(server.port)/")
        request.headers.add(name: "Accept", value: "*/*")
        let answer = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5))
        #expect(answer.body.readableBytes == 0)
    }

    @Test func aRedirectIsAnAnswer() async throws {
        let server = try await RawServer.start { _ in
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        }
        defer { server.stop() }
        #expect(try await status(server).status == 302)
        #expect(server.connections == 1)
    }

    /// A server that refuses a file need not take all of it.
    @Test func anAnswerMayComeBeforeTheWholeRequest() async throws {
        let server = try await RawServer.start {
            $0.isEmpty ? nil : "HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n"
        }
        defer { server.stop() }
        var request = try OutgoingRequest(.PUT, "http://127.0.0.1:\(server.port)/")
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        defer { continuation.finish() }
        let hasBegun = NIOLockedValueBox(false)
        request.body = .parts(length: 1_000_000) {
            let isFirst = hasBegun.withLockedValue { began in
                defer { began = true }
                return !began
            }
            if isFirst { return ByteBuffer(string: "x") }
            // The rest never comes.
            for await _ in stream {}
            return nil
        }
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5)).status == 413)
    }

    @Test func aBodyThatIsTooLongForItsReaderIsRefused() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345678901234567890"
        let server = try await RawServer.start { _ in text }
        defer { server.stop() }
        let request = try OutgoingRequest(.GET, "http://127.0.0.1:\(server.port)/")
        await #expect(throws: OutgoingError.bodyTooLong(19)) {
            _ = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5), upTo: 19)
        }
        #expect(try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5), upTo: 20).status == 200)
    }

    // MARK: Servers that misbehave

    @Test(arguments: ["head", "fields", "chunks", "interim"]) func aFloodEndsAtTheLimit(kind: String) async throws {
        let flood =
            switch kind {
            case "head": "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 200_000)
            case "fields":
                "HTTP/1.1 200 OK\r\n" + (0..<20_000).map { "X-\($0): y\r\n" }.joined() + "\r\n"
            case "chunks":
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "1\r\nx\r\n", count: 50_000)
            default: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 20_000)
            }
        let server = try await RawServer.start { _ in flood }
        defer { server.stop() }
        let client = OutgoingClient(answerLimit: .init(bytes: 65_536, pieces: 1000))
        let error = await #expect(throws: (any Error).self) { _ = try await status(server, with: client) }
        // Too many fields are refused by the parser first.
        #expect(error is AnswerTooLong || error as? HTTPParserError == .headerOverflow, "\(String(describing: error))")
    }

    @Test(arguments: [("", true), ("HTTP/1.1 200", true), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", false)])
    func aConnectionThatIsClosedIsAnError(text: String, isHead: Bool) async throws {
        let server = try await RawServer.start(closes: true) { _ in text }
        defer { server.stop() }
        let error = await #expect(throws: (any Error).self) { _ = try await status(server) }
        let isKnown =
            error as? OutgoingError == (isHead ? .closedBeforeAnswer : .closedInAnswer)
            || error as? HTTPParserError == .invalidEOFState
        #expect(isKnown, "\(String(describing: error))")
    }

    @Test func bytesThatAreNotHTTPAreAnError() async throws {
        let server = try await RawServer.start { _ in "SSH-2.0-OpenSSH_9.2\r\n" }
        defer { server.stop() }
        await #expect(throws: HTTPParserError.self) { _ = try await status(server) }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
    func theDeadlineEndsASilentExchange(text: String) async throws {
        let server = try await RawServer.start { _ in text.isEmpty ? nil : text }
        defer { server.stop() }
        await #expect(throws: OutgoingError.deadlineExceeded) {
            _ = try await status(server, deadline: .now() + .milliseconds(50))
        }
        await #expect(throws: OutgoingError.deadlineExceeded) { _ = try await status(server, deadline: .now()) }
    }

    @Test func aCancelledTaskClosesItsConnection() async throws {
        let server = try await RawServer.start { _ in nil }
        defer { server.stop() }
        let task = Task { try await status(server) }
        await server.waitForConnection()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await server.waitForEnd()
    }

    @Test func aBuildWithoutHTTPSSaysSo() async throws {
        let request = try OutgoingRequest(.GET, "https://127.0.0.1:1/")
        await #expect(throws: OutgoingError.withoutEncryption) {
            _ = try await OutgoingClient(encryption: nil).fetch(request)
        }
    }
}

/// A server on loopback that answers bytes.
final class RawServer: Sendable {
    private struct State {
        var received = ""
        var connections = 0
        var isAnswered = false
        var hasEnded = false
        var channels: [any Channel] = []
    }

    private let state = NIOLockedValueBox(State())
    private let listener = NIOLockedValueBox<(any Channel)?>(nil)
    let address: String

    private init(address: String) { self.address = address }

    /// - Parameters:
    ///   - closes: whether the connection is closed after the answer.
    ///   - answer: the bytes to answer what has come so far; `nil` for none yet.
    static func start(
        on address: String = "127.0.0.1", closes: Bool = false, _ answer: @escaping @Sendable (String) -> String?
    ) async throws -> RawServer {
        let server = RawServer(address: address)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    server.state.withLockedValue {
                        $0.connections += 1
                        $0.channels.append(channel)
                    }
                    channel.closeFuture.whenComplete { _ in server.state.withLockedValue { $0.hasEnded = true } }
                    try channel.pipeline.syncOperations.addHandler(
                        Answering { text in
                            server.state.withLockedValue { state in
                                state.received += text
                                return (answer(state.received), closes)
                            }
                        })
                }
            }.bind(host: address, port: 0).get()
        server.listener.withLockedValue { $0 = channel }
        return server
    }

    var port: Int { listener.withLockedValue { $0?.localAddress?.port ?? 0 } }
    var received: String { state.withLockedValue { $0.received } }
    var connections: Int { state.withLockedValue { $0.connections } }

    func stop() {
        listener.withLockedValue { $0 }?.close(promise: nil)
        for channel in state.withLockedValue({ $0.channels }) { channel.close(promise: nil) }
    }

    func stopped() async {
        stop()
        try? await listener.withLockedValue { $0 }?.closeFuture.get()
    }

    func waitForConnection() async {
        while !state.withLockedValue({ !$0.received.isEmpty }) { await Task.yield() }
    }

    func waitForEnd() async {
        while !state.withLockedValue({ $0.hasEnded }) { await Task.yield() }
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: (String) -> (String?, closes: Bool)
        private var isDone = false

        init(_ answer: @escaping (String) -> (String?, closes: Bool)) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let (text, closes) = answer(String(buffer: unwrapInboundIn(data)))
            guard let text, !isDone else { return }
            isDone = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            if closes { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
