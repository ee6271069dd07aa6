import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Outgoing
import TestSupport
import Testing

/// Connections that are not made, or not at once. What would encrypt them holds them up.
@Suite struct OutgoingConnectionTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func request(port: Int = 1, _ addresses: [String]) throws -> OutgoingRequest {
        var request = try OutgoingRequest(.GET, "https://receiver.test:\(port)/")
        request.addresses = addresses
        return request
    }

    @Test func theDeadlineAloneEndsAConnectionThatIsNotMade() async throws {
        let client = OutgoingClient(encryption: Holdup(of: ["127.0.0.1"]), connectTimeout: .nanoseconds(1))
        let request = try request(["127.0.0.1"])
        await #expect(throws: OutgoingError.deadlineExceeded) {
            _ = try await client.fetch(request, deadline: .now() + .milliseconds(50))
        }
        #expect(request.located("late", OutgoingError.deadlineExceeded) == "127.0.0.1: late")
    }

    @Test func theAddressesOfAFailureAreNamed() async throws {
        var black = try request(["127.0.0.1", "127.0.0.2"])
        #expect(black.located("late", OutgoingError.deadlineExceeded) == "127.0.0.1, 127.0.0.2: late")
        #expect(black.located("late", ChannelError.connectTimeout(.seconds(1))) == "127.0.0.1, 127.0.0.2: late")
        #expect(black.located("no TLS", OutgoingError.withoutEncryption) == "no TLS", "none was asked")
        black.addresses = nil
        #expect(black.located("late", OutgoingError.deadlineExceeded) == "late")
        let server = try await RawServer.start { _ in "none" }
        defer { server.stop() }
        for (host, text) in [("receiver.test", "\(server.address): broken"), (server.address, "broken")] {
            var request = try OutgoingRequest(.GET, "http://\(host):\(server.port)/")
            request.addresses = host == server.address ? nil : ["127.0.0.9", server.address]
            let error = await #expect(throws: (any Error).self) { _ = try await OutgoingClient().fetch(request) }
            #expect(request.located("broken", error) == text)
        }
    }

    @Test func withoutADeadlineAConnectionHasItsOwnTime() async throws {
        let client = OutgoingClient(encryption: Holdup(of: ["127.0.0.1"]), connectTimeout: .milliseconds(20))
        let request = try request(["127.0.0.1"])
        await #expect(throws: ChannelError.connectTimeout(.milliseconds(20))) { _ = try await client.fetch(request) }
    }

    @Test func aCancelledTaskEndsAConnectionThatIsNotMade() async throws {
        let holdup = Holdup(of: ["127.0.0.1"])
        let client = OutgoingClient(encryption: holdup)
        let request = try request(["127.0.0.1"])
        let task = Task { _ = try await client.fetch(request, deadline: .now() + .minutes(5)) }
        let channel = try #require(await holdup.nextHeldUp())
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await channel.closeFuture.get()
    }

    @Test func anAddressThatDoesNotAnswerDoesNotKeepTheNextOneWaiting() async throws {
        let server = try await RawServer.start { _ in Self.ok }
        defer { server.stop() }
        let holdup = Holdup(of: ["127.0.0.2"])
        let client = OutgoingClient(encryption: holdup)
        let request = try request(port: server.port, ["127.0.0.2", server.address])
        #expect(try await client.fetch(request, deadline: .now() + .minutes(5)).status == 200)
        let loser = try #require(await holdup.nextHeldUp())
        try await loser.closeFuture.get()
    }

    @Test func theErrorOfEachAddressIsKept() async throws {
        let server = try await RawServer.start { _ in Self.ok }
        let port = server.port
        await server.stopped()
        let request = try request(port: port, ["127.0.0.1", "127.0.0.2"])
        let error = await #expect(throws: NIOConnectionError.self) {
            _ = try await OutgoingClient(encryption: Holdup(of: [])).fetch(request)
        }
        #expect(error?.connectionErrors.someAndAll { ($0.error as? IOError)?.errnoCode == ECONNREFUSED } == true)
        #expect(error?.connectionErrors.count == 2)
    }

    // MARK: Encryption

    @Test(arguments: [("https://receiver.test", "127.0.0.1"), ("https://[::1]", "::1")])
    func theEncryptionGetsTheHostOfTheURL(start: String, address: String) async throws {
        // A machine without IPv6 tries the name alone.
        guard let server = try? await RawServer.start(on: address, { _ in Self.ok }) else { return }
        defer { server.stop() }
        let encryption = Holdup(of: [])
        var request = try OutgoingRequest(.GET, "\(start):\(server.port)/")
        request.addresses = [address]
        #expect(try await OutgoingClient(encryption: encryption).fetch(request).status == 200)
        #expect(encryption.hosts == [address == "::1" ? "::1" : "receiver.test"])
        #expect(server.received.contains("Host: \(start.dropFirst("https://".count)):\(server.port)\r\n"))
    }

    @Test func aPlainURLIsNotEncrypted() async throws {
        let server = try await RawServer.start { _ in Self.ok }
        defer { server.stop() }
        let encryption = Holdup(of: ["127.0.0.1"])
        let request = try OutgoingRequest(.GET, "http://127.0.0.1:\(server.port)/")
        #expect(try await OutgoingClient(encryption: encryption).fetch(request).status == 200)
        #expect(encryption.hosts.isEmpty)
    }

    @Test func anEncryptionThatCannotBeMadeIsTheReason() async throws {
        let request = try request(["127.0.0.1"])
        let error = await #expect(throws: NIOConnectionError.self) {
            _ = try await OutgoingClient(encryption: Holdup(of: [], fails: true)).fetch(request)
        }
        #expect(error?.connectionErrors.first?.error is Holdup.Broken)
    }
}

/// An encryption that encrypts nothing, and never connects to some addresses.
private final class Holdup: OutgoingEncryption {
    struct Broken: Error {}

    private let addresses: Set<String>
    private let fails: Bool
    private let seen = NIOLockedValueBox<[String]>([])
    private let (stream, sink) = AsyncStream.makeStream(of: (any Channel).self)

    init(of addresses: Set<String>, fails: Bool = false) {
        self.addresses = addresses
        self.fails = fails
    }

    /// The hosts of the connections.
    var hosts: [String] { seen.withLockedValue { $0 } }

    /// The channel of the next connection that is not made.
    func nextHeldUp() async -> (any Channel)? { await stream.first { _ in true } }

    func addHandlers(to channel: any Channel, for host: String) throws {
        if fails { throw Broken() }
        seen.withLockedValue { $0.append(host) }
        try channel.pipeline.syncOperations.addHandler(Handler(addresses, sink))
    }

    func reason(of error: any Error) -> String? { nil }

    private final class Handler: ChannelOutboundHandler {
        typealias OutboundIn = Any

        private let addresses: Set<String>
        private let sink: AsyncStream<any Channel>.Continuation
        private var held: EventLoopPromise<Void>?

        init(_ addresses: Set<String>, _ sink: AsyncStream<any Channel>.Continuation) {
            self.addresses = addresses
            self.sink = sink
        }

        func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
            guard addresses.contains(address.ipAddress ?? "") else {
                return context.connect(to: address, promise: promise)
            }
            held = promise
            sink.yield(context.channel)
        }

        func handlerRemoved(context: ChannelHandlerContext) { held?.fail(ChannelError.ioOnClosedChannel) }
    }
}
