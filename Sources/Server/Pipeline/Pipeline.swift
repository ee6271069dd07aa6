import HTTPTypes
import Hummingbird
import NIOCore
import Simulation
import SimulationAPI

/// One step of a request's way through the server.
///
/// The framework's router resolves a route before any middleware runs, so these stand around the router.
protocol RequestResponder: Sendable {
    /// Answers a request, usually with the help of the responder that this one wraps.
    func respond(to request: IncomingRequest) async throws -> Answer
}

/// A request on its way in, with what the responders before have found out about it.
struct IncomingRequest: Sendable {
    /// The parts that no responder changes. An object, because the request is copied at each step.
    private let fixed: Fixed
    /// Receives the body once it is read. `nil` if neither the recording nor the journal needs it.
    var received: ReceivedBody?
    /// `nil` before the namespace is known, and while the server is not ready.
    var namespace: Namespace?

    /// The request as it was received. Reading only a part of it copies less: see ``method`` and ``headers``.
    var http: Request { fixed.http }
    var method: HTTPRequest.Method { fixed.http.head.method }
    var headers: HTTPFields { fixed.http.head.headerFields }
    var context: SimContext { fixed.context }
    /// Its path without the namespace.
    var target: Target { fixed.target }
    var head: RequestHead { fixed.head }

    private final class Fixed: Sendable {
        let http: Request
        let context: SimContext
        let target: Target
        let head: RequestHead

        init(_ http: Request, _ context: SimContext, _ target: Target, _ head: RequestHead) {
            self.http = http
            self.context = context
            self.target = target
            self.head = head
        }
    }

    /// A request from a client.
    init(_ request: Request, _ context: SimContext) {
        self.init(request, context, caller: ConnectionCaller(channel: context.channel), isHoldable: true)
    }

    /// - Parameters:
    ///   - caller: the caller; `nil` if the request is made whether or not somebody waits for the answer.
    ///   - isResent: whether the request is one of the journal that is sent again.
    ///   - isHoldable: whether a fault can hold it.
    init(
        _ request: Request, _ context: SimContext, caller: (any CallerPresence)?, isResent: Bool = false,
        isHoldable: Bool = false
    ) {
        let fields = request.headers
        let target = Target(request.head.path ?? "/", outsidePath: NamespaceChoice.named(by: request.head))
        let headers = HeaderReader(fields)
        let isControl = target.isSimulators
        var head = RequestHead(
            requestID: headers.requestID, language: headers.language, isControl: isControl,
            isSafe: request.method == .get || request.method == .head)
        head.address = request.head.authority.map { AskedAddress($0, isSecure: request.head.isSecure) }
        head.caller = caller
        head.isHoldable = isHoldable
        head.trace = headers.trace
        head.isResent = isResent
        if isControl {
            head.call = NumberedCall(method: request.method.rawValue, path: target.path)
        } else {
            head.metadata = RequestMetadata(
                method: request.method.rawValue, path: RoutePath.plain(target.path), credential: headers.credential
            ) { name in
                HTTPField.Name(name).map { fields[values: $0] } ?? []
            }
        }
        fixed = Fixed(request, context, target, head)
    }
}

extension HTTPRequest {
    var isSecure: Bool { scheme?.isIdentical(to: "https") == true }
}

/// The caller of a request: its connection, or its stream of an HTTP/2 connection. A client that has closed only its side of
/// a connection may still wait for an answer, so it has not gone.
struct ConnectionCaller: HoldingCaller {
    let channel: any Channel

    var isGone: Bool { !channel.isActive }

    func watch(
        for span: Span, timeIsOver: @escaping @Sendable () -> Void, hasGone: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let clock = channel.eventLoop.scheduleTask(in: .microseconds(span.microseconds), timeIsOver)
        let watch = EndWatchHandler.Watch(hasEnded: hasGone)
        EndWatchHandler.add(watch, to: channel)
        RequestHeadHandler.findOutWhetherClientReads(channel)
        return { [channel] in
            clock.cancel()
            EndWatchHandler.remove(watch, from: channel)
        }
    }
}

