import Foundation
import Logging
import NIOConcurrencyHelpers
import Server
import SimulationAPI

/// A bundle that is open in this process, without a change to the file. Nothing happens in it by itself, and nothing is sent.
struct OpenedBundle: Sendable {
    let client: ControlClient
    let server: SimServer

    /// Opens a bundle or an exported snapshot, and closes it when `body` returns.
    ///
    /// - Throws: ``Refusal`` if the file is not a bundle.
    static func with<Value: Sendable>(
        _ path: String, _ body: @escaping @Sendable (OpenedBundle) async throws -> Value
    ) async throws -> Value {
        try InputFile.checkBundle(path)
        var logger = Logger(label: "entrupy-sim") { TextLogHandler(label: $0) }
        logger.logLevel = .critical
        let made = NIOLockedValueBox<Result<Value, any Error>?>(nil)
        do {
            var configuration = ServerConfiguration(
                version: Release.version,
                namespaces: .init(
                    dataDirectory: nil, durability: .process, seed: try SeedFile.load("standard"), randomSeed: 0,
                    settings: .object([:]), autoCreates: false))
            configuration.namespaces.bundle = path
            configuration.port = 0
            let server = try SimServer(configuration, logger: logger)
            try await server.open { url in
                do {
                    let options = try ControlOptions.parse(["--url", url, "--namespace", "default"])
                    let value = try await body(OpenedBundle(client: ControlClient(options: options), server: server))
                    made.withLockedValue { $0 = .success(value) }
                } catch {
                    made.withLockedValue { $0 = .failure(error) }
                }
            }
        } catch {
            throw await Stop.because(error)
        }
        guard let result = made.withLockedValue({ $0 }) else {
            throw Refusal(.no, "\(path) could not be opened")
        }
        return try result.get()
    }
}
