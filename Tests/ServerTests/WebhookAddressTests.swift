import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import Server
@testable import Simulation

/// The addresses of a name that a webhook goes to [D webhook-targets].
@Suite struct WebhookAddressTests {
    /// Listens on one address and answers 204.
    private func listen(on address: String) async throws -> any Channel {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering())
                }
            }.bind(host: address, port: 0).get()
    }

    /// The outcome of an attempt at a name with these addresses.
    private func attempt(
        _ addresses: [String], port: Int, host: String = "receiver.test", own: ServerAddress? = nil,
        allowsAny: Bool = false, timeout: String = "5m"
    ) async -> WebhookOutcome {
        let transport = WebhookTransport(allowsAnyTarget: allowsAny)
        transport.ownAddress = own
        let resolver = Resolver { _ in addresses }
        defer { resolver.stop() }
        let sender = WebhookSender(transport, logger: Logger(label: "test"), resolver: resolver)
        let webhook = OutgoingWebhook(
            generation: 0, deliveryID: "d", number: 1, at: Instant(microseconds: 0), subscriptionID: "s",
            url: "http://\(host):\(port)/hooks", body: Data("{}".utf8), headers: [], signature: nil,
            timeout: Span(timeout)!, isDropped: false)
        return await sender.send(webhook, of: "default")
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func aReceiverOfOneFamilyIsReached(family: String) async throws {
        // A machine without IPv6 cannot listen on it.
        guard let receiver = try? await listen(on: family) else { return }
        let port = receiver.localAddress?.port ?? 0
        for addresses in [["127.0.0.1", "::1"], ["::1", "127.0.0.1"], [family], ["127.0.0.9", family]] {
            let outcome = await attempt(addresses, port: port, host: "localhost")
            #expect(outcome.status == 204 && outcome.error == nil, "\(addresses): \(outcome)")
        }
        try await receiver.close()
    }

    @Test func addressesThatAreNotAllowedAreLeftOut() async throws {
        let receiver = try await listen(on: "127.0.0.1")
        let port = receiver.localAddress?.port ?? 0
        // Of the two others nothing may be asked: TEST-NET-1 (RFC 5737), and the metadata of clouds.
        #expect(await attempt(["192.0.2.1", "169.254.169.254", "127.0.0.1"], port: port).status == 204)
        try await receiver.close()
    }

    @Test func anAttemptIsRefusedIfNoAddressIsAllowed() async throws {
        let reason = "not a loopback or private address; start the server with --webhook-targets any"
        let outcome = await attempt(["192.0.2.1", "2001:db8::1"], port: 80)
        #expect(outcome.status == nil && outcome.error == "receiver.test is 192.0.2.1, \(reason)")
    }

    @Test(arguments: [true, false]) func theMetadataOfCloudsIsNeverAsked(allowsAny: Bool) async throws {
        let outcome = await attempt(["169.254.169.254"], port: 80, allowsAny: allowsAny)
        let text =
            "receiver.test is 169.254.169.254, the address of a cloud's metadata service, to which nothing is sent"
        #expect(outcome.status == nil && outcome.error == text, "\(outcome)")
    }

    @Test(arguments: [true, false]) func theServersOwnAddressesAreLeftOut(allowsAny: Bool) async throws {
        let receiver = try await listen(on: "127.0.0.1")
        let port = receiver.localAddress?.port ?? 0
        let own = ServerAddress(port: port, addresses: ["10.9.8.7"], publicURL: "http://sim.test")
        for addresses in [["10.9.8.7"], ["127.0.0.1", "10.9.8.7"]] {
            let outcome = await attempt(addresses, port: port, own: own, allowsAny: allowsAny)
            let text = "receiver.test is \(addresses[0]), this server itself; it sends no webhooks to itself"
            #expect(outcome.status == nil && outcome.error == text, "\(outcome)")
        }
        try await receiver.close()
    }

    @Test func eachAddressThatFailedIsNamed() async throws {
        let receiver = try await listen(on: "127.0.0.1")
        let port = receiver.localAddress?.port ?? 0
        try await receiver.close()
        let refused = String(cString: strerror(ECONNREFUSED)).lowercased()
        let outcome = await attempt(["127.0.0.1", "127.0.0.2"], port: port)
        #expect(outcome.error == "127.0.0.1: \(refused); 127.0.0.2: \(refused)")
        #expect(await attempt(["127.0.0.1"], port: port).error == "127.0.0.1: \(refused)")
        #expect(await attempt([], port: port, host: "127.0.0.1").error == refused)
        let late = await attempt((1...10).map { "127.0.0.\($0)" }, port: port)
        #expect(late.error?.components(separatedBy: "; ").count == 10, "\(late)")
    }

    /// Also of a connection that was made.
    @Test func theAddressThatDidNotAnswerIsNamed() async throws {
        let silent = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = silent.localAddress?.port ?? 0
        for (addresses, host, wanted) in [
            (["127.0.0.1"], "receiver.test", "127.0.0.1: no answer within 0.05 s"),
            ([], "127.0.0.1", "no answer within 0.05 s"),
        ] {
            #expect(await attempt(addresses, port: port, host: host, timeout: "50ms").error == wanted)
        }
        try await silent.close()
    }

    @Test func theAddressThatEndedTheConnectionIsNamed() async throws {
        let closing = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { $0.close() }.bind(host: "127.0.0.1", port: 0).get()
        let outcome = await attempt(["127.0.0.1"], port: closing.localAddress?.port ?? 0)
        #expect(outcome.error?.hasPrefix("127.0.0.1: ") == true, "\(outcome)")
        try await closing.close()
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: .noContent))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
