import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Simulation

/// Sends webhooks outside the namespaces' job queues. Several are sent at a time, so that a receiver that hangs or
/// floods delays only its own subscription.
final class WebhookSender: Service {
    private let namespaces: Namespaces
    private let allowsAnyTarget: Bool
    private let logger: Logger
    private let clients = WebhookClients()
    private let resolver = Resolver()
    private let queues = NIOLockedValueBox<[QueueKey: Queue]>([:])

    /// The maximum number of concurrent attempts for one subscription.
    private static let maxConcurrent = 8
    /// The maximum number of bytes of an answer that are read and saved.
    private static let maxAnswerBytes = 1000

    private struct QueueKey: Hashable {
        let namespace: String
        let subscription: String
    }

    private struct Queue {
        var running = 0
        var waiting: [Job] = []
    }

    private struct Job: Sendable {
        let webhook: OutgoingWebhook
        let namespace: String
        let outbox: Outbox
    }

    private let tasks = NIOLockedValueBox<(isStopping: Bool, tasks: [Int: Task<Void, Never>], next: Int)>(
        (false, [:], 0))

    init(namespaces: Namespaces, allowsAnyTarget: Bool, logger: Logger) {
        self.namespaces = namespaces
        self.allowsAnyTarget = allowsAnyTarget
        self.logger = logger
    }

    /// Queues delivery attempts. Each starts as soon as fewer than ``maxConcurrent`` attempts of its subscription
    /// run.
    func send(_ webhooks: [OutgoingWebhook], _ namespace: String, _ outbox: Outbox) {
        for webhook in webhooks {
            let job = Job(webhook: webhook, namespace: namespace, outbox: outbox)
            let mayStart = queues.withLockedValue { queues in
                let key = QueueKey(namespace: namespace, subscription: webhook.subscriptionID)
                guard queues[key, default: Queue()].running < Self.maxConcurrent else {
                    queues[key]?.waiting.append(job)
                    return false
                }
                queues[key, default: Queue()].running += 1
                return true
            }
            if mayStart { start(job) }
        }
    }

    /// Runs until the server starts to stop. Attempts in progress are cancelled and made again at the next start.
    func run() async throws {
        try? await gracefulShutdown()
        let running = tasks.withLockedValue { state in
            state.isStopping = true
            return Array(state.tasks.values)
        }
        for task in running { task.cancel() }
        for task in running { await task.value }
        resolver.stop()
        await clients.close()
    }

    private func start(_ job: Job) {
        tasks.withLockedValue { state in
            guard !state.isStopping else { return job.outbox.end() }
            let id = state.next
            state.next += 1
            state.tasks[id] = Task {
                await self.work(job)
                self.tasks.withLockedValue { $0.tasks[id] = nil }
            }
        }
    }

    /// Makes an attempt, then the attempts that are queued behind it.
    private func work(_ first: Job) async {
        var job = first
        while true {
            if job.outbox.isCurrent(job.webhook), !Task.isCancelled {
                let outcome = await attempt(job.webhook)
                // An attempt that the shutdown cancelled is made again at the next start.
                if !Task.isCancelled {
                    await namespaces.find(job.namespace)?.record(job.webhook, outcome)
                }
            }
            job.outbox.end()
            let key = QueueKey(namespace: job.namespace, subscription: job.webhook.subscriptionID)
            let next = queues.withLockedValue { queues -> Job? in
                guard var queue = queues[key] else { return nil }
                if queue.waiting.isEmpty {
                    queue.running -= 1
                    queues[key] = queue.running == 0 ? nil : queue
                    return nil
                }
                let next = queue.waiting.removeFirst()
                queues[key] = queue
                return next
            }
            guard let next else { return }
            job = next
        }
    }

    private func attempt(_ webhook: OutgoingWebhook) async -> WebhookOutcome {
        guard !webhook.isDropped else {
            return WebhookOutcome(
                status: nil, error: "dropped by a fault rule: it was not sent", milliseconds: 0, answer: nil)
        }
        let start = ContinuousClock.now
        let deadline = NIODeadline.now() + .microseconds(webhook.timeout.microseconds)
        var status: Int?
        var problem: String?
        var answer: String?
        var pinned: HTTPClient?
        do {
            let client: HTTPClient
            if let address = try await pinnedAddress(for: webhook.url, until: deadline) {
                client = WebhookClients.make(pinning: address)
                pinned = client
            } else {
                client = clients.plain
            }
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
            if body.isCutOff {
                problem = "the answer did not end within \(Double(webhook.timeout.microseconds) / 1e6) s"
            }
        } catch {
            problem = Self.text(error, timeout: webhook.timeout)
        }
        let took = (ContinuousClock.now - start).components
        try? await pinned?.shutdown()
        return WebhookOutcome(
            status: status, error: problem,
            milliseconds: (Double(took.seconds) * 1000 + Double(took.attoseconds) / 1e15).rounded(toPlaces: 3),
            answer: answer)
    }

