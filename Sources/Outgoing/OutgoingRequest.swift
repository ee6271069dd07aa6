import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request to a server, with a connection of its own.
package struct OutgoingRequest: Sendable {
    package enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        /// A body that is made while it is sent.
        ///
        /// - Parameters:
        ///   - length: its size in bytes; `nil` if it is not known, and sent in chunks. Other parts than these end the exchange.
        ///   - next: the next part; `nil` at its end. Its error ends the exchange.
        case parts(length: Int?, next: @Sendable () async throws -> ByteBuffer?)
    }

    package var method: HTTPMethod
    /// The fields beside Host and those of the body, which the client adds. A Host among them is sent instead.
    package var headers: HTTPHeaders = [:]
    package var body = Body.none
    /// The numeric addresses that stand for the host's name. `nil` to look the name up.
    package var addresses: [String]?

    let isEncrypted: Bool
    /// A name, or a numeric address without brackets.
    let host: String
    let port: Int
    /// The path and query.
    let target: String
    /// The address that the first connection of the request has, once there is one.
    let peer = NIOLockedValueBox<String?>(nil)

    /// - Parameter url: `http:` or `https:`, with a host. A user in it is not sent.
    /// - Throws: ``OutgoingError/badURL(_:)``.
    package init(_ method: HTTPMethod = .GET, _ url: String) throws {
        self.method = method
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host?.trimmingCharacters(in: ["[", "]"]),
            !host.isEmpty, (1...65_535).contains(parts.port ?? 80)
        else { throw OutgoingError.badURL(url) }
        isEncrypted = scheme == "https"
        self.host = host
        port = parts.port ?? (isEncrypted ? 443 : 80)
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// The reason why the exchange failed, after the address that it is about: that of the connection, or those that did not answer. An
    /// address that the URL has is not said again, nor are those that the error names itself.
    package func located(_ reason: String, _ error: (any Error)? = nil) -> String {
        guard !(error is NIOConnectionError), !NIOConnectionError.isAddress(host) else { return reason }
        if let address = peer.withLockedValue({ $0 }) { return "\(address): \(reason)" }
        switch error {
        case OutgoingError.deadlineExceeded?, ChannelError.connectTimeout?:
            guard let addresses, !addresses.isEmpty else { return reason }
            return "\(addresses.joined(separator: ", ")): \(reason)"
        default: return reason
        }
    }

    /// The head as it is sent: with Host, and the length of the body.
    var head: HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
        if !headers.contains(name: "Host") {
            let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            head.headers.add(name: "Host", value: port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)")
        }
        switch body {
        case .none:
            // Some servers wait for a body where the method usually has one.
            if [.POST, .PUT, .PATCH].contains(method) { head.headers.replaceOrAdd(name: "Content-Length", value: "0") }
        case .bytes(let bytes):
            head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.readableBytes)")
        case .parts(let length?, _): head.headers.replaceOrAdd(name: "Content-Length", value: "\(length)")
        case .parts(nil, _): head.headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
        }
        return head
    }
}

/// An answer, which can be read while its connection is open.
package struct OutgoingAnswer {
    package let status: Int
    package let headers: HTTPHeaders
    /// Can be read once. What is not read is not received.
    package let body: Body

    /// The parts of a body as they come. Not for several tasks at once.
    package final class Body: AsyncSequence, AsyncIteratorProtocol {
        package typealias Element = ByteBuffer

        private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
        private var isOver = false

        init(_ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator) {
            self.parts = parts
        }

        package func makeAsyncIterator() -> Body { self }

        /// The head before the body. Comes first, and once.
        func head() async throws -> HTTPResponseHead {
            guard case .head(let head)? = try await read() else { throw OutgoingError.closedBeforeAnswer }
            return head
        }

        /// The next bytes; `nil` at the end.
        ///
        /// - Throws: ``OutgoingError/closedInAnswer`` if the answer is not complete.
        package func next() async throws -> ByteBuffer? {
            guard !isOver else { return nil }
            switch try await read() {
            case .body(let bytes)?: return bytes
            case .end?:
                isOver = true
                return nil
            case .head?, nil: throw OutgoingError.closedInAnswer
            }
        }

        private func read() async throws -> HTTPClientResponsePart? {
            var parts = parts
            defer { self.parts = parts }
            let part = try await parts.next()
            // The stream of a cancelled task just ends.
            if part == nil { try Task.checkCancellation() }
            return part
        }

        /// All bytes.
        ///
        /// - Throws: ``OutgoingError/bodyTooLong(_:)`` if there are more than `maxBytes`.
        package func collect(upTo maxBytes: Int) async throws -> ByteBuffer {
            var whole = ByteBuffer()
            for try await part in self {
                guard whole.readableBytes + part.readableBytes <= maxBytes else {
                    throw OutgoingError.bodyTooLong(maxBytes)
                }
                whole.writeImmutableBuffer(part)
            }
            return whole
        }
    }
}

/// The reason why there is no answer, or not a whole one. Errors of sockets, of the parser and of encryption come as they are.
package enum OutgoingError: Error, Equatable {
    /// A text that is not an `http:` or `https:` URL with a host and a port from 1 to 65535.
    case badURL(String)
    /// An `https:` URL, and no encryption.
    case withoutEncryption
    case deadlineExceeded
    case closedBeforeAnswer
    case closedInAnswer
    /// A body of more bytes than its reader takes.
    case bodyTooLong(Int)
    /// A request whose body has more or fewer bytes than it said.
    case wrongBodyLength
}

extension OutgoingError: CustomStringConvertible {
    package var description: String {
        switch self {
        // Without the URL, which may hold a password.
        case .badURL: "the URL must be http or https, with a host and a port from 1 to 65535"
        case .withoutEncryption:
            "this program was built without HTTPS: build it with \"HTTPS=1 make serve\", or use a released package"
        case .deadlineExceeded: "the exchange did not end in time"
        case .closedBeforeAnswer: "the connection was closed before an answer came"
        case .closedInAnswer: "the connection was closed before the answer was complete"
        case .bodyTooLong(let maxBytes): "the answer's body has more than \(maxBytes) bytes"
        case .wrongBodyLength: "the request's body has another length than it said"
        }
    }
}
