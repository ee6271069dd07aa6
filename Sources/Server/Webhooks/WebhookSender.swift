import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Simulation

/// Sends webhooks outside the namespaces' job queues.
///
/// Many are sent at a time, with bounds for the server and for a namespace, and in fair turns: a receiver that hangs or floods
/// delays only deliveries behind it for the same item, and those that the bound of its namespace holds back. What is held back
/// is not an attempt: its time starts when it has a slot [D webhook-slots].
final class WebhookSender: Service, CustomStringConvertible {
    private let transport: WebhookTransport
    private let logger: Logger
    /// The client for hosts that need no pinned address. It is created for the first webhook: most servers never send one.
    private let plainClient = NIOLockedValueBox<HTTPClient?>(nil)
    private let resolver = Resolver()
    private let state = NIOLockedValueBox(State())
    let description = "webhook sender"

    /// The maximum number of connections to receivers, and the maximum for one namespace [D webhook-slots].
    static let maxConnections = 256
    static let maxConnectionsPerNamespace = 16
    /// The maximum number of bytes of an answer that are read and saved.
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

    init(_ transport: WebhookTransport, logger: Logger) {
        self.transport = transport
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
    func run() async throws {
        try? await gracefulShutdown()  // Ends by cancellation, too: the server stops either way.
        let running = tasks.withLockedValue { state in
            state.isStopping = true
            return Array(state.tasks.values)
        }
        for attempt in state.withLockedValue({ $0.queue.removeWaiting() }) { attempt.end() }
        for task in running { task.cancel() }
        for task in running { await task.value }
        resolver.stop()
        try? await plainClient.withLockedValue { $0 }?.shutdown()  // Fails only if it was shut down before.
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

    private func send(_ webhook: OutgoingWebhook, of namespace: String) async -> WebhookOutcome {
        guard !webhook.isDropped else {
            return WebhookOutcome(
                status: nil, error: "dropped by a fault rule: it was not sent", milliseconds: 0, answer: nil)
        }
        let timeout = TimeAmount.microseconds(webhook.timeout.microseconds)
        var start = NIODeadline.now()
        var status: Int?
        var problem: String?
        var answer: String?
        var pinned: HTTPClient?
        do {
            let client: HTTPClient
            let target = try await self.target(of: webhook.url, within: timeout, for: namespace)
            if let resolved = target {
                // Waiting for a turn to ask the name servers is not the receiver's time; their answer is.
                start = resolved.began
                client = .forWebhooks(pinning: (resolved.host, resolved.address))
                pinned = client
            } else {
                client = unpinnedClient()
            }
            let deadline = start + timeout
            var request = HTTPClientRequest(url: webhook.url)
            request.method = webhook.body == nil ? .GET : .POST
            if webhook.body != nil { request.headers.add(name: "Content-Type", value: "application/json") }
            request.headers.add(name: "User-Agent", value: "entrupy-sim")
            // Each attempt uses its own connection. A receiver may close a kept connection just as it is used again,
            // and the attempt would fail without anyone's fault.
            request.headers.add(name: "Connection", value: "close")
            for header in webhook.headers { request.headers.add(name: header.name, value: header.value) }
            request.body = webhook.body.map { .bytes(ByteBuffer(bytes: $0)) }
            let response = try await client.execute(request, deadline: deadline, logger: nil)
            status = Int(response.status.code)
            let body = await Self.start(of: response.body, until: deadline)
            answer = body.text
            problem =
                body.isCutOff
                ? "the answer did not end within \(Self.seconds(webhook.timeout)) s"
                : body.error.flatMap(Self.floodText)
        } catch {
            problem = text(error, timeout: webhook.timeout)
        }
        let took = NIODeadline.now() - start
        try? await pinned?.shutdown()  // Fails only if it was shut down before.
        return WebhookOutcome(
            status: status, error: problem,
            milliseconds: (Double(took.nanoseconds) / 1e3).rounded() / 1e3, answer: answer)
    }

    private func unpinnedClient() -> HTTPClient {
        plainClient.withLockedValue { known in
            let client = known ?? .forWebhooks()
            known = client
            return client
        }
    }

    /// The beginning of an answer's body, as far as it arrived in time. The rest, or a broken end, is ignored: the
    /// status decides the attempt's result [D webhook-retries].
    ///
    /// - Returns: the text, whether its end did not come in time, and the error that ended it.
    private static func start(
        of body: HTTPClientResponse.Body, until deadline: NIODeadline
    ) async -> (text: String, isCutOff: Bool, error: (any Error)?) {
        let isLate = NIOLockedValueBox(false)
        let reader = Task {
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
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
            isLate.withLockedValue { $0 = true }
            reader.cancel()
        }
        defer { timer.cancel() }
        let (text, error) = await withTaskCancellationHandler {
            await reader.value
        } onCancel: {
            reader.cancel()
        }
        return (text, isLate.withLockedValue { $0 }, error)
    }

    /// Checks the host of a URL [D webhook-targets]. Names are resolved before every attempt, and the attempt goes to
    /// the checked address.
    ///
    /// - Returns: the host, its checked address, and the time at which the look-up began; `nil` if the host needs no pinned
    ///   address.
    private func target(
        of url: String, within timeout: TimeAmount, for namespace: String
    ) async throws -> (host: String, address: String, began: NIODeadline)? {
        let target = try WebhookTarget.read(url).get()
        let own = transport.ownAddress
        // Subscriptions may come from a snapshot or from an older version, so they are checked here again.
        if own?.isNamed(by: target) == true { throw RefusedTarget(target.host, target.host, RefusedTarget.thisServer) }
        if let address = target.address {
            guard transport.allowsAnyTarget || address.isLocal else {
                throw RefusedTarget(target.host, target.host, RefusedTarget.notLocal)
            }
            return nil
        }
        guard !transport.allowsAnyTarget || own?.hasPort(target.port) == true else { return nil }
        let host = target.host
        let found = try await resolver.addresses(of: host, within: timeout, for: namespace)
        for text in found.addresses {
            let address = WebhookTarget.Address(text)
            if let address, own?.isReached(at: address, port: target.port) == true {
                throw RefusedTarget(host, text, RefusedTarget.thisServer)
            }
            guard transport.allowsAnyTarget || address?.isLocal == true else {
                throw RefusedTarget(host, text, RefusedTarget.notLocal)
            }
        }
        return (host, found.addresses[0], found.began)
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
        case let error as HTTPClientError: text(error, timeout: timeout)
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { text($0.error, timeout: timeout) } ?? "no connection to \(error.host)"
        case HTTPParserError.invalidContentLength, HTTPParserError.unexpectedContentLength:
            "the answer's Content-Length is not valid"
        case HTTPParserError.invalidHeaderToken: "a header field of the answer is not valid"
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            "the receiver closed the connection before it answered"
        case is HTTPParserError: "the answer is not HTTP"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            "the receiver does not speak TLS, or its certificate is not accepted"
        case let error as ChannelError where error == .eof || error == .alreadyClosed || error == .ioOnClosedChannel:
            "the receiver closed the connection before it answered"
        case ChannelError.connectTimeout: "no answer within \(seconds(timeout)) s"
        // The attempt is made again at the next start.
        case is CancellationError: "the server is stopping"
        default: nil
        }
    }

    /// Why an answer was cut off that has more than an answer to a webhook can need; `nil` for other errors.
    private static func floodText(_ error: any Error) -> String? {
        switch error {
        case let error as AnswerTooLong: error.text
        case HTTPParserError.headerOverflow: "the receiver's answer has too many header fields"
        default: nil
        }
    }

    private static func text(_ error: HTTPClientError, timeout: Span) -> String? {
        switch error {
        case .deadlineExceeded, .connectTimeout, .getConnectionFromPoolTimeout, .readTimeout, .writeTimeout,
            .tlsHandshakeTimeout:
            "no answer within \(seconds(timeout)) s"
        case .remoteConnectionClosed, .uncleanShutdown: "the receiver closed the connection before it answered"
        case .cancelled: "the server is stopping"
        default: nil
        }
    }

    private static func seconds(_ span: Span) -> Double { Double(span.microseconds) / 1e6 }
}

extension HTTPClient {
    /// A new client that sends webhooks, which the caller shuts down. It follows no redirects.
    ///
    /// - Parameter target: a host, and the address that it is resolved to; `nil` to resolve each host.
    fileprivate static func forWebhooks(pinning target: (host: String, address: String)? = nil) -> HTTPClient {
        var configuration = Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Each attempt has its own timeout, and the platform decides when a failed one is repeated.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The sender's own bounds decide: a bound of the pool would use up the time of an attempt.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = WebhookSender.maxConnections
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(AnswerBoundHandler(), position: .first)
            }
        }
        if let target { configuration.dnsOverride = [target.host: target.address] }
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }
}