    /// The beginning of an answer's body, as far as it arrived in time. The rest, or a broken end, is ignored: the
    /// status decides the attempt's result [D webhook-retries].
    private static func start(
        of body: HTTPClientResponse.Body, until deadline: NIODeadline
    ) async -> (text: String, isCutOff: Bool) {
        let isLate = NIOLockedValueBox(false)
        let reader = Task {
            var bytes: [UInt8] = []
            do {
                for try await part in body {
                    bytes += part.readableBytesView.prefix(maxAnswerBytes - bytes.count)
                    if bytes.count >= maxAnswerBytes { break }
                }
            } catch {
            }
            // SQLite would end the text at a NUL.
            return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
        }
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
            isLate.withLockedValue { $0 = true }
            reader.cancel()
        }
        defer { timer.cancel() }
        let text = await withTaskCancellationHandler {
            await reader.value
        } onCancel: {
            reader.cancel()
        }
        return (text, isLate.withLockedValue { $0 })
    }

    /// Checks the host of a URL [D webhook-targets]. Names are resolved before every attempt, and the attempt goes to
    /// the checked address.
    ///
    /// - Returns: the host and its checked address; `nil` if the host needs no pinned address.
    private func pinnedAddress(
        for url: String, until deadline: NIODeadline
    ) async throws -> (host: String, address: String)? {
        let target = try WebhookTarget.read(url).get()
        let own = namespaces.environment.ownAddress
        // Subscriptions may come from a snapshot or from an older version, so they are checked here again.
        if own?.isNamed(by: target) == true { throw OwnAddress(host: target.host, address: target.host) }
        if let address = target.address {
            guard allowsAnyTarget || address.isLocal else {
                throw ForbiddenTarget(host: target.host, address: target.host)
            }
            return nil
        }
        guard !allowsAnyTarget || own?.hasPort(target.port) == true else { return nil }
        let host = target.host
        let addresses = try await resolver.addresses(of: host, until: deadline)
        for text in addresses {
            let address = WebhookTarget.Address(text)
            if let address, own?.isReached(at: address, port: target.port) == true {
                throw OwnAddress(host: host, address: text)
            }
            guard allowsAnyTarget || address?.isLocal == true else { throw ForbiddenTarget(host: host, address: text) }
        }
        return (host, addresses[0])
    }

    /// The error for a host that is this server itself.
    private struct OwnAddress: Error {
        let host: String
        let address: String
    }

    /// The error for a host that webhooks must not be sent to.
    private struct ForbiddenTarget: Error {
        let host: String
        let address: String
    }

    private static func text(_ error: any Error, timeout: Span) -> String {
        switch error {
        case let error as WebhookTarget.Problem: "url \(error.text)"
        case let error as ForbiddenTarget:
            "\(error.host) is \(error.address == error.host ? "" : "\(error.address), ")not a loopback or private address; "
                + "start the server with --webhook-targets any"
        case let error as OwnAddress:
            "\(error.host) is \(error.address == error.host ? "" : "\(error.address), ")this server itself; it sends no webhooks to itself"
        case let error as Resolver.Failed: error.text
        case let error as HTTPClientError
        where error == .deadlineExceeded || error == .connectTimeout
            || error == .readTimeout:
            "no answer within \(Double(timeout.microseconds) / 1e6) s"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "the receiver closed the connection before it answered"
        case let error as IOError: String(cString: strerror(error.errnoCode)).lowercased()
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { text($0.error, timeout: timeout) } ?? "no connection to \(error.host)"
        case let error as HTTPParserError: "the answer is not HTTP: \(error.debugDescription)"
        default: "\(error)"
        }
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        let factor = Double((0..<places).reduce(1) { product, _ in product * 10 })
        return (self * factor).rounded() / factor
    }
}

/// The HTTP clients that send webhooks. They follow no redirects.
private final class WebhookClients: Sendable {
    private let shared = NIOLockedValueBox<HTTPClient?>(nil)

    /// The client for hosts that need no pinned address. It is created for the first webhook: most servers never send
    /// one.
    var plain: HTTPClient {
        shared.withLockedValue { client in
            if let client { return client }
            let made = Self.make()
            client = made
            return made
        }
    }

    /// A new client, which the caller shuts down.
    ///
    /// - Parameter target: a host, and the address that it is resolved to; `nil` to resolve each host.
    static func make(pinning target: (host: String, address: String)? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Each attempt has its own timeout, and the platform decides when a failed one is repeated.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let target { configuration.dnsOverride = [target.host: target.address] }
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    func close() async {
        try? await shared.withLockedValue { $0 }?.shutdown()
    }
}
