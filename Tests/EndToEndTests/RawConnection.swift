import NIOCore
import NIOPosix
import Testing

/// A raw connection, for bytes that an HTTP client would not send.
struct RawConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// - Parameters:
    ///   - receiveBuffer: the size of the socket's receive buffer in bytes, `nil` for the system's default.
    ///   - resets: whether the connection ends with a reset. A server that does not write cannot tell another end from a client
    ///     that has only sent all it has.
    ///   - ends: whether ``exchangeAndEnd(_:)`` ends this side alone.
    static func open(
        _ server: SimProcess, at address: String = "127.0.0.1", receiveBuffer: Int? = nil, resets: Bool = false,
        ends: Bool = false
    ) async throws -> RawConnection {
        let port = try #require(server.baseURL.split(separator: ":").last.flatMap { Int($0) })
        return try await open(port: port, at: address, receiveBuffer: receiveBuffer, resets: resets, ends: ends)
    }

    static func open(
        port: Int, at address: String = "127.0.0.1", receiveBuffer: Int? = nil, resets: Bool = false, ends: Bool = false
    ) async throws -> RawConnection {
        // A client that still sends keeps its side open when the server has ended the other.
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
        if let receiveBuffer { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer) }
        let channel =
            try await bootstrap
            .connect(host: address, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: ends))
                }
            }
        if resets {
            let options = try #require(channel.channel as? any SocketOptionProvider)
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        return RawConnection(channel: channel)
    }

    /// Sends `text`, reads until `isEnough`, runs `body` without reading, then reads until the server closes. Returns all text.
    ///
    /// - Parameter last: text that also ends the reading. A server that did not close has then sent everything.
    func exchange(
        _ text: String, orUntil last: String, until isEnough: @escaping @Sendable (String) -> Bool,
        thenWithoutReading body: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            var isDone = false
            do {
                for try await part in inbound {
                    let length = answer.utf8.count
                    answer += String(buffer: part)
                    if isDone {
                        // `last` may begin in the earlier part, so its length is added.
                        if answer.utf8.suffix(answer.utf8.count - length + last.utf8.count).contains(last.utf8) {
                            break
                        }
                    } else if isEnough(answer) {
                        isDone = true
                        try await body()
                    }
                }
            } catch is IOError {
                // The server closed the connection with a reset.
            }
            return answer
        }
    }

    /// Sends `text` and then so many bytes without reading, and returns what the server sends until it closes.
    func exchange(_ text: String, thenBytes count: Int) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 65_536)
            for _ in 0..<count / part.readableBytes { try await outbound.write(part) }
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }

    /// Sends `text` in parts of so many bytes, and returns all text until the server closes.
    func exchange(_ text: String, inPartsOf size: Int) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            var rest = ByteBuffer(string: text)
            while let part = rest.readSlice(length: min(size, rest.readableBytes)), part.readableBytes > 0 {
                try await outbound.write(part)
            }
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }

    /// Sends `text`, ends this side of the connection, and returns all text until the server closes.
    func exchangeAndEnd(_ text: String) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            outbound.finish()
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }

    /// Sends `text`, and returns all text until `isEnough` or until the server closes.
    func exchange(_ text: String, until isEnough: @Sendable (String) -> Bool = { _ in false }) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                if isEnough(answer) { break }
            }
            return answer
        }
    }
}
