import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Answers `Expect: 100-continue` with 100 (RFC 9110, section 10.1.1), so that a client which waits for it sends its body
/// at once. One that announces more than any route takes is not asked for it.
final class ExpectContinueHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let largestBody: @Sendable (HTTPRequest) -> Int

    init(largestBody: @escaping @Sendable (HTTPRequest) -> Int) {
        self.largestBody = largestBody
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.headerFields[.expect]?.lowercased() == "100-continue",
            head.headerFields[.contentLength].flatMap({ Int($0) }) ?? 0 <= largestBody(head)
        {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}
