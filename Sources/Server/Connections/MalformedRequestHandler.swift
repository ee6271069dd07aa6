import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers anything that is not HTTP with the error envelope, names the problem, and closes the connection.
///
/// The framework would answer with an empty body.
///
/// Also follows, for each answer, whether the kernel took its last byte before the connection failed: the ends of answers pass here
/// anyway, and another handler would cost each request more than that look.
final class MalformedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    let answers = UnsentAnswers()
    private let limits: ConnectionLimits
    private let requestID: @Sendable () -> String
    /// The number of requests whose head has arrived and whose answer is not complete.
    private var unanswered = 0
    /// Whether a request's head has arrived and its end has not.
    private var isReading = false
    /// The problem to answer once the earlier requests are answered.
    private var waiting: String?

    init(limits: ConnectionLimits, requestID: @escaping @Sendable () -> String) {
        self.limits = limits
        self.requestID = requestID
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            if unanswered > 0 { answers.addPipelined() }
            unanswered += 1
            isReading = true
        case .body: break
        case .end: isReading = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        guard isEnd else { return context.write(data, promise: promise) }
        context.write(data, promise: answers.promise(promise, on: context.eventLoop))
        unanswered -= 1
        if unanswered == 0, let problem = waiting { answer(problem, context) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        answers.end(with: context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answers.end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A damaged body is reported to the handler that reads it.
        guard let problem = (error as? HTTPParserError).map(problem) ?? (error as? RequestHeadProblem)?.text, !isReading
        else { return context.fireErrorCaught(error) }
        // A connection that ends between two requests is not an error.
        guard (error as? HTTPParserError) != .invalidEOFState else {
            return context.close(promise: nil)
        }
        // Only the first problem is reported: later ones may result from it.
        if unanswered == 0 { answer(problem, context) } else { waiting = waiting ?? problem }
    }

    private func answer(_ problem: String, _ context: ChannelHandlerContext) {
        waiting = nil
        refuse("the request is not HTTP/1.1: \(problem)", requestID: requestID(), closes: true, context)
        // Closes the output side only. The client's further bytes are read and dropped, so that no TCP reset destroys
        // the answer.
        context.close(mode: .output, promise: nil)
    }

    private func problem(_ error: HTTPParserError) -> String {
        switch error {
        case .headerOverflow:
            "its header is too large; at most \(limits.headerBytes) bytes and \(limits.headerFields) fields are read"
        case .invalidVersion: "its version is not one of HTTP/1.x"
        case .invalidMethod: "its method is unknown; was it meant for https?"
        case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
            "its target is not a path"
        case .invalidHeaderToken: "a header field has a character that is not allowed"
        case .invalidContentLength, .unexpectedContentLength:
            "Content-Length is not one whole number, or is sent together with Transfer-Encoding"
        case .invalidChunkSize: "a chunk's size is not hexadecimal"
        case .paused:
            "it is HTTP/2 or an upgrade; HTTP/2 is only on the HTTPS port (--tls-port), and upgrades are not supported"
        // The parser reports these as `unknown`.
        case .unknown:
            "a line has no end, or Transfer-Encoding is not \"chunked\", or is sent together with Content-Length"
        default: "\(error)"
        }
    }
}

extension ChannelOutboundHandler where OutboundOut == HTTPResponsePart {
    /// Answers a request that cannot be read with the error envelope.
    ///
    /// - Parameter closes: whether the answer says that the connection is closed.
    package func refuse(_ problem: String, requestID: String, closes: Bool, _ context: ChannelHandlerContext) {
        let (status, body) = ErrorAnswer.encoded(problem, requestID: requestID)
        var fields: HTTPFields = [.contentType: "application/json", .contentLength: String(body.count)]
        if closes { fields[.connection] = "close" }
        fields[.requestID] = requestID
        context.write(wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
