import HTTPTypes
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import Server
import SimulationAPI

/// Checks the head of an HTTP/2 request as ``RequestHeadHandler`` and the parser do for HTTP/1.1.
///
/// - Refuses heads without an authority, with a `Host` that differs from it, with too many fields, or with a target that is not a path.
/// - Percent-encodes bytes of the target that are not ASCII.
/// - Answers `Expect: 100-continue`, unless the client announces more bytes than any route accepts.
/// - Takes fields about the connection out of answers, which HTTP/2 does not allow (RFC 9113, section 8.2.2).
final class StreamHeadHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private let requestID: () -> String
    private let maxBodyBytes: (_ target: String) -> Int
    private var isRefused = false

    init(
        limits: ConnectionLimits, requestID: @escaping () -> String, maxBodyBytes: @escaping (_ target: String) -> Int
    ) {
        self.limits = limits
        self.requestID = requestID
        self.maxBodyBytes = maxBodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The rest of a refused request is discarded.
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if let problem = problem(head) {
            isRefused = true
            return refuse(
                "the request cannot be read: \(problem)", requestID: requestID(), closes: false, context)
        }
        if head.authority == nil { head.authority = head.headerFields[.hostField] }
        if let path = head.path, !path.utf8.allSatisfy({ $0 < 0x80 }) { head.path = RequestHeadHandler.ascii(path) }
        if isAwaited(head) {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        for name in [HTTPField.Name.connection, .transferEncoding, .upgrade] { head.headerFields[name] = nil }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Pseudo-header fields that cannot be a request end the stream with PROTOCOL_ERROR.
        context.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .protocolError), promise: nil)
        context.close(promise: nil)
    }

    private func problem(_ head: HTTPRequest) -> String? {
        if head.headerFields.count > limits.headerFields {
            return "it has \(head.headerFields.count) header fields; at most \(limits.headerFields) are read"
        }
        guard let host = head.authority ?? head.headerFields[.hostField], !host.isEmpty else {
            return "it has no authority"
        }
        guard RequestHeadHandler.isHost(host) else { return RequestHeadProblem.badHost.text }
        let hosts = head.headerFields[values: .hostField]
        if hosts.count > 1 { return RequestHeadProblem.severalHosts.text }
        // Which of the two is meant is not known (RFC 9113, section 8.3.1).
        if let other = hosts.first, !other.lowercased().isIdentical(to: host.lowercased()) {
            return RequestHeadProblem.otherAuthority.text
        }
        guard let path = head.path, path.utf8.first == UInt8(ascii: "/") || path.isIdentical(to: "*") else {
            return "its target is not a path"
        }
        return nil
    }

    /// Whether the client holds the body back until it is asked.
    private func isAwaited(_ head: HTTPRequest) -> Bool {
        guard let expectation = head.headerFields[.expect],
            expectation.trimmed.lowercased().isIdentical(to: "100-continue")
        else { return false }
        return head.headerFields[.contentLength].flatMap { Int($0) } ?? 0 <= maxBodyBytes(head.path ?? "")
    }
}

extension HTTPField.Name {
    /// The host, which HTTP/2 clients may send instead of an authority.
    fileprivate static let hostField = HTTPField.Name("Host")!
}
