import NIOCore
import NIOHTTP1

/// Problems in a request's head that the parser accepts.
package enum RequestHeadProblem: Error {
    case noHost, severalHosts, badHost, badTarget, otherAuthority, badContentLength, badTransferEncoding

    package var text: String {
        switch self {
        case .noHost: "it has no Host, which HTTP/1.1 needs"
        case .severalHosts: "it has more than one Host"
        case .badHost: "its Host is not a host name, an address, or one of them with a port"
        case .badTarget: "its target has no host name or address"
        case .otherAuthority: "its Host is not its authority"
        case .badContentLength: "Content-Length is not one whole number of at most 19 digits"
        case .badTransferEncoding:
            "Transfer-Encoding is not \"chunked\", the only coding that is supported, and only in HTTP/1.1"
        }
    }
}

/// Checks each request's head before the framework sees it, and asks for the body if the client waits for that.
///
/// - Refuses heads that RFC 9112 requires a server to refuse: no Host, several Hosts, lengths that are not whole
///   numbers.
/// - Closes the connection after the answer if the client expects that: HTTP/1.0, and every spelling of
///   `Connection: close`.
/// - Takes the host of a target that is a whole URL for `Host`, which counts for nothing then (RFC 9112, section 3.2.2).
/// - Percent-encodes bytes of the target that are not ASCII. A target in ASCII costs nothing extra.
/// - Asks a client that has ended its side of the connection whether it still reads, if its answer has not begun by then: an answer that
///   a delay or a queue keeps back is not delivered to a client that has gone. HTTP/1.0 has no answer to ask with, so the head of the
///   answer itself goes ahead of the rest.
/// - Answers `Expect: 100-continue` (RFC 9110, section 10.1.1) once all earlier requests on the connection are
///   answered. A client that announces more bytes than any route accepts is not asked for the body.
package final class RequestHeadHandler: ChannelDuplexHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The rest of an answer, and how the connection is to be closed after it.
    private struct HeldBack {
        var parts: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
        var closes: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    }

    private let maxBodyBytes: @Sendable (_ target: String) -> Int
    private let decoder: RequestDecoder
    /// The number of requests whose head has arrived and whose answer is not complete.
    private var unanswered = 0
    /// Whether the client of the latest request waits before it sends the body.
    private var isAwaited = false
    /// Whether the client has ended its side of the connection. It may still wait for answers.
    private var isInputClosed = false
    /// Whether an answer waits, of a fault's hold or for another reason, so that its client must not be taken for one that reads.
    private var isWatched = false
    /// Whether the head of an answer was written, and its end was not. An interim answer would be a part of its body.
    private var isAnswering = false
    /// Whether the client of the latest request may be sent an interim answer.
    private var takesInterimAnswers = false
    /// Whether the head of the next answer goes ahead of the rest, because nothing else can ask whether its client still reads.
    private var sendsHeadAhead = false
    /// The parts and closes that follow the head of an answer which went ahead; `nil` if none did.
    private var heldBack: HeldBack?
    /// Whether a head was refused. Nothing after it on the connection is read.
    private var isRefused = false

    /// - Parameters:
    ///   - decoder: the decoder whose requests these are.
    ///   - maxBodyBytes: the maximum announced size for which a request to a target is asked for its body, in bytes.
    init(_ decoder: RequestDecoder, maxBodyBytes: @escaping @Sendable (_ target: String) -> Int) {
        self.decoder = decoder
        self.maxBodyBytes = maxBodyBytes
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        let part = unwrapInboundIn(data)
        if case .end = part { decoder.ended() }
        guard case .head(var head) = part else {
            // The client sends the body without waiting.
            isAwaited = false
            return context.fireChannelRead(data)
        }
        do {
            let facts = try RequestHeadSummary(head)
            decoder.began(isLast: facts.endsHTTP)
            try prepare(&head, facts)
            unanswered += 1
            takesInterimAnswers = !facts.isOld
            isAwaited = facts.expectsContinue && facts.contentLength ?? 0 <= maxBodyBytes(head.uri)
            askForBody(context)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        } catch {
            isRefused = true
            context.fireErrorCaught(error)
        }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if heldBack != nil {
            heldBack?.parts.append((data, promise))
            return
        }
        let part = unwrapOutboundIn(data)
        if case .head = part {
            isAnswering = true
            // A client that receives an answer no longer waits.
            if unanswered == 1 { isAwaited = false }
        }
        context.write(data, promise: promise)
        if sendsHeadAhead { holdBack(context) }
        guard case .end = part else { return }
        unanswered -= 1
        (isAnswering, isWatched) = (false, false)
        askForBody(context)
        if isInputClosed, unanswered > 0 { probeLater(context) }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if heldBack == nil {
            context.close(mode: mode, promise: promise)
        } else {
            heldBack?.closes.append((mode, promise))
        }
    }

    /// Sends the head of an answer that was just written, and the rest once the system of a client that has gone has had the time to
    /// answer it with a reset.
    private func holdBack(_ context: ChannelHandlerContext) {
        (sendsHeadAhead, heldBack) = (false, HeldBack())
        context.flush()
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            guard let rest = self.heldBack else { return }
            self.heldBack = nil
            for part in rest.parts { self.write(context: context, data: part.data, promise: part.promise) }
            context.flush()
            for close in rest.closes { context.close(mode: close.mode, promise: close.promise) }
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            if isWatched { probe(context) } else { probeLater(context) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The time after the end of a client's side at which an answer that has not begun is taken for one that waits.
    private static let patience = TimeAmount.milliseconds(20)

    /// Finds out whether the client of a held request still reads, once it has ended its side of the connection. The channel ends
    /// if it does not.
    static func findOutWhetherClientReads(_ channel: any Channel) {
        channel.eventLoop.execute {
            // A stream of HTTP/2 has no such handler, and needs none: its client resets it. A closed connection has none either.
            guard let context = try? channel.pipeline.syncOperations.context(handlerType: Self.self),
                let handler = context.handler as? Self
            else { return }
            handler.isWatched = true
            handler.probe(context)
        }
    }

    /// Sends the interim answer 102, which clients ignore (RFC 9110, section 15.2). The system of a client that has gone answers it
    /// with a reset. Without it, a client that has gone looks like one that has sent all.
    private func probe(_ context: ChannelHandlerContext) {
        guard isWatched, isInputClosed, !isAnswering, unanswered == 1 else { return }
        isWatched = false
        guard takesInterimAnswers else {
            sendsHeadAhead = true
            return
        }
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .processing))), promise: nil)
    }

    /// Most answers have begun by then, and their clients get nothing beside them.
    private func probeLater(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            self.isWatched = true
            self.probe(context)
        }
    }

    private func askForBody(_ context: ChannelHandlerContext) {
        guard isAwaited, unanswered == 1 else { return }
        isAwaited = false
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    private func prepare(_ head: inout HTTPRequestHead, _ facts: RequestHeadSummary) throws {
        if facts.isOld || !head.isKeepAlive {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if facts.hasOddConnection {
            head.headers.remove(name: "Connection")
        }
        if head.uri.utf8.first != UInt8(ascii: "/"), let authority = try Self.authority(of: head.uri) {
            head.headers.replaceOrAdd(name: "Host", value: authority)
        }
        if !head.uri.utf8.allSatisfy({ $0 < 0x80 }) { head.uri = Self.ascii(head.uri) }
    }

    /// The host and port of a target that is a whole URL; `nil` for other targets.
    ///
    /// - Throws: `RequestHeadProblem` if it has no host.
    private static func authority(of target: String) throws -> String? {
        let parts = target.split(atEach: "://")
        guard parts.count > 1 else { return nil }
        let end = parts[1].utf8.firstIndex { "/?#".utf8.contains($0) } ?? parts[1].endIndex
        let authority = String(parts[1][..<end])
        guard !authority.isEmpty, isHost(authority) else { throw RequestHeadProblem.badTarget }
        return authority
    }

    /// A target in which each byte that is not ASCII is percent-encoded.
    package static func ascii(_ target: String) -> String {
        target.percentEncoded { $0 < 0x80 }
    }

    /// Whether all characters are allowed in a host and port (RFC 3986, section 3.2.2). An empty text is valid, as in
    /// the RFC.
    package static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isLetterOrDigit || "-._~%!$&'()*+,;=:[]".utf8.contains($0) }
    }
}

