import Foundation
import NIOPosix
import Storage
import Testing

@testable import Entrupy
@testable import Simulation

/// The state after a namespace could not be created or replaced, for instance because the disk is full.
@Suite struct FailedReplacementTests {
    private struct DiskIsFull: Error {}

    /// Runs `body` with the namespaces of a fresh data directory.
    private func withNamespaces(_ body: (Namespaces) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-sim-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        let namespaces = try Namespaces(
            NamespacesConfiguration(
                dataDirectory: directory, durability: .process, seed: .standard(), randomSeed: 1,
                settings: .object([:]), autoCreates: false),
            realTime: { Instant("2026-01-05T09:00:00Z")! }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        try await body(namespaces)
        try await namespaces.closeAll()
        try await threads.shutdownGracefully()
    }

    @Test func aNamespaceThatCouldNotBeCreatedIsNotStored() async throws {
        try await withNamespaces { namespaces in
            let recipe = try namespaces.recipe("new", NamespaceOptions())
            await #expect(throws: PlatformError.self) {
                try await namespaces.create("new") { environment in
                    try recipe.make(environment).close()
                    throw DiskIsFull()
                }
            }
            #expect(try namespaces.environment.store.names() == ["default"])
        }
    }

    @Test func aNamespaceContinuesIfItsReplacementFailsAfterItWasClosed() async throws {
        try await withNamespaces { namespaces in
            let namespace = try #require(namespaces.find("default"))
            let head = RequestHead(isControl: true)
            let template = try ItemTemplate(
                count: 2, username: nil, result: nil, reason: nil, flag: nil, item: ["brand": .string("Nike")])
            _ = try await namespace.generateItems(.success(template), head).result.get()
            await #expect(throws: DiskIsFull.self) {
                try await namespace.runExclusively { world in
                    try world?.database.close()
                    throw DiskIsFull()
                }
            }
            let items = await namespace.answer(.success(ListAuthentications(limit: 10, cursor: nil)), head)
            #expect(try items.result.get().authentications.count == 2)
        }
    }
}
