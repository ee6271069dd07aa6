import DequeModule
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes
import Server

/// The bytes of answers that wait on all HTTP/2 connections of the server, and the connections whose streams wait for them to
/// become fewer. Thread-safe.
final class WaitingAnswers: Sendable {
    private struct State {
        var bytes = 0
        var reserved = 0
        var held: Deque<StreamAdmission> = []
    }

    private let state = NIOLockedValueBox(State())

    /// The maximum number of bytes that wait on all connections [D http2-bounds].
    let maxBytes: Int

    /// The maximum of one connection, as a part of what is left of ``maxBytes``. Connections that read nothing can then take
    /// only a part of it, and others always find some left.
    private static let share = 8

    private static let reservedTime = TimeAmount.milliseconds(100)
    private static let reservedTimeOfEach = TimeAmount.milliseconds(10)

    init(maxBytes: Int = 64 * 1024 * 1024) {
        self.maxBytes = maxBytes
    }

    /// The number of bytes that wait.
    var bytes: Int { state.withLockedValue { $0.bytes } }

    /// The maximum that may wait on one connection at present.
    var limitOfOne: Int { state.withLockedValue { max(0, maxBytes - $0.bytes) / Self.share } }

    /// Adds bytes that wait, or takes away those that went. If they went, the connections that waited for it try again.
    func change(_ count: Int) {
        let next = state.withLockedValue { state -> Deque<StreamAdmission> in
            state.bytes += count
            guard count < 0, !state.held.isEmpty else { return [] }
            defer { state.held = [] }
            return state.held
        }
        for admission in next { admission.retry() }
    }

    /// Counts a request whose answer is expected soon.
    ///
    /// - Returns: the time for which it counts. A busy server needs longer until an answer begins, so the time grows with the
    ///   requests that count already.
    func reserve() -> TimeAmount {
        state.withLockedValue { state in
            defer { state.reserved += 1 }
            return Self.reservedTime + Self.reservedTimeOfEach * state.reserved
        }
    }

    /// Ends what ``reserve()`` began.
    func release() {
        state.withLockedValue { $0.reserved -= 1 }
    }

    /// Asks to be told when bytes go.
    func hold(_ admission: StreamAdmission) {
        state.withLockedValue { $0.held.append(admission) }
    }
}

/// Decides when the streams of one HTTP/2 connection are read. A stream waits, without a cost but its head, while the answers
/// on the connection wait for the client, while many of its requests are in progress, and while the server's answers take as
/// much memory as they may. A connection would otherwise count as many times as it has streams [D http2-bounds].
///
/// All of it belongs to the connection's event loop, except ``finished(_:)`` and ``retry()``.
final class StreamAdmission: @unchecked Sendable {
    // `@unchecked`: the event loop alone touches the variables, and each method checks that it does.

    /// The maximum number of bytes of answers that wait on one connection.
    static let maxBytes = 1024 * 1024
    /// The maximum number of requests of one connection that are in progress. A stream that the client has reset counts until
    /// its request is done.
    static let maxInProgress = 100
    /// A request in progress counts for as many bytes as the connection's answers have, on average, until its answer begins
    /// or the time of ``WaitingAnswers/reserve()`` is over: requests that come together must not all be begun before the
    /// first answer is known.
    private static let reservations = 16_384...maxBytes
    private static let firstReservation = 131_072

    private let eventLoop: any EventLoop
    private let all: WaitingAnswers
    private let idleTime: TimeAmount
    private let close: () -> Void
    private var bytes = 0
    private var inProgress = 0
    private var reserved = 0
    private var averageBytes = firstReservation
    private var held: Deque<StreamTicket> = []
    /// The bodies that are made while they are sent, and wait to make their next piece.
    private var makers: Deque<Maker> = []
    /// The bytes of the pieces that are being made.
    private var made = 0
    private var isHeldByAll = false
    private var progress = 0
    private var isWatched = false

    private struct Maker {
        let ticket: StreamTicket
        let bytes: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// - Parameter idleTime: the real time after which a connection is closed whose client reads nothing of the answers that wait.
    init(on eventLoop: any EventLoop, _ all: WaitingAnswers, idleTime: TimeAmount, close: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.all = all
        self.idleTime = idleTime
        self.close = close
    }

