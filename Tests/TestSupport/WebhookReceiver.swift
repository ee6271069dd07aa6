import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SimulationAPI

/// A real HTTP server that receives webhooks and can misbehave.
package final class WebhookReceiver: Sendable {
    /// The reaction to a delivery.
    package enum Behaviour: Sendable {
        case answer(Int)
        /// Answers with a status that depends on the delivery.
        case decide(@Sendable (Delivery) -> Int)
        /// Answers 200 with a text.
        case text(String)
        /// Sends a redirect to itself.
        case redirect
        /// Never answers.
        case hang
        /// Closes the connection without an answer.
        case close
        /// Answers 200 with an endless body.
        case flood
        /// Sends a status and half of a body, then nothing.
        case stall(Int)
    }

    package struct Delivery: Sendable {
        package let method: String
        package let path: String
        package let headers: HTTPHeaders
        package let body: Data

        package var json: JSONValue { (try? WireJSON.decode(JSONValue.self, from: body)) ?? .null }
        /// The name of the event.
        package var event: String? { headers["X-Sim-Event"].first }
        /// The item of a body in the form `items`.
        package var item: JSONValue { json["items.0"] }
    }

    private let channel: any Channel
    private let state = Mutex<(behaviour: Behaviour, deliveries: [Delivery])>((.answer(200), []))
    private let hanging = Mutex<[any Channel]>([])
    private let connections = Mutex<(open: Int, senders: Set<Int>)>((0, []))

    private init(channel: any Channel) {
        self.channel = channel
    }

    package static func open() async throws -> WebhookReceiver {
        let shared = Box()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler { shared.value.withLock { $0 } })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let receiver = WebhookReceiver(channel: channel)
        shared.value.withLock { $0 = receiver }
        return receiver
    }

    /// A mutex as a reference, so that closures can capture it.
    private final class Box: Sendable {
        let value = Mutex<WebhookReceiver?>(nil)
    }

    package var url: String { "http://127.0.0.1:\(channel.localAddress!.port!)/hooks" }

    package func behave(_ behaviour: Behaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// The deliveries received so far.
    package var deliveries: [Delivery] { state.withLock { $0.deliveries } }

    fileprivate func hang(_ channel: any Channel) {
        hanging.withLock { $0.append(channel) }
    }

    /// Waits until all connections are closed, by either side, and all their data was read.
    ///
    /// Connections are accepted in their order. Once one that is made now was accepted, so were those that a killed
    /// server made.
    package func hasNoConnections() async throws {
        let last = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: channel.localAddress!).get()
        let sender = last.localAddress!.port!
        while !connections.withLock({ $0.senders.contains(sender) }) { await Task.yield() }
        try await last.close()
        while connections.withLock({ $0.open }) > 0 { await Task.yield() }
    }

    fileprivate func opened(from sender: Int?) {
        connections.withLock {
            $0.open += 1
            if let sender { $0.senders.insert(sender) }
        }
    }

    fileprivate func closed() {
        connections.withLock { $0.open -= 1 }
    }

    /// Closes the connections that were left without an answer.
    package func hangUp() async throws {
        for channel in hanging.withLock({ $0 }) { try? await channel.close() }
    }

    /// Stops listening, so that connections are refused.
    package func close() async throws {
        try await channel.close()
    }

    fileprivate func receive(_ delivery: Delivery) -> Behaviour {
        state.withLock { state in
            state.deliveries.append(delivery)
            if case .decide(let status) = state.behaviour { return .answer(status(delivery)) }
            return state.behaviour
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let receiver: @Sendable () -> WebhookReceiver?
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()

        init(_ receiver: @escaping @Sendable () -> WebhookReceiver?) {
            self.receiver = receiver
        }

        func channelActive(context: ChannelHandlerContext) {
            receiver()?.opened(from: context.remoteAddress?.port)
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            receiver()?.closed()
            context.fireChannelInactive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body.clear()
            case .body(var part): body.writeBuffer(&part)
            case .end:
                guard let head, let receiver = receiver() else { return context.close(promise: nil) }
                let delivery = Delivery(
                    method: head.method.rawValue, path: head.uri, headers: head.headers,
                    body: Data(body.readableBytesView))
                act(receiver.receive(delivery), context)
            }
        }

        private func act(_ behaviour: Behaviour, _ context: ChannelHandlerContext) {
            switch behaviour {
            case .decide: context.close(promise: nil)
            case .answer(let status): answer(status, [("Content-Length", "4")], "seen", context)
            case .text(let text): answer(200, [("Content-Length", "\(text.utf8.count)")], text, context)
            case .redirect: answer(307, [("Content-Length", "0"), ("Location", "/elsewhere")], "", context)
            case .hang: receiver()?.hang(context.channel)
            case .close: context.close(promise: nil)
            case .stall(let status):
                let head = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: ["Content-Length": "8"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "half")))), promise: nil)
            case .flood:
                let head = HTTPResponseHead(version: .http1_1, status: .ok)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                flood(context)
            }
        }

        private func answer(
            _ status: Int, _ headers: [(String, String)], _ text: String, _ context: ChannelHandlerContext
        ) {
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: HTTPHeaders(headers))
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        /// Writes until the connection closes.
        private func flood(_ context: ChannelHandlerContext) {
            let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 65_536)
            let promise = context.eventLoop.makePromise(of: Void.self)
            let loopBound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            promise.futureResult.whenSuccess { loopBound.value.handler.flood(loopBound.value.context) }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: promise)
        }
    }
}

extension TestWorld {
    @discardableResult package func subscribe(
        _ receiver: WebhookReceiver, version: String = "v2", _ more: JSONObject = [:],
        token: String = TestWorld.apiToken
    ) async throws -> String {
        try await subscribe(url: receiver.url, version: version, more, token: token)
    }
}
