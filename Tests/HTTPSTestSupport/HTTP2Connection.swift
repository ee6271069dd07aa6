import NIOConcurrencyHelpers
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL

/// An HTTP/2 connection to a server on this machine that sends what other clients would not: any bytes in fields, heads of many
/// frames, small frames, resets. A body must fit into the first window, 65,535 bytes.
public final class HTTP2Connection: Sendable {
    /// An answer, or what came of it before the server ended the stream.
    public struct Answer: Sendable {
        public fileprivate(set) var fields: [String: String] = [:]
        public fileprivate(set) var body = ByteBuffer()
        /// Whether the server ended the stream with a reset.
        public fileprivate(set) var isReset = false
        /// The error code of the server's reset (RFC 9113, section 7).
        public fileprivate(set) var resetCode: UInt32?

        /// The status; `nil` if there is no answer.
        public var status: Int? { fields[":status"].flatMap { Int($0) } }
    }

    /// The connection ended before the answer.
    public struct Closed: Error {
        /// The last GOAWAY frame: a stream's number, an error code (RFC 9113, section 7), and a text.
        public let farewell: ByteBuffer?
    }

    private struct State {
        var isClosed = false
        var farewell: ByteBuffer?
        var nextStream: UInt32 = 1
        var answers: [UInt32: Answer] = [:]
        var ended: Set<UInt32> = []
        var waiting: [UInt32: CheckedContinuation<Answer, any Error>] = [:]
        var pings: [CheckedContinuation<Void, any Error>] = []
    }

    private let channel: any Channel
    private let state = NIOLockedValueBox(State())
    private let host: String

    private init(_ channel: any Channel, host: String) {
        self.channel = channel
        self.host = host
    }

