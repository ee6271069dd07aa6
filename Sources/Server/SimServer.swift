import Console
import Evidence
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import Simulation

/// The configuration of a server.
package struct ServerConfiguration: Sendable {
    /// The address to listen on; `nil` for both loopback addresses: 127.0.0.1 and, where the machine has it, `::1` [D listening].
    package var host: String?
    /// The port to listen on. 0 picks a free one.
    package var port = 8642
    /// The port to listen on for HTTPS. `nil` if there is none.
    package var tls: (port: Int, secure: any SecurePort)?
    /// The beginning of absolute URLs. `nil` for the address that was asked, or else `http://127.0.0.1:PORT` [D public-url].
    package var publicURL: String?
    /// The maximum time between a request's head and the end of its body, in real time [D body-timeout].
    package var bodyTimeout = Duration.seconds(30)
    package var connections = ConnectionLimits()
    /// Host names that are accepted besides IP addresses and local names; `.example.com` is that name and all below it
    /// [D hosts].
    package var allowedHosts: [String] = []
    /// The origins whose web pages may use the platforms' routes; `*` for all [D cors].
    package var corsOrigins: [String] = []
    /// The token that control requests must carry. `nil` if they need none [D control-token].
    package var controlToken: String?
    /// The file that every request is recorded to. `nil` if nothing is recorded.
    package var recordsTo: String?
    /// Whether namespaces are judged before they are deleted, for `GET /_sim/audits` [D audit].
    package var keepsAudits = false
    /// The file that the coverage is kept in. `nil` for one in the data directory, if there is one.
    package var coverageFile: String?
    /// The replay in progress. `nil` if this is not a replay.
    var replay: Replay?
    package var version: String
    package var namespaces: NamespacesConfiguration

    package init(version: String, namespaces: NamespacesConfiguration) {
        self.version = version
        self.namespaces = namespaces
    }
}