    /// Asks for a stream to be read. It is read now or later, unless it ends before.
    func admit(_ ticket: StreamTicket) {
        eventLoop.assertInEventLoop()
        held.append(ticket)
        // At most as many as a connection may have open streams are not over.
        if held.count > 2 * Self.maxInProgress { held.removeAll(where: \.isOver) }
        readHeld()
    }

    /// Ends the request of a stream, also if the stream was never read.
    func finished(_ ticket: StreamTicket) {
        eventLoop.execute { [self] in
            ticket.isOver = true
            endRoom(of: ticket)
            if ticket.isInProgress {
                ticket.isInProgress = false
                inProgress -= 1
                release(ticket)
            }
            admitNext()
        }
    }

    /// Looks again whether held streams may go on.
    func retry() {
        eventLoop.execute { [self] in
            isHeldByAll = false
            admitNext()
        }
    }

    /// Waits until a body may make a piece of as many bytes: until they may wait on the connection. Other threads may call it.
    ///
    /// - Throws: `CancellationError` if the stream has ended.
    func awaitRoom(for count: Int, of ticket: StreamTicket) async throws {
        try await withCheckedThrowingContinuation { continuation in
            eventLoop.execute { [self] in
                endRoom(of: ticket)
                makers.append(Maker(ticket: ticket, bytes: count, continuation: continuation))
                admitNext()
            }
        }
    }

    /// The stream has ended: its body is not made any further.
    func streamEnded(_ ticket: StreamTicket) {
        eventLoop.assertInEventLoop()
        let ended = makers.filter { $0.ticket === ticket }
        makers.removeAll { $0.ticket === ticket }
        for maker in ended { maker.continuation.resume(throwing: CancellationError()) }
    }

    private func endRoom(of ticket: StreamTicket) {
        made -= ticket.room
        ticket.room = 0
    }

    /// Answers that have begun go on before others are begun.
    private func admitNext() {
        makePieces()
        readHeld()
    }

    private func makePieces() {
        while let next = makers.first {
            guard next.ticket.isOver || mayWait(next.bytes) else { return }
            makers.removeFirst()
            guard !next.ticket.isOver else {
                next.continuation.resume(throwing: CancellationError())
                continue
            }
            next.ticket.room = next.bytes
            made += next.bytes
            next.continuation.resume()
        }
    }

    /// Whether more bytes may wait besides those that do, and those that are being made.
    ///
    /// - Parameter evenIfAlone: whether they may in any case if nothing waits on the connection.
    private func mayWait(_ count: Int, evenIfAlone: Bool = true) -> Bool {
        if evenIfAlone, bytes == 0, made == 0 { return true }
        let counted = bytes + made + count
        guard counted <= Self.maxBytes else { return false }
        guard counted <= all.limitOfOne else {
            if !isHeldByAll { all.hold(self) }
            isHeldByAll = true
            return false
        }
        return true
    }

    /// Counts bytes of an answer that are written.
    func written(_ count: Int, of ticket: StreamTicket) {
        eventLoop.assertInEventLoop()
        if ticket.isReserving { averageBytes = (averageBytes + count) / 2 }
        release(ticket)
        endRoom(of: ticket)
        bytes += count
        all.change(count)
        watch()
    }

    /// Counts bytes of an answer that left the connection, or were dropped with their stream.
    func sent(_ count: Int) {
        eventLoop.assertInEventLoop()
        bytes -= count
        progress += 1
        all.change(-count)
        admitNext()
    }

    /// Ends the reservation of a stream, whose answer has begun or takes long.
    func release(_ ticket: StreamTicket) {
        guard ticket.isReserving else { return }
        ticket.isReserving = false
        reserved -= 1
        all.release()
    }

    private func readHeld() {
        eventLoop.assertInEventLoop()
        while let next = held.first {
            guard !next.isOver else {
                held.removeFirst()
                continue
            }
            guard mayRead else { return }
            held.removeFirst()
            next.isInProgress = true
            next.isReserving = true
            inProgress += 1
            reserved += 1
            let time = all.reserve()
            next.read()
            // Both are kept until then: what counts on all connections must end.
            eventLoop.assumeIsolated().scheduleTask(in: time) {
                guard next.isReserving else { return }
                self.release(next)
                self.readHeld()
            }
        }
    }

