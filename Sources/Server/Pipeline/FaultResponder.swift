import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import ServiceLifecycle
import Simulation

/// Applies to an answer what settings say, and the fault that its request triggered [D fault-rules].
struct FaultResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    /// Whether faults are applied. In a replay they are not.
    let isOn: Bool
    let settings: SettingsOfAnswers

    func respond(to request: IncomingRequest) async throws -> Answer {
        var answer = try await inner.respond(to: request)
        if let outcome = answer.outcome, outcome.changesAnswer {
            answer = await settings.applied(to: answer, of: request)
        }
        if let held = answer.outcome?.fault?.effect?.held, held.hold.moment == .after {
            answer = await hold(answer, held, of: request)
        }
        guard isOn, let fault = answer.outcome?.fault else { return answer }
        answer.response = await FaultInjector.carryOut(fault, on: answer.response)
        guard let effect = fault.effect else { return answer }
        answer.isDropped = effect.losesAnswer
        answer.delay = effect.delay
        if let rate = effect.bytesPerSecond, request.method != .head {
            answer.sendingSeconds = FaultInjector.seconds(of: answer.response.body.contentLength ?? 0, rate)
        }
        return answer
    }

    /// Keeps an answer until its hold ends, also where faults are not applied: the end of the hold is a job.
    ///
    /// - Returns: the answer, or the one that replaces it.
    private func hold(_ answer: Answer, _ held: HeldRequest, of request: IncomingRequest) async -> Answer {
        guard let namespace = request.namespace else { return answer }
        let end = await namespace.endHold(
            held, ofAnswer: answer.response.body.contentLength ?? 0, request.head.caller)
        guard let refusal = end.refusal(.after, faultID: held.faultID) else { return answer }
        let response = ErrorAnswer.response(
            refusal, requestID: answer.response.headers[.requestID] ?? "", hasSDKError: request.target.hasSDKErrors)
        return Answer(response, answer.outcome)
    }
}

/// Holds the answer to one caller back for the time of its fault. The journal and the recording have the request by then: a client
/// that does not wait for the answer has asked all the same.
struct DelayResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner

    func respond(to request: IncomingRequest) async throws -> Answer {
        let answer = try await inner.respond(to: request)
        if let seconds = answer.delay {
            // A client that leaves meanwhile has lost its answer.
            UnsentAnswers.current?.expect(answer.onLoss)
            // A shutdown ends the wait.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(seconds)) }
        }
        return answer
    }
}

extension RequestResponder {
    /// Applies faults to answers. A delay is only noted in the answer.
    func injectingFaults(_ isOn: Bool, _ routes: RouteTable) -> FaultResponder<Self> {
        FaultResponder(inner: self, isOn: isOn, settings: SettingsOfAnswers(routes: routes))
    }

    /// Waits as long as a fault delays an answer.
    func delayed() -> DelayResponder<Self> { DelayResponder(inner: self) }
}

/// Applies the effects of faults to answers: cut or slow bodies, closed connections.
enum FaultInjector {
    /// The number of writes per second for a slow body.
    private static let writesPerSecond = 10

    /// The answer with the fault applied.
    static func carryOut(_ fault: TriggeredFault, on response: Response) async -> Response {
        var response = response
        response.headers[.fault] = fault.id
        // An answer that has no body would get the bytes of the connection's next one (RFC 9110, section 6.4.1).
        guard !response.status.hasNoBody else { return response }
        if let rewrite = fault.effect?.rewrite {
            let body = ByteBuffer(data: rewrite(Data(buffer: await response.collectedBody())))
            response.body = ResponseBody(byteBuffer: body)
            response.headers[.contentLength] = String(body.readableBytes)
        }
        let (count, rate) = (fault.effect?.maxBytes, fault.effect?.bytesPerSecond)
        guard count != nil || rate != nil else { return response }
        let whole = await response.collectedBody()
        let part = whole.getSlice(at: whole.readerIndex, length: min(count ?? .max, whole.readableBytes)) ?? whole
        let isWhole = part.readableBytes == whole.readableBytes
        guard rate != nil || !isWhole else { return response }
        response.body = ResponseBody(contentLength: whole.readableBytes) { writer in
            if let rate { try await trickle(part, rate, &writer) } else { try await writer.write(part) }
            guard isWhole else { throw Truncated() }
            try await writer.finish(nil)
        }
        return response
    }

    /// Ends the connection without the rest of the body.
    private struct Truncated: Error {}

    private static func trickle(
        _ whole: ByteBuffer, _ rate: Int, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var rest = whole
        let (part, pause) = steps(rate)
        // Each write has its time, so that what one of them takes does not delay the last.
        var time = ContinuousClock.now
        while let bytes = rest.readSlice(length: min(part, rest.readableBytes)), bytes.readableBytes > 0 {
            try await writer.write(bytes)
            if rest.readableBytes > 0 {
                time += .seconds(pause)
                try await cancelWhenGracefulShutdown { [time] in try await Task.sleep(until: time) }
            }
        }
    }

    /// The bytes of a write of a slow body, and the seconds between two.
    private static func steps(_ rate: Int) -> (bytes: Int, pause: Double) {
        let bytes = max(1, rate / writesPerSecond)
        return (bytes, Double(bytes) / Double(rate))
    }

    /// The seconds from the first byte of a slow body to the last.
    static func seconds(of length: Int, _ rate: Int) -> Double {
        let (bytes, pause) = steps(rate)
        return Double(max(0, length - 1) / bytes) * pause
    }

    /// Ends a connection with a TCP reset, and a stream of HTTP/2 with RST_STREAM. Unsent bytes are discarded.
    static func reset(_ channel: any Channel) async {
        // A connection that has ended needs no reset: here and below that is the only failure.
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        // Closes below all handlers: that of TLS would send close_notify first.
        try? await channel.eventLoop.submit {
            // A stream of HTTP/2 has no such handler.
            let last = try? channel.pipeline.syncOperations.context(handlerType: DrainingCloseHandler.self)
            last?.close(promise: nil)
        }.get()
        try? await channel.close().get()
    }
}

extension HTTPField.Name {
    /// The id of the fault rule that the request triggered [D fault-rules].
    static let fault = HTTPField.Name("X-Sim-Fault")!
}

extension HTTPResponse.Status {
    /// Whether its answers have no body (RFC 9110, section 6.4.1).
    fileprivate var hasNoBody: Bool { kind == .informational || self == .noContent || self == .notModified }
}