/// The whole server. Builds the routes, the namespaces and the background services, and runs them.
package struct SimServer: Sendable {
    let configuration: ServerConfiguration
    let logger: Logger
    private let threads: NIOThreadPool
    let namespaces: Namespaces
    /// Records requests. `nil` if the server runs without `--record`.
    let recorder: Recorder?
    let readiness = Readiness()
    let metrics = ServerMetrics()
    private let alarm: DueWorkAlarm
    private let sender: WebhookSender
    let console: Console
    let hosts: HostGuard
    let refused: RefusedRequests
    let sharedReads = SharedReads()
    let coverage: CoverageLedger
    /// The file of the coverage; `nil` if it is in memory alone.
    private let coverageFile: CoverageFile?
    let connections: SharedConnections
    /// Whether the namespaces are those of a replay, which are open already.
    private let continuesReplay: Bool

    typealias ServiceConfiguration = ServiceGroupConfiguration.ServiceConfiguration

    /// The number of threads that run the namespaces' jobs and write images.
    private static let threadCount = 4

    /// Begins to make what each server needs, on threads of their own, while the caller reads its arguments.
    ///
    /// - Parameter standardSeed: whether the server will have the standard seed data.
    package static func prepare(standardSeed: Bool) {
        // The server asks for it again, and gets the error.
        if standardSeed { Thread.detachNewThread { _ = try? Platforms.simulated.standardSeed() } }
        Thread.detachNewThread { _ = EdgeTable.simulated }
    }

    /// - Throws: `StorageError` if the data directory cannot be used, `PlatformError` if settings are wrong.
    package init(_ configuration: ServerConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        refused = RefusedRequests(logger: logger)
        connections = SharedConnections(max: configuration.connections.connections)
        let replay = configuration.replay
        continuesReplay = false
        coverage = CoverageLedger(.simulated) {
            String(UInt64.random(in: .min ... .max), radix: 16)
        } realTime: {
            Double(SystemTime.now().microseconds) / 1_000_000
        }
        coverageFile = try replay == nil ? CoverageFile(configuration, coverage, logger) : nil
        var options = configuration.namespaces
        options.evidence = coverage
        recorder = try configuration.recordsTo.map { try Recorder(path: $0, at: SystemTime.now()) }
        if let recorder { options.jobOrder = .recording(recorder) }
        // The pages' proof is a secret of this run, so it must not follow from the random seed.
        console = Console(
            version: configuration.version, proof: String(UInt64.random(in: .min ... .max), radix: 36))
        alarm = DueWorkAlarm(on: MultiThreadedEventLoopGroup.singleton.any())
        threads = NIOThreadPool(numberOfThreads: Self.threadCount)
        threads.start()
        do {
            // The recording names the hosts of the recorded server.
            let own = replay == nil ? Self.ownNames(configuration) : []
            hosts = HostGuard(
                allowedHosts: configuration.allowedHosts + own, origins: configuration.corsOrigins,
                publicURL: configuration.publicURL)
            namespaces = try Namespaces(
                options, realTime: { replay?.time ?? SystemTime.now() }, threads: threads,
                dueChanged: { [alarm] in alarm.ring(by: $0) })
        } catch {
            threads.shutdownGracefully { _ in }
            throw error
        }
        for warning in namespaces.warnings { logger.warning("\(warning)") }
        namespaces.environment.damaged.setReport { [logger] damaged in
            logger.error(
                "the namespace \(damaged.name) cannot be opened, and its file is kept: \(damaged.problem)")
        }
        if let token = configuration.controlToken { namespaces.environment.registerSecret(token) }
        sender = WebhookSender(namespaces.environment.webhooks, logger: logger)
        connectSender(replay)
    }

    /// A server that goes on with the namespaces of a replay, which has ended ([D replay-serve]).
    init(continuing replayed: SimServer, _ configuration: ServerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        continuesReplay = true
        refused = RefusedRequests(logger: logger)
        connections = SharedConnections(max: configuration.connections.connections)
        recorder = nil
        console = Console(
            version: configuration.version, proof: String(UInt64.random(in: .min ... .max), radix: 36))
        threads = replayed.threads
        namespaces = replayed.namespaces
        coverage = replayed.coverage
        coverageFile = nil
        alarm = replayed.alarm
        hosts = HostGuard(
            allowedHosts: configuration.allowedHosts + Self.ownNames(configuration),
            origins: configuration.corsOrigins, publicURL: configuration.publicURL)
        if let token = configuration.controlToken { namespaces.environment.registerSecret(token) }
        sender = WebhookSender(namespaces.environment.webhooks, logger: logger)
        connectSender(nil)
    }

    /// Hands the attempts of webhooks to the sender, or to a replay, which sends none.
    private func connectSender(_ replay: Replay?) {
        namespaces.environment.webhooks.setSender { [sender] in
            if let replay { replay.send($0) } else { sender.send($0) }
        } holdReason: { [sender] in
            sender.holdReason(namespace: $0, deliveryID: $1)
        }
    }

    /// The names of this machine, of its public address and of its certificate.
    private static func ownNames(_ configuration: ServerConfiguration) -> [String] {
        let publicHost = configuration.publicURL.flatMap { Origin(ofURL: $0)?.address.host }
        return LocalNames.hosts + [publicHost].compactMap(\.self) + (configuration.tls?.secure.names ?? [])
    }

    /// The API tokens of the seed data, by organization.
    package var tokens: [String: [String]] { configuration.namespaces.seed.apiTokens }

    /// The path of the local authority's certificate; `nil` if there is no such file.
    package var authorityPath: String? { configuration.tls?.secure.authorityPath }

    /// Runs until shutdown is requested, then finishes accepted work and closes every namespace.
    ///
    /// - Parameter opened: called once the server is ready.
    package func run(opened: @escaping @Sendable (ServerLocation) async -> Void) async throws {
        try await run(besides: background(), stopsAfterOpening: false, opened: opened)
    }

    /// The services that run beside the HTTP service.
    private func background() -> [ServiceConfiguration] {
        let scheduler = DueWorkScheduler(namespaces: namespaces, alarm: alarm)
        // Namespaces of a replay stay to be looked at.
        let maintenance = MaintenanceTask(namespaces: namespaces, logger: logger, deletesExpired: !continuesReplay)
        var services: [ServiceConfiguration] = [
            .named("due work scheduler", scheduler.run), .named("maintenance task", maintenance.run),
            // Removes images that nothing refers to any more, within seconds and while requests are served [D images-given-up].
            .named("image sweeper") { [namespaces, readiness] in
                await cancelWhenGracefulShutdown {
                    // The first run, once the namespaces are open, also finds images left behind by a process that crashed.
                    var isFull = true
                    // The sleep throws when the server stops, which ends the loop.
                    while (try? await Task.sleep(for: .seconds(5))) != nil {
                        guard readiness.isReady else { continue }
                        // Does nothing if no image lost its last reference.
                        await namespaces.sweepImages(isFull: isFull)
                        isFull = false
                    }
                }
            },
            .named("webhook sender", sender.run),
        ]
        guard let coverageFile else { return services }
        services.append(
            .named("coverage saver") { [environment = namespaces.environment] in
                await cancelWhenGracefulShutdown {
                    var looks = 0
                    // The sleep throws when the server stops, which ends the loop. The server saves once more when all answers are made.
                    while (try? await Task.sleep(for: .seconds(2))) != nil {
                        looks += 1
                        // Numbers that only grew are written at every fifteenth look.
                        let onlyIfNew = !looks.isMultiple(of: 15)
                        // Fails only where the threads have stopped, and the server saves at its end.
                        try? await environment.offload { coverageFile.save(onlyIfNew: onlyIfNew) }
                    }
                }
            })
        return services
    }

    /// Runs until `body` returns whether the namespaces are closed then; else another server goes on with them. No background
    /// services run.
    func runReplay(_ body: @escaping @Sendable (_ port: Int, _ namespaces: Namespaces) async -> Bool) async throws {
        let closes = NIOLockedValueBox(true)
        try await run(besides: [], stopsAfterOpening: true, closes: { closes.withLockedValue { $0 } }) { location in
            let answer = await body(location.port, namespaces)
            closes.withLockedValue { $0 = answer }
        }
    }

    /// Runs until `body` returns. No background services run, so nothing changes by itself.
    package func open(while body: @escaping @Sendable (_ url: String) async -> Void) async throws {
        try await run(besides: [], stopsAfterOpening: true) { await body($0.url) }
    }

    /// - Parameters:
    ///   - others: services that run beside the HTTP service.
    ///   - stopsAfterOpening: whether the server stops when `opened` returns.
    ///   - closes: whether the namespaces are closed at the end. Asked when the server begins to stop, and at the end.
    private func run(
        besides others: [ServiceConfiguration], stopsAfterOpening: Bool,
        closes: @escaping @Sendable () -> Bool = { true },
        opened: @escaping @Sendable (ServerLocation) async -> Void
    ) async throws {
        let failure = StartFailure()
        Task { await namespaces.prepareDefault() }
        let (responder, others) = (responder(), others)
        let ports = OpenedPorts(configuration)
        var listeners = listeners(responder, (configuration.port, "--port"), plainServer(), ports.second, failure) {
            channel in
            guard stopsAfterOpening else { return await open(channel, ports, opened, failure) }
            // No request is answered before this closure returns.
            Task {
                await open(channel, ports, opened, failure)
                await failure.stop()
            }
        }
        if let tls = configuration.tls {
            let secure = try tls.secure.server(
                limits: configuration.connections, requestID: namespaces.environment.nextServerRequestID, logger: logger
            )
            listeners += self.listeners(responder, (tls.port, "--tls-port"), secure, ports.secondTLS, failure) {
                ports.tls?.open($0.localAddress?.port)
            }
        }
        let stopper = ServiceConfiguration.named("stopper") {
            // Throws if the task is cancelled, and the server stops then too.
            try? await gracefulShutdown()
            // Ends long waits, so that their requests are answered and the server can stop.
            if closes() { namespaces.stopWaiting() }
        }
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Services shut down in reverse order, so the last one learns of a shutdown first.
                services: others + listeners + [stopper],
                // The task of a replay requests its shutdown.
                gracefulShutdownSignals: configuration.replay == nil ? [.sigterm, .sigint] : [], logger: logger))
        failure.whenFailed { await services.triggerGracefulShutdown() }
        do {
            try await services.run()
        } catch {
            // The first error tells why the server stops.
            try? await close()
            throw error
        }
        if failure.error != nil || closes() { try await close() }
        if let error = failure.error { throw error }
    }

    private func recordingHead(_ url: String) -> RecordingHead? {
        guard let started = recorder?.startedAt else { return nil }
        let options = configuration.namespaces
        var head = RecordingHead(
            version: configuration.version, random_seed: options.randomSeed, seed: options.seed,
            settings: options.settings, public_url: url, auto_creates: options.autoCreates,
            allows_any_target: options.allowsAnyTarget, allowed_hosts: hosts.allowedHosts.patterns,
            control_token: configuration.controlToken, address: namespaces.environment.webhooks.ownAddress,
            started_at: started)
        if configuration.publicURL == nil { head.follows_requests = true }
        if configuration.keepsAudits { head.keeps_audits = true }
        return head
    }

    /// Opens the namespaces once the port is bound, then starts to answer requests.
    private func open(
        _ channel: any Channel, _ ports: OpenedPorts, _ opened: @Sendable (ServerLocation) async -> Void,
        _ failure: StartFailure
    ) async {
        let port = channel.localAddress?.port ?? configuration.port
        // The services end together, so a port that cannot be opened ends this wait too.
        let tlsPort = await ports.tls?.number
        if configuration.tls != nil, tlsPort == nil { return }
        _ = (await ports.second?.number, await ports.secondTLS?.number)
        if failure.error != nil { return }
        let loopback = configuration.host == "::1" ? "[::1]" : "127.0.0.1"
        let url = configuration.publicURL ?? "http://\(loopback):\(port)"
        namespaces.environment.address.set(
            url,
            followsRequests: configuration.replay.map { $0.head.follows_requests == true }
                ?? (configuration.publicURL == nil))
        namespaces.environment.webhooks.ownAddress =
            configuration.replay?.head.address
            ?? ServerAddress(of: channel, port: port, tlsPort: tlsPort, publicURL: url)
        do {
            if let recorder, let head = recordingHead(url) {
                try recorder.begin(head)
            }
            if !continuesReplay { try await namespaces.openAll() }
            readiness.open()
            let address = configuration.host ?? "127.0.0.1"
            let host = address.contains(":") ? "[\(address)]" : address
            // Clients cannot connect to a wildcard address.
            let isAnywhere = ["0.0.0.0", "::"].contains(address)
            // A name that every client can check: some cannot check addresses.
            let named = isAnywhere || ["127.0.0.1", "::1"].contains(address) ? "localhost" : host
            await opened(
                ServerLocation(
                    url: isAnywhere ? url : "http://\(host):\(port)", port: port,
                    tlsURL: tlsPort.map { "https://\(named):\($0)" }))
        } catch {
            // A failed start must not leave an empty recording.
            if !readiness.isReady { recorder?.discard() }
            await failure.fail(error)
        }
    }

    func close() async throws {
        try await namespaces.closeAll()
        coverageFile?.save()
        try await threads.shutdownGracefully()
    }
}