    private var mayRead: Bool {
        guard inProgress < Self.maxInProgress else { return false }
        // A connection on which nothing waits is read in any case: one answer at a time, as with HTTP/1.1.
        if reserved == 0, bytes == 0, made == 0 { return true }
        let reservation = min(max(averageBytes, Self.reservations.lowerBound), Self.reservations.upperBound)
        return mayWait((reserved + 1) * reservation, evenIfAlone: false)
    }

    /// Closes the connection if answers wait and the client reads none of them for the idle time.
    private func watch() {
        guard !isWatched else { return }
        isWatched = true
        let seen = progress
        eventLoop.assumeIsolated().scheduleTask(in: idleTime) { [weak self] in
            guard let self else { return }
            isWatched = false
            guard bytes > 0 else { return }
            if progress == seen { close() } else { watch() }
        }
    }
}

/// The place of one stream among those of its connection. Belongs to the connection's event loop.
final class StreamTicket: MultiplexedStream, @unchecked Sendable {
    // `@unchecked`: see ``StreamAdmission``.
    fileprivate var isInProgress = false
    fileprivate var isReserving = false
    fileprivate var isOver = false
    /// The bytes of the piece that the stream's body is making.
    fileprivate var room = 0
    fileprivate var read: () -> Void = {}
    let admission: StreamAdmission

    init(_ admission: StreamAdmission) {
        self.admission = admission
    }

    func admit(_ read: @escaping () -> Void) {
        self.read = read
        admission.admit(self)
    }

    /// The stream has ended before it was read.
    func end() {
        isOver = true
        read = {}
        admission.streamEnded(self)
    }

    /// The size from which an answer's body may be made while it is sent. Shorter ones are in memory before.
    private static let pacedBytes = 65_536

    /// If the body may be made while it is sent, each piece is made when it may wait on the connection.
    ///
    /// Events are not held up: what they may have waiting has a bound of its own.
    package func paced(_ response: Response) -> Response {
        let length = response.body.contentLength
        guard (length ?? .max) > Self.pacedBytes, response.headers[.contentType] != "text/event-stream" else {
            return response
        }
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: length) { [self] writer in
            let piece = min(length ?? .max, ResponseBody.pieceBytes)
            try await admission.awaitRoom(for: piece, of: self)
            try await body.write(PacedWriter(inner: writer, ticket: self, piece: piece))
        }
        return response
    }
}

/// Returns from each write when the next piece may be made.
private struct PacedWriter: ResponseBodyWriter {
    var inner: any ResponseBodyWriter
    let ticket: StreamTicket
    let piece: Int

    mutating func write(_ buffer: ByteBuffer) async throws {
        try await inner.write(buffer)
        try await ticket.admission.awaitRoom(for: piece, of: ticket)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await inner.finish(trailingHeaders)
    }
}

/// Holds the request of a stream back until the stream is admitted, and counts the bytes of its answer that wait.
final class StreamAdmissionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let ticket: StreamTicket
    /// The parts of a request that is not read yet; `nil` once it is.
    private var held: [HTTPRequestPart]? = []
    private var hasAsked = false
    private var wantsRead = false

    init(_ ticket: StreamTicket) {
        self.ticket = ticket
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard held != nil else { return context.fireChannelRead(data) }
        held?.append(unwrapInboundIn(data))
        guard !hasAsked else { return }
        hasAsked = true
        let loopBound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        ticket.admit { loopBound.value.handler.begin(loopBound.value.context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if held == nil { context.fireChannelReadComplete() }
    }

    /// While the request is held, no more of its body is read: the client's window stays closed.
    func read(context: ChannelHandlerContext) {
        if held?.isEmpty == false { wantsRead = true } else { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        held = held == nil ? nil : []
        ticket.end()
        context.fireChannelInactive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard let parts = held else { return }
        held = nil
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        context.fireChannelReadComplete()
        if wantsRead { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(let bytes) = unwrapOutboundIn(data), bytes.readableBytes > 0 else {
            return context.write(data, promise: promise)
        }
        let count = bytes.readableBytes
        let admission = ticket.admission
        admission.written(count, of: ticket)
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { _ in admission.sent(count) }
        context.write(data, promise: promise)
    }
}