/// An answer on its way out.
struct Answer: Sendable {
    /// The answer as it is sent.
    var response: Response {
        didSet { if unchanged == nil { unchanged = oldValue } }
    }
    /// The first response; `nil` while it is the one that is sent.
    private var unchanged: Response?
    /// The document that is the answer's body, if nothing changed it.
    var document: ConstantDocument?
    /// The outcome of the request's job; `nil` for control requests, and if no job ran.
    private(set) var outcome: RequestOutcome?
    /// Whether the connection is reset instead of sending the answer.
    var isDropped = false
    /// The seconds of real time for which a fault holds the answer back; `nil` if none does.
    var delay: Double?
    /// The seconds of real time that a fault takes to send the body, from its first byte to its last.
    var sendingSeconds = 0.0
    /// The documented edges that it meets beside that of its status.
    var edges: [Coverage.Name] = []
    /// The documented answers of its operation; `nil` if no operation is known.
    var documented: AnswerEdges?
    /// Called if the answer does not reach its client; `nil` if nobody needs to know.
    var onLoss: UnsentAnswers.OnLoss?

    /// The answer before a fault changed it. The journal and the recording hold this one.
    var original: Response { unchanged ?? response }

    /// The status; `nil` if the request was lost before it was handled.
    var status: Int? { outcome?.isLost == true ? nil : response.status.code }

    init(_ response: Response, _ outcome: RequestOutcome? = nil) {
        self.response = response
        self.outcome = outcome
    }

    /// Replaces the answer, also in the journal and the recording.
    mutating func replace(with response: Response, _ outcome: RequestOutcome) {
        self.outcome = outcome
        self.response = response
        unchanged = nil
        document = nil
    }

    /// A refusal that no job decides.
    init(_ error: PlatformError, to request: IncomingRequest, _ environment: Simulation.Environment) {
        let requestID = request.head.requestID ?? environment.nextServerRequestID()
        self.init(
            ErrorAnswer.response(error, requestID: requestID, hasSDKError: request.target.hasSDKErrors))
        edges = ErrorAnswer.edges(error, hasSDKError: request.target.hasSDKErrors)
    }
}

/// Connects the responders to the HTTP server.
struct Pipeline: HTTPResponder {
    /// The first responder. As a function, so that the compiler knows the type of the whole chain where it is composed: the
    /// chain is then compiled as one.
    let first: @Sendable (IncomingRequest) async throws -> Answer
    let boundary: Boundary
    /// Answers the requests that the boundary refuses.
    let refuse: @Sendable (IncomingRequest, BoundaryRefusal) async throws -> Answer
    /// Answers the benchmark's baseline, which measures the framework's cost without the simulator's.
    let ping: RouterResponder<SimContext>
    let readiness: Readiness

    func respond(to request: Request, context: SimContext) async throws -> Response {
        let unsent = UnsentAnswers.current
        let answer: Answer
        do {
            answer = try await self.answer(request, context)
        } catch {
            // The framework writes an answer of its own.
            unsent?.expect(nil)
            throw error
        }
        // Only now, when the journal and the recording have it.
        if answer.isDropped { await FaultInjector.reset(context.channel) }
        // A delayed one was announced before its delay. Where a connection has sent its next request already, its task might never
        // wait for anything: the connections take turns.
        if answer.delay == nil, unsent?.expect(answer.onLoss) == true { await Task.yield() }
        let response = answer.response
        // The answer to HEAD is the head of any answer.
        if request.method == .head { return response.createHeadResponse() }
        return CurrentStream.stream?.paced(response) ?? response
    }

    private func answer(_ request: Request, _ context: SimContext) async throws -> Answer {
        let isPing = request.head.path == ServerRoutes.pingPath && readiness.isReady
        if let refusal = boundary.refusal(request.head) {
            return try await refuse(IncomingRequest(request, context), refusal)
        }
        if isPing && [.get, .head].contains(request.method) {
            return Answer(try await ping.respond(to: request, context: context))
        }
        return try await first(IncomingRequest(request, context))
    }
}
