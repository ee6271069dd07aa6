import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Outgoing
import ServiceLifecycle
import Simulation

/// Sends webhooks outside the namespaces' job queues.
///
/// Many are sent at a time, with bounds for the server and for a namespace, and in fair turns: a receiver that hangs or floods
/// delays only deliveries behind it for the same item, and those that the bound of its namespace holds back. What is held back
/// is not an attempt: its time starts when it has a slot [D webhook-slots].
final class WebhookSender: Sendable {
    private let transport: WebhookTransport
    private let logger: Logger
    private let client = OutgoingClient(answerLimit: .webhook)
    private let resolver: Resolver
    private let state = NIOLockedValueBox(State())

    /// The maximum number of connections to receivers, and the maximum for one namespace [D webhook-slots].
    static let maxConnections = 256
    static let maxConnectionsPerNamespace = 16
    /// The maximum number of bytes of an answer that are saved.
    private static let maxAnswerBytes = 1000

    private struct DeliveryName: Hashable {
        let namespace: String
        let id: String
    }

    private struct State: Sendable {
        var queue = FairQueue<WebhookAttempt>(maxRunning: maxConnections, maxPerNamespace: maxConnectionsPerNamespace)
        /// The deliveries in the queue, with their subscriptions.
        var waiting: [DeliveryName: String] = [:]
    }

    private let tasks = NIOLockedValueBox<(isStopping: Bool, tasks: [Int: Task<Void, Never>], next: Int)>(
        (false, [:], 0))

    init(_ transport: WebhookTransport, logger: Logger, resolver: Resolver = Resolver()) {
        self.transport = transport
        self.resolver = resolver
        self.logger = logger
    }

    /// Queues delivery attempts. Each starts as soon as it has a slot.
    func send(_ attempts: [WebhookAttempt]) {
        state.withLockedValue { state in
            for attempt in attempts {
                let subscription = attempt.webhook.subscriptionID
                state.waiting[Self.delivery(of: attempt)] = subscription
                state.queue.add(attempt, namespace: attempt.namespace, subscription: subscription)
            }
        }
        startNext()
    }

    /// Why the next attempt of a delivery waits for a slot; `nil` if it does not.
    func holdReason(namespace: String, deliveryID: String) -> String? {
        let bound = state.withLockedValue { state in
            state.waiting[DeliveryName(namespace: namespace, id: deliveryID)].flatMap {
                state.queue.bound(namespace: namespace, subscription: $0)
            }
        }
        return switch bound {
        case nil: nil
        case .subscription(let running):
            "\(running) attempts of this subscription are under way; the others wait, so that the namespace's other subscriptions find a free connection"
        case .namespace(let running):
            "\(running) attempts of this namespace are under way, the maximum; the next one starts when one of them ends"
        case .server(let running):
            "\(running) of the server's \(Self.maxConnections) connections to receivers are in use; namespaces get the next free ones in turns"
        }
    }

    /// Runs until the server starts to stop. Attempts in progress are cancelled and made again at the next start, and so are
    /// those that wait.
    func run() async {
        try? await gracefulShutdown()  // Ends by cancellation, too: the server stops either way.
        let running = tasks.withLockedValue { state in
            state.isStopping = true
            return Array(state.tasks.values)
        }
        for attempt in state.withLockedValue({ $0.queue.removeWaiting() }) { attempt.end() }
        for task in running { task.cancel() }
        for task in running { await task.value }
        resolver.stop()
    }

    private func startNext() {
        while let attempt = takeNext() { start(attempt) }
    }

    private func takeNext() -> WebhookAttempt? {
        state.withLockedValue { state in
            let attempt = state.queue.takeNext()
            if let attempt { state.waiting[Self.delivery(of: attempt)] = nil }
            return attempt
        }
    }

    private static func delivery(of attempt: WebhookAttempt) -> DeliveryName {
        DeliveryName(namespace: attempt.namespace, id: attempt.webhook.deliveryID)
    }

    private func start(_ attempt: WebhookAttempt) {
        tasks.withLockedValue { state in
            guard !state.isStopping else {
                release(attempt)
                return attempt.end()
            }
            let id = state.next
            state.next += 1
            state.tasks[id] = Task {
                await self.work(attempt)
                self.tasks.withLockedValue { $0.tasks[id] = nil }
            }
        }
    }