/// The facts in a head about the message and its connection, read in one pass.
private struct RequestHeadSummary {
    /// Whether the version is HTTP/1.0.
    let isOld: Bool
    private(set) var contentLength: Int?
    /// Whether a body follows that the client holds back until it is asked.
    private(set) var expectsContinue = false
    /// Whether `Connection` has characters that are not ASCII. Such a field is ignored.
    private(set) var hasOddConnection = false
    private var hasTransferEncoding = false
    private var hasUpgrade = false
    private var namesUpgrade = false
    private let isConnect: Bool

    /// Whether NIO's parser takes what follows the request for another protocol: after a `CONNECT`, and after an `Upgrade` that
    /// `Connection` names.
    var endsHTTP: Bool { isConnect || hasUpgrade && namesUpgrade }

    init(_ head: HTTPRequestHead) throws {
        isOld = head.version.minor == 0
        isConnect = head.method == .CONNECT
        var hosts = 0
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where Self.isName(name, "host"):
                hosts += 1
                guard RequestHeadHandler.isHost(value) else { throw RequestHeadProblem.badHost }
            case 6 where Self.isName(name, "expect"):
                expectsContinue = expectsContinue || value.trimmed.lowercased().isIdentical(to: "100-continue")
            case 10 where Self.isName(name, "connection"):
                hasOddConnection = hasOddConnection || !value.utf8.allSatisfy { $0 < 0x80 }
                namesUpgrade = namesUpgrade || Self.namesUpgrade(value)
            case 7 where Self.isName(name, "upgrade"): hasUpgrade = true
            case 14 where Self.isName(name, "content-length"): try read(contentLength: value)
            case 17 where Self.isName(name, "transfer-encoding"): try read(transferEncoding: value)
            default: break
            }
        }
        if hosts > 1 { throw RequestHeadProblem.severalHosts }
        if hosts == 0, !isOld { throw RequestHeadProblem.noHost }
        expectsContinue = expectsContinue && !isOld && (hasTransferEncoding || contentLength ?? 0 > 0)
    }

    private mutating func read(contentLength text: String) throws {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text),
            contentLength == nil
        else { throw RequestHeadProblem.badContentLength }
        contentLength = length
    }

    private mutating func read(transferEncoding text: String) throws {
        guard text.trimmed.lowercased().isIdentical(to: "chunked"), !hasTransferEncoding, !isOld else {
            throw RequestHeadProblem.badTransferEncoding
        }
        hasTransferEncoding = true
    }

    /// Whether `upgrade` is one of the words of `Connection`, as NIO's parser reads it: a tab counts as a part of a word unless it stands
    /// before it.
    private static func namesUpgrade(_ connection: String) -> Bool {
        // Most clients send `keep-alive`, which has no such letter.
        connection.utf8.contains { $0 | 0x20 == UInt8(ascii: "u") }
            && connection.utf8.split(separator: UInt8(ascii: ",")).contains { part in
                let start = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                let word = start.lastIndex { $0 != UInt8(ascii: " ") }.map { start[...$0] } ?? start
                return isName(word, "upgrade")
            }
    }

    private static func isName(_ name: String, _ wanted: String) -> Bool { isName(name.utf8[...], wanted) }

    private static func isName(_ name: Substring.UTF8View, _ wanted: String) -> Bool {
        name.elementsEqual(wanted.utf8) { $0 | 0x20 == $1 }
    }
}
