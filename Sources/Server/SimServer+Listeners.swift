import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension SimServer {
    /// The services that listen on a port: one, or by default one for each loopback address.
    ///
    /// - Parameters:
    ///   - port: the port, and the option that chose it.
    ///   - second: gets the port on `::1`; `nil` if the server listens on one address.
    func listeners(
        _ responder: Pipeline, _ port: (number: Int, option: String), _ server: HTTPServerBuilder,
        _ second: OpenedPort?, _ failure: StartFailure,
        opened: @escaping @Sendable (any Channel) async -> Void
    ) -> [ServiceConfiguration] {
        let first = second.map { _ in OpenedPort() }
        let application = application(responder, configuration.host ?? "127.0.0.1", port.number, server) {
            first?.open($0.localAddress?.port)
            await opened($0)
        }
        let main = ServiceConfiguration.named("HTTP") {
            do {
                try await application.run()
            } catch let error as IOError {
                guard let reason = PortRefused.Reason(errorNumber: error.errnoCode) else { throw error }
                throw PortRefused(port: port.number, option: port.option, reason: reason)
            }
        }
        guard let first, let second else { return [main] }
        return [
            main, .named("HTTP on ::1") { try await listenToo(responder, port, server, first, second, failure) },
        ]
    }

    /// Listens on `::1` too, on the port that the server has on 127.0.0.1, so that `localhost` reaches it whichever address comes first
    /// [D listening].
    ///
    /// - Parameters:
    ///   - first: the port on 127.0.0.1, once it is open.
    ///   - second: gets the port on `::1`; `nil` if there is none.
    private func listenToo(
        _ responder: Pipeline, _ port: (number: Int, option: String), _ server: HTTPServerBuilder,
        _ first: OpenedPort, _ second: OpenedPort, _ failure: StartFailure
    ) async throws {
        if let number = await first.number {
            do {
                return try await application(responder, "::1", number, server) { second.open($0.localAddress?.port) }
                    .run()
            } catch let error as IOError {
                // The machine has no such address, or another program has the free port there.
                if port.number != 0, error.errnoCode == EADDRINUSE {
                    await failure.fail(
                        PortRefused(port: number, option: port.option, reason: .inUse, address: "::1"))
                }
                second.open(nil)
            }
        }
        // Throws if the task is cancelled, and the server stops then too.
        try? await gracefulShutdown()
    }

    /// An HTTP server on one address, with the responder and the limit of connections that all share.
    private func application(
        _ responder: Pipeline, _ host: String, _ port: Int, _ server: HTTPServerBuilder,
        opened: @escaping @Sendable (any Channel) async -> Void
    ) -> any ApplicationProtocol {
        Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), availableConnectionsDelegate: connections),
            onServerRunning: { [connections] in
                connections.add($0)
                await opened($0)
            }, logger: logger)
    }

    func plainServer() -> HTTPServerBuilder {
        HTTPServerBuilder { [limits = configuration.connections, environment = namespaces.environment] in
            SimChannel($0, limits: limits, requestID: environment.nextServerRequestID)
        }
    }
}

/// The ports of a server that its start waits for.
struct OpenedPorts: Sendable {
    let tls, second, secondTLS: OpenedPort?

    init(_ configuration: ServerConfiguration) {
        tls = configuration.tls.map { _ in OpenedPort() }
        second = configuration.host == nil ? OpenedPort() : nil
        secondTLS = configuration.host == nil ? tls.map { _ in OpenedPort() } : nil
    }
}