    /// Connects to a port of loopback whose certificate is for `localhost`.
    public static func open(port: Int, trusting roots: NIOSSLTrustRoots) async throws -> HTTP2Connection {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = roots
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = HTTP2Connection(channel, host: "localhost:\(port)")
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"), FrameHandler(connection),
                    ])
                    return connection
                }
            }
        // The server's limits count once its settings are acknowledged.
        try await connection.roundTrip()
        return connection
    }

    /// Sends a request, and returns the number of its stream.
    ///
    /// - Parameters:
    ///   - fields: more fields. A pseudo-header field replaces that of the same name.
    ///   - frameBytes: the size of the frames of the body.
    public func begin(
        _ method: String, _ path: String, _ fields: [(String, String)] = [], body: [UInt8] = [],
        frameBytes: Int = 16_384
    ) async throws -> UInt32 {
        let stream = state.withLockedValue { state in
            defer { state.nextStream += 2 }
            return state.nextStream
        }
        var usual = [(":method", method), (":scheme", "https"), (":path", path), (":authority", host)]
        if !body.isEmpty { usual.append(("content-length", "\(body.count)")) }
        let given = usual.filter { pair in !fields.contains { $0.0 == pair.0 } } + fields
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: false)
        try encoder.beginEncoding(allocator: ByteBufferAllocator())
        // Pseudo-header fields come first.
        for (name, value) in given.filter({ $0.0.hasPrefix(":") }) + given.filter({ !$0.0.hasPrefix(":") }) {
            try encoder.appendNeverIndexed(header: name, value: value)
        }
        var head = try encoder.endEncoding()
        var bytes = ByteBuffer()
        var kind = FrameKind.headers
        repeat {
            let part = head.readSlice(length: min(16_384, head.readableBytes)) ?? ByteBuffer()
            let isLast = head.readableBytes == 0
            let ends: UInt8 = kind == .headers && body.isEmpty ? Flag.endStream : 0
            bytes.writeFrame(kind, ends | (isLast ? Flag.endHeaders : 0), stream, part)
            kind = .continuation
        } while head.readableBytes > 0
        for start in stride(from: 0, to: body.count, by: frameBytes) {
            let end = min(start + frameBytes, body.count)
            bytes.writeFrame(
                .data, end == body.count ? Flag.endStream : 0, stream, ByteBuffer(bytes: body[start..<end]))
        }
        try await channel.writeAndFlush(bytes).get()
        return stream
    }

    /// Resets a stream, as a client does that no longer wants the answer.
    public func reset(_ stream: UInt32) async throws {
        var bytes = ByteBuffer()
        bytes.writeFrame(.reset, 0, stream, ByteBuffer(integer: UInt32(8)))
        try await channel.writeAndFlush(bytes).get()
    }

    /// Waits for the end of a stream.
    ///
    /// - Throws: ``Closed`` if the connection ends before.
    public func answer(_ stream: UInt32) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let known: Result<Answer, any Error>? = state.withLockedValue { state in
                if state.ended.contains(stream) { return .success(state.answers[stream] ?? Answer()) }
                if state.isClosed { return .failure(Closed(farewell: state.farewell)) }
                state.waiting[stream] = continuation
                return nil
            }
            if let known { continuation.resume(with: known) }
        }
    }

    /// Waits until the server has read everything that was sent.
    public func roundTrip() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let closed: Closed? = state.withLockedValue { state in
                if !state.isClosed { state.pings.append(continuation) }
                return state.isClosed ? Closed(farewell: state.farewell) : nil
            }
            if let closed { return continuation.resume(throwing: closed) }
            var bytes = ByteBuffer()
            bytes.writeFrame(.ping, 0, 0, ByteBuffer(repeating: 0, count: 8))
            channel.writeAndFlush(bytes, promise: nil)
        }
    }

    public func close() async throws {
        channel.close(promise: nil)
        try await channel.closeFuture.get()
    }

    // MARK: Frames

    fileprivate enum FrameKind: UInt8 {
        case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation
    }

    fileprivate enum Flag {
        static let endStream: UInt8 = 1
        static let acknowledges: UInt8 = 1
        static let endHeaders: UInt8 = 4
    }

    private func end(_ stream: UInt32, isReset: Bool = false) {
        let (waiting, answer) = state.withLockedValue { state in
            if isReset { state.answers[stream, default: Answer()].isReset = true }
            state.ended.insert(stream)
            return (state.waiting.removeValue(forKey: stream), state.answers[stream] ?? Answer())
        }
        waiting?.resume(returning: answer)
    }

    private func close(_ error: any Error) {
        let (waiting, pings) = state.withLockedValue { state in
            state.isClosed = true
            defer { (state.waiting, state.pings) = ([:], []) }
            return (Array(state.waiting.values), state.pings)
        }
        for continuation in waiting { continuation.resume(throwing: error) }
        for continuation in pings { continuation.resume(throwing: error) }
    }

    private final class FrameHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let connection: HTTP2Connection
        private var received = ByteBuffer()
        private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

        init(_ connection: HTTP2Connection) {
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
            while let (kind, flags, stream, payload) = received.readFrame() {
                do {
                    try take(kind, flags, stream, payload, context)
                } catch {
                    connection.close(error)
                }
            }
            received.discardReadBytes()
        }

        func channelActive(context: ChannelHandlerContext) {
            // Answers of any length fit into the windows.
            var start = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            start.writeFrame(.settings, 0, 0, ByteBuffer(bytes: [0, 4, 0x7f, 0xff, 0xff, 0xff]))
            start.writeFrame(.windowUpdate, 0, 0, ByteBuffer(bytes: [0x7f, 0, 0, 0]))
            context.writeAndFlush(wrapOutboundOut(start), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            connection.close(Closed(farewell: connection.state.withLockedValue { $0.farewell }))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            connection.close(error)
            context.close(promise: nil)
        }

        private func take(
            _ kind: FrameKind?, _ flags: UInt8, _ stream: UInt32, _ payload: ByteBuffer,
            _ context: ChannelHandlerContext
        ) throws {
            switch kind {
            case .settings where flags & Flag.acknowledges == 0:
                acknowledge(.settings, ByteBuffer(), context)
            case .ping where flags & Flag.acknowledges == 0:
                acknowledge(.ping, payload, context)
            case .ping:
                let ping = connection.state.withLockedValue { $0.pings.isEmpty ? nil : $0.pings.removeFirst() }
                ping?.resume()
            case .headers:
                // The heads of the server's answers fit into one frame.
                var payload = payload
                let fields = try decoder.decodeHeaders(from: &payload)
                connection.state.withLockedValue { state in
                    for (name, value, _) in fields { state.answers[stream, default: Answer()].fields[name] = value }
                }
            case .data:
                connection.state.withLockedValue { state in
                    _ = state.answers[stream, default: Answer()].body.writeImmutableBuffer(payload)
                }
            case .reset:
                let code = payload.getInteger(at: payload.readerIndex, as: UInt32.self)
                connection.state.withLockedValue { $0.answers[stream, default: Answer()].resetCode = code }
                connection.end(stream, isReset: true)
            case .goAway: connection.state.withLockedValue { $0.farewell = payload }
            default: break
            }
            if kind == .headers || kind == .data, flags & Flag.endStream != 0 { connection.end(stream) }
        }

        private func acknowledge(_ kind: FrameKind, _ payload: ByteBuffer, _ context: ChannelHandlerContext) {
            var bytes = ByteBuffer()
            bytes.writeFrame(kind, Flag.acknowledges, 0, payload)
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeFrame(
        _ kind: HTTP2Connection.FrameKind, _ flags: UInt8, _ stream: UInt32, _ payload: ByteBuffer
    ) {
        writeInteger(UInt32(payload.readableBytes) << 8 | UInt32(kind.rawValue))
        writeInteger(flags)
        writeInteger(stream)
        writeImmutableBuffer(payload)
    }

    /// Removes and returns the next frame; `nil` if it is not whole. Its kind is `nil` if it is unknown.
    fileprivate mutating func readFrame() -> (HTTP2Connection.FrameKind?, UInt8, UInt32, ByteBuffer)? {
        guard let start = getInteger(at: readerIndex, as: UInt32.self), readableBytes >= 9 + Int(start >> 8),
            let (_, flags, stream) = readMultipleIntegers(as: (UInt32, UInt8, UInt32).self),
            let payload = readSlice(length: Int(start >> 8))
        else { return nil }
        return (HTTP2Connection.FrameKind(rawValue: UInt8(start & 0xff)), flags, stream & 0x7fff_ffff, payload)
    }
}
