import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import Storage
import Testing

@testable import Simulation

/// The engine with a platform of the tests, in memory or on disk. The test sets the real time.
struct ParcelServer {
    static let morning = Instant("2026-01-05T09:00:00Z")!

    let time = NIOLockedValueBox(Self.morning)
    /// The data directory; `nil` for namespaces in memory.
    var directory: String?
    var platform: any SimulatedPlatform = ParcelPlatform()
    var order = JobOrder.live

    func wait(_ span: String) {
        time.withLockedValue { $0 = $0 + Span(span)! }
    }

    /// Runs `body` with an open server that has one thread for jobs, and closes it.
    func run(_ body: (Namespaces, Namespace) async throws -> Void) async throws {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let platforms = Platforms(
            [platform], standardSeed: "organizations: [{name: Sender, api_tokens: [sender-token]}]")
        var configuration = NamespacesConfiguration(
            dataDirectory: directory, durability: .process, seed: try platforms.standardSeed(), randomSeed: 1,
            settings: .object([:]), autoCreates: false)
        configuration.jobOrder = order
        let namespaces = try Namespaces(
            configuration, realTime: { [time] in time.withLockedValue { $0 } }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        try await body(namespaces, try #require(namespaces.find("default")))
        try await namespaces.closeAll()
        try await threads.shutdownGracefully()
    }

    /// Runs `body` with the path of a folder that does not exist yet, and removes it.
    static func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("parcels-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }
}

/// Waits until another thread makes `condition` true.
func waitUntil(_ condition: @Sendable () -> Bool) async {
    while !condition() { await Task.yield() }
}
