import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server that answers each connection's first request with the same bytes, whatever it asks.
public final class HostileServer: Sendable {
    /// What a request gets.
    public enum Reply: Sendable {
        /// These bytes, then nothing. The connection stays open.
        case stall(String)
        /// These bytes, then the end of the connection.
        case end(String)
        /// `head`, then `part` again and again.
        case endless(head: String, part: String)
        /// `head`, then `part` again and again without a pause, as fast as the client takes it, up to so many bytes.
        case flood(head: String, part: String, bytes: Int)
        /// `head`, then the parts with a pause before each, then the end of the connection.
        case drip(head: String, parts: [String], pause: TimeAmount)
    }

    /// The beginning of a successful answer, without the empty line after the fields.
    public static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    /// The heads of requests, in the order of their arrival.
    public var requests: [String] { received.withLockedValue { $0 } }
    public let url: String
    /// The bytes of the parts of a flood that were handed to the system.
    public var sentBytes: Int { sent.withLockedValue { $0 } }
    private let received: NIOLockedValueBox<[String]>
    private let sent: NIOLockedValueBox<Int>
    private let channel: any Channel

    /// Listens on a free port of loopback.
    ///
    /// - Parameters:
    ///   - answersPings: whether `/_sim/ping` gets a whole answer.
    ///   - info: the whole answer of `/_sim/info`; `nil` if it gets the reply too.
    public init(_ reply: Reply, answersPings: Bool = false, info: String? = nil) async throws {
        var whole: [String: String] = [:]
        if answersPings { whole["/_sim/ping"] = "pong" }
        whole["/_sim/info"] = info
        let answers = whole
        let received = NIOLockedValueBox<[String]>([])
        self.received = received
        let sent = NIOLockedValueBox(0)
        self.sent = sent
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(reply, answers, sent) { head in
                            received.withLockedValue { $0.append(head) }
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    /// Runs a test of a time limit, with longer times if it fails: a busy machine may itself be late.
    ///
    /// - Parameter body: gets the factor of its times, and returns whether it passed.
    public static func withLongerTimes(_ body: (Double) async throws -> Bool) async throws -> Bool {
        for factor in [1.0, 4, 16] where try await body(factor) { return true }
        return false
    }

    public func stop() {
        channel.close(promise: nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let reply: Reply
        /// The bodies of whole answers, by the paths of GET requests.
        private let whole: [String: String]
        private let receive: (String) -> Void
        private var text = ""
        private var part: ByteBuffer?
        private let sent: NIOLockedValueBox<Int>
        private var left = 0
        private var isPumping = false
        private var hasAnswered = false

        init(
            _ reply: Reply, _ whole: [String: String], _ sent: NIOLockedValueBox<Int>,
            _ receive: @escaping (String) -> Void
        ) {
            self.reply = reply
            self.sent = sent
            self.whole = whole
            self.receive = receive
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            text += String(buffer: unwrapInboundIn(data))
            guard text.utf8.contains("\r\n\r\n".utf8) else { return }
            hasAnswered = true
            receive(text)
            if let body = whole.first(where: { text.hasPrefix("GET \($0.key) ") })?.value {
                let length = "Content-Length: \(body.utf8.count)\r\n\r\n"
                return send(HostileServer.head + "Connection: close\r\n" + length + body, context, isEnd: true)
            }
            switch reply {
            case .stall(let text): send(text, context)
            case .end(let text): send(text, context, isEnd: true)
            case .endless(let head, let part):
                self.part = ByteBuffer(string: part)
                send(head, context)
                pump(context)
            case .flood(let head, let part, let bytes):
                self.part = ByteBuffer(string: part)
                left = bytes
                send(head, context)
                flood(NIOLoopBound(context, eventLoop: context.eventLoop))
            case .drip(let head, let parts, let pause):
                send(head, context)
                drip(parts[...], pause, NIOLoopBound(context, eventLoop: context.eventLoop))
            }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) { if left == 0 { pump(context) } }

        /// Writes a part, and the next one as soon as it is with the system.
        private func flood(_ bound: NIOLoopBound<ChannelHandlerContext>) {
            guard let part, left > 0, bound.value.channel.isActive else {
                return bound.value.close(promise: nil)
            }
            left -= part.readableBytes
            let handler = NIOLoopBound(self, eventLoop: bound.value.eventLoop)
            bound.value.writeAndFlush(wrapOutboundOut(part)).whenSuccess {
                handler.value.sent.withLockedValue { $0 += part.readableBytes }
                handler.value.flood(bound)
            }
        }

        /// Writes parts until the client does not take more, one each millisecond: on Linux all of a process's URLSessions share a queue,
        /// which libcurl does not leave while there is more to read, so that no limit and no other request would get a turn.
        private func pump(_ context: ChannelHandlerContext) {
            guard let part, !isPumping, context.channel.isActive, context.channel.isWritable else { return }
            isPumping = true
            context.writeAndFlush(wrapOutboundOut(part), promise: nil)
            let (handler, bound) = (
                NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
            )
            context.eventLoop.scheduleTask(in: .milliseconds(1)) {
                handler.value.isPumping = false
                handler.value.pump(bound.value)
            }
        }

        private func drip(
            _ parts: ArraySlice<String>, _ pause: TimeAmount, _ context: NIOLoopBound<ChannelHandlerContext>
        ) {
            let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
            context.value.eventLoop.scheduleTask(in: pause) {
                guard let part = parts.first, context.value.channel.isActive else {
                    return context.value.close(promise: nil)
                }
                handler.value.send(part, context.value)
                handler.value.drip(parts.dropFirst(), pause, context)
            }
        }

        private func send(_ text: String, _ context: ChannelHandlerContext, isEnd: Bool = false) {
            let written = context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)))
            guard isEnd else { return }
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            written.whenComplete { _ in bound.value.close(promise: nil) }
        }
    }
}