/// The places where a server answers.
package struct ServerLocation: Sendable {
    package let url: String
    package let port: Int
    /// The same for HTTPS; `nil` if the server has no HTTPS port.
    package let tlsURL: String?
}

/// A service under the name that the log has. The group prints each service once, and for each type that is printed the runtime looks
/// through the whole program: so all are of one type.
private struct NamedService: Service, CustomStringConvertible {
    let description: String
    let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }
}

extension ServiceGroupConfiguration.ServiceConfiguration {
    static func named(_ name: String, _ body: @escaping @Sendable () async throws -> Void) -> Self {
        Self(service: NamedService(description: name, body: body))
    }
}

/// The error that kept the server from opening its namespaces, and the function that stops the server.
final class StartFailure: Sendable {
    private let state = NIOLockedValueBox<(error: (any Error)?, stop: (@Sendable () async -> Void)?)>((nil, nil))

    var error: (any Error)? { state.withLockedValue { $0.error } }

    func whenFailed(_ stop: @escaping @Sendable () async -> Void) {
        state.withLockedValue { $0.stop = stop }
    }

    func fail(_ error: any Error) async {
        state.withLockedValue { $0.error = error }
        await stop()
    }

    func stop() async {
        await state.withLockedValue { $0.stop }?()
    }
}