    private func release(_ attempt: WebhookAttempt) {
        state.withLockedValue {
            $0.queue.end(namespace: attempt.namespace, subscription: attempt.webhook.subscriptionID)
        }
    }

    private func work(_ attempt: WebhookAttempt) async {
        var outcome: WebhookOutcome?
        if attempt.isCurrent, !Task.isCancelled {
            outcome = await send(attempt.webhook, of: attempt.namespace)
        }
        // The slot is for the connection; recording the outcome needs none.
        release(attempt)
        startNext()
        // An attempt that the shutdown cancelled is made again at the next start.
        if let outcome, !Task.isCancelled {
            await attempt.end(outcome)
        } else {
            attempt.end()
        }
    }

    /// Makes one attempt, whoever waits for a slot.
    func send(_ webhook: OutgoingWebhook, of namespace: String) async -> WebhookOutcome {
        guard !webhook.isDropped else {
            return WebhookOutcome(
                status: nil, error: "dropped by a fault rule: it was not sent", milliseconds: 0, answer: nil)
        }
        let timeout = TimeAmount.microseconds(webhook.timeout.microseconds)
        var start = NIODeadline.now()
        var answer: (status: Int, text: String)?
        var problem: String?
        var sent: OutgoingRequest?
        do {
            var request = try OutgoingRequest(webhook.body == nil ? .GET : .POST, webhook.url)
            if let target = try await self.target(of: webhook.url, within: timeout, for: namespace) {
                // Waiting for a turn to ask the name servers is not the receiver's time; their answer is.
                start = target.began
                request.addresses = target.addresses
            }
            if webhook.body != nil { request.headers.add(name: "Content-Type", value: "application/json") }
            request.headers.add(name: "User-Agent", value: "entrupy-sim")
            request.headers.add(name: "Connection", value: "close")
            for header in webhook.headers { request.headers.add(name: header.name, value: header.value) }
            if let body = webhook.body { request.body = .bytes(ByteBuffer(bytes: body)) }
            sent = request
            let deadline = start + timeout
            (answer, problem) = try await client.exchange(request, deadline: deadline) { answer in
                let (text, error) = await Self.start(of: answer.body)
                let problem = error.flatMap { Self.problem(ofBody: $0, timeout: webhook.timeout) }
                return ((answer.status, text), problem.map { request.located($0) })
            }
        } catch {
            let reason = text(error, timeout: webhook.timeout)
            problem = sent?.located(reason, error) ?? reason
        }
        let took = NIODeadline.now() - start
        return WebhookOutcome(
            status: answer?.status, error: problem,
            milliseconds: (Double(took.nanoseconds) / 1e3).rounded() / 1e3, answer: answer?.text)
    }

