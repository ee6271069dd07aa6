import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// A namespace whose database cannot be read for a while.
@Suite struct StorageFailureTests {
    private static let control = RequestHead(isControl: true)

    /// Changes the settings in memory, loses its transaction as a full disk does, and leaves a database that cannot be read.
    private struct LoseEverything: Simulation.Operation {
        static let access = Access.writes

        func perform(_ job: JobContext, as caller: Control) throws {
            _ = try PatchSettings(Self.patch).perform(job)
            try job.transaction.run("ROLLBACK")
            // Outside a transaction, so it is stored at once.
            try job.transaction.run("UPDATE world SET key = 'hidden' WHERE key = 'random_seed'")
            throw StorageError.unavailable("the disk is full")
        }

        static let patch: JSONValue = .object(["journal": .object(["entries": .number(JSONNumber(7))])])
    }

    private func entries(_ namespace: Namespace) async -> Result<Int?, PlatformError> {
        await namespace.answer(.success(ShowSettings()), Self.control).result.map { settings in
            guard case .number(let number) = settings.members?["journal"]?.members?["entries"] else { return nil }
            return number.integer
        }
    }

    /// Runs `body` with a namespace whose memory has settings that never committed, and a function that makes its database
    /// readable.
    private func withLostTransaction(
        onDisk: Bool, _ body: (Namespaces, Namespace, _ repair: () throws -> Void) async throws -> Void
    ) async throws {
        try await ParcelServer.withDirectory { directory in
            try await ParcelServer(directory: onDisk ? directory : nil).run { namespaces, namespace in
                let database = try await namespace.run(Self.control, .reads) { $0.state.database }.result.get()
                let lost = await namespace.answer(.success(LoseEverything()), Self.control).result
                guard case .failure(let error) = lost, error.kind == .unavailable else {
                    Issue.record("\(lost)")
                    return
                }
                try await body(namespaces, namespace) {
                    try database.transaction {
                        try $0.run("UPDATE world SET key = 'random_seed' WHERE key = 'hidden'")
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false]) func nothingOfALostTransactionIsAnsweredWhileTheDatabaseCannotBeRead(
        onDisk: Bool
    ) async throws {
        try await withLostTransaction(onDisk: onDisk) { namespaces, namespace, repair in
            for _ in 0..<2 {
                guard case .failure(let error) = await entries(namespace) else {
                    Issue.record("settings that were never stored are shown")
                    break
                }
                #expect(error.kind == .unavailable && error.message.contains("not a namespace"), "\(error)")
            }
            #expect(namespaces.environment.storageHealth.list.map(\.name) == ["default"])
            #expect(await namespaces.storageProblem()?.contains("not a namespace") == true)
            try repair()
            #expect(try await entries(namespace).get() == 10_000)
            #expect(await namespaces.storageProblem() == nil)
        }
    }

    /// It would copy, or write down, what never committed.
    @Test func noSnapshotIsTakenAndNoResetMadeMeanwhile() async throws {
        try await withLostTransaction(onDisk: true) { _, namespace, repair in
            for result in [
                await namespace.saveSnapshot("s", Self.control).map { _ in }.result,
                await namespace.reset(Self.control).map { _ in }.result,
            ] {
                guard case .failure(let error) = result else {
                    Issue.record("it was done")
                    continue
                }
                #expect(error.kind == .unavailable && error.message.contains("not a namespace"), "\(error)")
            }
            namespace.closeIdleConnection()
            try repair()
            _ = try await namespace.saveSnapshot("s", Self.control).result.get()
        }
    }

    @Test func webhooksInFlightBelongToTheNamespaceThatIsOpenedAgain() async throws {
        try await withLostTransaction(onDisk: true) { _, namespace, repair in
            let before = namespace.outbox.generation
            try repair()
            let after = try await namespace.run(Self.control, .reads) { $0.state.generation }.result.get()
            #expect(before == after && namespace.outbox.generation == after)
        }
    }

    /// Moves the clock, and loses its transaction as a full disk does.
    private struct LoseAdvance: Simulation.Operation {
        static let access = Access.writes

        func perform(_ job: JobContext, as caller: Control) throws {
            let step = StepClock(target: job.now + .hour, generation: job.state.generation)
            _ = try step.perform(job)
            try job.transaction.run("ROLLBACK")
            throw StorageError.unavailable("the disk is full")
        }
    }

    @Test func anAdvanceThatWasLostDoesNotMoveTheClock() async throws {
        try await ParcelServer().run { _, namespace in
            _ = try await namespace.answer(.success(FreezeClock(at: nil)), Self.control).result.get()
            let before = try await namespace.answer(.success(ShowClock()), Self.control).result.get()
            guard case .failure = await namespace.answer(.success(LoseAdvance()), Self.control).result else {
                Issue.record("it was not lost")
                return
            }
            let after = try await namespace.answer(.success(ShowClock()), Self.control).result.get()
            #expect(after.now == before.now)
        }
    }

    private struct Stop: Error {}

    @Test func aNamespaceWhoseReplacementFailedOpensAgainWhenItsFileCanBeRead() async throws {
        try await ParcelServer.withDirectory { directory in
            try await ParcelServer(directory: directory).run { _, namespace in
                let path = directory + "/namespaces/default.sqlite"
                await #expect(throws: Stop.self) {
                    try await namespace.runExclusively { state in
                        try state?.database.close()
                        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
                        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                        throw Stop()
                    }
                }
                for _ in 0..<2 {
                    guard case .failure(let error) = await entries(namespace) else {
                        Issue.record("it has no database")
                        break
                    }
                    #expect(error.kind == .unavailable && error.message.contains(path), "\(error)")
                }
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
                #expect(try await entries(namespace).get() == 10_000)
            }
        }
    }

    /// As one that was closed when the server started.
    @Test func aNamespaceThatCannotBeOpenedSaysWhyAndNotThatItWasDeleted() async throws {
        try await ParcelServer.withDirectory { directory in
            try await ParcelServer(directory: directory).run { namespaces, namespace in
                let summary = try await namespace.runExclusively { try $0?.closeIdleConnection() }
                let path = directory + "/namespaces/broken.sqlite"
                try Data("not a database".utf8).write(to: URL(fileURLWithPath: path))
                let idle: IdleNamespace = try #require(summary)
                let broken = Namespace("broken", namespaces.environment, idle: idle)
                guard case .failure(let error) = await broken.run(Self.control, .reads, { _ in }).result else {
                    Issue.record("it was opened")
                    return
                }
                #expect(error.kind == .unavailable && error.message.contains("cannot be opened"), "\(error)")
                #expect(error.message.contains(path), "\(error)")
                // A reset begins anew, and keeps the file.
                _ = try await broken.reset(Self.control).result.get()
                _ = try await broken.run(Self.control, .reads) { _ in }.result.get()
                #expect(try String(contentsOfFile: path + ".damaged", encoding: .utf8) == "not a database")
                try FileManager.default.removeItem(atPath: path)
            }
        }
    }
}
