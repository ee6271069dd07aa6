import NIOCore
import NIOPosix
import Testing

/// A connection that says what no HTTP client would.
struct RawConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// - Parameter receiveBuffer: how much the kernel takes for the client before it is read, in bytes; nil: as it likes.
    static func open(_ server: SimProcess, receiveBuffer: Int? = nil) async throws -> RawConnection {
        let port = try #require(server.baseURL.split(separator: ":").last.flatMap { Int($0) })
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        if let receiveBuffer { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer) }
        let channel =
            try await bootstrap
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return RawConnection(channel: channel)
    }

    /// Sends `text`, reads until `isEnough`, does something without reading, and answers all that came until the server closes.
    ///
    /// - Parameter last: what ends it too, where it comes: a server that does not close has then sent everything.
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
                        // What is new, and a beginning that came before.
                        if answer.utf8.suffix(answer.utf8.count - length + last.utf8.count).contains(last.utf8) {
                            break
                        }
                    } else if isEnough(answer) {
                        isDone = true
                        try await body()
                    }
                }
            } catch is IOError {
                // Closed with a reset, which is an end too.
            }
            return answer
        }
    }

    /// Sends `text` and answers all that comes until `isEnough`, or until the server closes.
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