    /// The beginning of an answer's body, as far as it arrived in time. The rest, or a broken end, is ignored: the
    /// status decides the attempt's result [D webhook-retries].
    ///
    /// - Returns: the text, and the error that ended it.
    private static func start(of body: OutgoingAnswer.Body) async -> (text: String, error: (any Error)?) {
        var bytes: [UInt8] = []
        var end: (any Error)?
        do {
            for try await part in body {
                bytes += part.readableBytesView.prefix(maxAnswerBytes - bytes.count)
                if bytes.count >= maxAnswerBytes { break }
            }
        } catch {
            end = error
        }
        // SQLite would end the text at a NUL.
        return (String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: "?") : $0 }, as: UTF8.self), end)
    }

    /// The problem of an answer whose body broke off; `nil` if the status says enough.
    private static func problem(ofBody error: any Error, timeout: Span) -> String? {
        if case OutgoingError.deadlineExceeded = error { return "the answer did not end within \(seconds(timeout)) s" }
        return floodText(error)
    }

    /// Checks the host of a URL [D webhook-targets]. Names are resolved before every attempt, and the attempt goes to the allowed ones of
    /// their addresses, in turn.
    ///
    /// - Returns: the addresses, and the time at which the look-up began; `nil` if the host is allowed whatever its address is.
    private func target(
        of url: String, within timeout: TimeAmount, for namespace: String
    ) async throws -> (addresses: [String], began: NIODeadline)? {
        let target = try WebhookTarget.read(url).get()
        // Subscriptions may come from a snapshot, so they are checked here again.
        if transport.ownAddress?.isNamed(by: target) == true {
            throw RefusedTarget(target.host, target.host, RefusedTarget.thisServer)
        }
        if let address = target.address {
            guard !address.isMetadata else {
                throw RefusedTarget(target.host, target.host, WebhookTarget.metadataService)
            }
            guard transport.allowsAnyTarget || address.isLocal else {
                throw RefusedTarget(target.host, target.host, RefusedTarget.notLocal)
            }
            return nil
        }
        let found = try await resolver.addresses(of: target.host, within: timeout, for: namespace)
        let reasons = found.addresses.map { refusal(of: $0, of: target) }
        let allowed = zip(found.addresses, reasons).compactMap { $1 == nil ? $0 : nil }
        guard allowed.isEmpty, let reason = reasons.first ?? nil else { return (allowed, found.began) }
        throw RefusedTarget(target.host, found.addresses[0], reason)
    }

    /// Why no webhook goes to an address of a name; `nil` if one may.
    private func refusal(of text: String, of target: WebhookTarget) -> String? {
        let address = WebhookTarget.Address(text)
        if let address, transport.ownAddress?.isReached(at: address, port: target.port) == true {
            return RefusedTarget.thisServer
        }
        if target.isMetadata(text) { return WebhookTarget.metadataService }
        return transport.allowsAnyTarget || target.allows(text) ? nil : RefusedTarget.notLocal
    }

    private struct RefusedTarget: Error {
        let text: String

        static let thisServer = "this server itself; it sends no webhooks to itself"
        static let notLocal = "not a loopback or private address; start the server with --webhook-targets any"

        init(_ host: String, _ address: String, _ reason: String) {
            text = "\(host) is \(address == host ? "" : "\(address), ")\(reason)"
        }
    }

    /// Why an attempt failed. An error that has no sentence here is logged: its own text names parts of the program.
    private func text(_ error: any Error, timeout: Span) -> String {
        if let text = Self.text(error, timeout: timeout) { return text }
        logger.warning("a webhook could not be sent", metadata: ["error": "\(error)"])
        return "the request could not be sent; the server's log has the reason"
    }

    private static func text(_ error: any Error, timeout: Span) -> String? {
        if let text = floodText(error) { return text }
        return switch error {
        case let error as WebhookTarget.Problem: "url \(error.text)"
        case let error as RefusedTarget: error.text
        case let error as Resolver.Failed: error.text
        case OutgoingError.deadlineExceeded, ChannelError.connectTimeout: "no answer within \(seconds(timeout)) s"
        case OutgoingError.closedBeforeAnswer, OutgoingError.closedInAnswer, HTTPParserError.invalidEOFState,
            HTTPParserError.closedConnection, ChannelError.eof, ChannelError.alreadyClosed,
            ChannelError.ioOnClosedChannel:
            "the receiver closed the connection before it answered"
        case OutgoingError.withoutEncryption: OutgoingError.withoutEncryption.description
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case let error as NIOConnectionError: error.text { text($0, timeout: timeout) ?? "no connection" }
        case HTTPParserError.invalidContentLength, HTTPParserError.unexpectedContentLength:
            "the answer's Content-Length is not valid"
        case HTTPParserError.invalidHeaderToken: "a header field of the answer is not valid"
        case is HTTPParserError: "the answer is not HTTP"
        // The attempt is made again at the next start.
        case is CancellationError: "the server is stopping"
        default: OutgoingClient.installedEncryption?.reason(of: error).map { "no connection over TLS: \($0)" }
        }
    }

    /// Why an answer was cut off that has more than an answer to a webhook can need; `nil` for other errors.
    private static func floodText(_ error: any Error) -> String? {
        switch error {
        case let error as AnswerTooLong:
            "the receiver sent more than \(error.limit.bytes) bytes, or more than \(error.limit.pieces) pieces, and its answer did not end"
        case HTTPParserError.headerOverflow: "the receiver's answer has too many header fields"
        default: nil
        }
    }

    private static func seconds(_ span: Span) -> Double { Double(span.microseconds) / 1e6 }
}
