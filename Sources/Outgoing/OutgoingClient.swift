import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP/1.1 client of webhooks and of the command line.
///
/// Each exchange has a connection of its own, which is closed at its end: no server closes one just as it is used again. Nothing is
/// repeated, no redirect is followed, nothing is decompressed, and no proxy is asked. The addresses of a name are tried in turn
/// (RFC 8305).
package struct OutgoingClient: Sendable {
    /// The most that an answer may have, its head and the informational answers before it included.
    package struct AnswerLimit: Sendable {
        package let bytes: Int
        /// The pieces in which the bytes may come: each costs processor time.
        package let pieces: Int

        package init(bytes: Int, pieces: Int) {
            self.bytes = bytes
            self.pieces = pieces
        }

        /// The limit of receivers of webhooks: far more than the head of an answer and the part of its body that is saved.
        package static let webhook = AnswerLimit(bytes: 65_536, pieces: 1000)
    }

    private let encryption: (any OutgoingEncryption)?
    private let answerLimit: AnswerLimit?
    private let connectTimeout: TimeAmount

    /// - Parameters:
    ///   - encryption: encrypts the connections of `https:` URLs; `nil` if they are refused.
    ///   - answerLimit: `nil` for no limit but the reader's own, and that of the parser, which takes heads of up to 80 KiB.
    ///   - connectTimeout: the maximum time until a connection is open, for exchanges without a deadline.
    package init(
        encryption: (any OutgoingEncryption)? = OutgoingClient.installedEncryption, answerLimit: AnswerLimit? = nil,
        connectTimeout: TimeAmount = .seconds(10)
    ) {
        self.encryption = encryption
        self.answerLimit = answerLimit
        self.connectTimeout = connectTimeout
    }

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// Sends a request and hands its answer to `read` once the head has come. The body of the request may still be under way: a server may
    /// refuse a file before it has all of it. Cancelling the task closes the connection.
    ///
    /// - Parameter deadline: the moment at which the connection is closed, wherever the exchange is.
    /// - Throws: ``OutgoingError``, ``AnswerTooLong``, `NIOConnectionError`, which has the error of each address, `IOError`,
    ///   `HTTPParserError`, errors of encryption, and those of `read` and of the request's body.
    package func exchange<Value: Sendable>(
        _ request: OutgoingRequest, deadline: NIODeadline = .distantFuture,
        _ read: (OutgoingAnswer) async throws -> Value
    ) async throws -> Value {
        let connection = try await connect(request, deadline)
        let timer = deadline == .distantFuture ? nil : Self.close(connection.channel, at: deadline)
        defer { timer?.cancel() }
        return try await connection.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    do {
                        try await Self.send(request, to: outbound)
                    } catch {
                        // A body that cannot be made ends the answer too, with its reason. After the connection's own end this has no
                        // effect, so that an answer before the end of the request can be read.
                        connection.channel.pipeline.fireErrorCaught(error)
                    }
                }
                let body = OutgoingAnswer.Body(inbound.makeAsyncIterator())
                let head = try await body.head()
                return try await read(
                    OutgoingAnswer(status: Int(head.status.code), headers: head.headers, body: body))
            }
        }
    }

    private static func send(
        _ request: OutgoingRequest, to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    ) async throws {
        try await outbound.write(.head(request.head))
        switch request.body {
        case .none: break
        case .bytes(let bytes): try await outbound.write(.body(.byteBuffer(bytes)))
        case .parts(let length, let next):
            var left = length
            while let part = try await next() {
                left = left.map { $0 - part.readableBytes }
                guard left ?? 0 >= 0 else { throw OutgoingError.wrongBodyLength }
                try await outbound.write(.body(.byteBuffer(part)))
            }
            guard left ?? 0 == 0 else { throw OutgoingError.wrongBodyLength }
        }
        try await outbound.write(.end(nil))
    }

    private static func close(_ channel: any Channel, at deadline: NIODeadline) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(deadline: deadline) {
            channel.pipeline.fireErrorCaught(OutgoingError.deadlineExceeded)
            channel.close(promise: nil)
        }
    }

    // MARK: Connections

    private func connect(_ request: OutgoingRequest, _ deadline: NIODeadline) async throws -> Connection {
        if request.isEncrypted, encryption == nil { throw OutgoingError.withoutEncryption }
        let left = deadline == .distantFuture ? connectTimeout : deadline - .now()
        guard left > .zero else { throw OutgoingError.deadlineExceeded }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let attempts = ConnectionAttempts()
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(left).channelInitializer { attempts.add($0) }
            .resolver(try request.addresses.map { try GivenAddresses($0, port: request.port, on: loop) })
        return try await withTaskCancellationHandler {
            do {
                return try await bootstrap.connect(host: request.host, port: request.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try prepare(channel, for: request) }
                }
            } catch {
                try Task.checkCancellation()
                // The time was that of the deadline.
                if NIODeadline.now() >= deadline { throw OutgoingError.deadlineExceeded }
                throw error
            }
        } onCancel: {
            attempts.end()
        }
    }

    private func prepare(_ channel: any Channel, for request: OutgoingRequest) throws -> Connection {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(PeerHandler(request.peer))
        if request.isEncrypted { try encryption?.addHandlers(to: channel, for: request.host) }
        if let answerLimit { try pipeline.addHandler(AnswerBoundHandler(answerLimit)) }
        try pipeline.addHTTPClientHandlers()
        return try Connection(wrappingChannelSynchronously: channel)
    }
}

/// The connections that are tried for one request, which end with it.
private final class ConnectionAttempts: Sendable {
    private let state = NIOLockedValueBox<(isOver: Bool, channels: [any Channel])>((false, []))

    func add(_ channel: any Channel) -> EventLoopFuture<Void> {
        let isOver = state.withLockedValue { state in
            state.channels.append(channel)
            return state.isOver
        }
        return isOver
            ? channel.eventLoop.makeFailedFuture(CancellationError()) : channel.eventLoop.makeSucceededVoidFuture()
    }

    func end() {
        let channels = state.withLockedValue { state in
            state.isOver = true
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}

/// Notes the address of a connection as soon as it is made: it is not known any more once the connection is closed.
private final class PeerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: NIOLockedValueBox<String?>

    init(_ peer: NIOLockedValueBox<String?>) {
        self.peer = peer
    }

    func channelActive(context: ChannelHandlerContext) {
        peer.withLockedValue { $0 = $0 ?? context.remoteAddress?.ipAddress }
        context.fireChannelActive()
    }
}
