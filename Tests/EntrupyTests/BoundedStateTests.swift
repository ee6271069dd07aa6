import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// The memory and files that a server keeps beside its namespaces do not grow with the number of deleted namespaces.
@Suite struct BoundedStateTests {
    private let control = RequestHead(isControl: true)

    /// Seed data that differs for each number, and is quick to read.
    private func seedText(_ number: Int) throws -> String {
        var sections: [String: [Substring]] = [:]
        var section = ""
        for line in try Seed.standard().text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.first?.isLetter == true { section = String(line.prefix { $0 != ":" }) }
            sections[section, default: []].append(line)
        }
        let kept = try ["categories", "texts"].flatMap { try #require(sections[$0]) }
        return """
            organizations: [{name: Org\(number), api_tokens: [t\(number)]}]
            brands: []
            \(kept.joined(separator: "\n"))
            """
    }

    @Test func namespacesWithDistinctSeedsLeaveABoundedNumberOfSeedsAndTemplates() async throws {
        let bench = try NamespaceTests.Bench()
        let environment = try await bench.open().environment
        for number in 0..<max(32, DatabaseTemplates.maxCount) + 8 {
            let seed = try Seed(name: "inline", yaml: seedText(number))
            let recipe = NamespaceRecipe(
                name: "child", seed: seed, randomSeed: 1, settings: .object([:]), frozenAt: nil, ttl: nil)
            let made = try await bench.namespaces.create("child") { try recipe.make($0) }
            #expect(made.secrets.texts.contains("t\(number)"))
            try await bench.namespaces.delete("child")
        }
        #expect((1...32).contains(environment.seeds.count))
        #expect((1...DatabaseTemplates.maxCount).contains(environment.store.templates.count))
    }

    @Test(arguments: [true, false]) func aDeletedNamespaceLeavesNothing(together: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("bounded-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bench = try NamespaceTests.Bench(directory: path)
        let environment = try await bench.open().environment
        let before = try files(path)
        for number in 0..<12 {
            let namespace = try await bench.namespaces.make("n-\(number)", NamespaceOptions())
            guard number.isMultiple(of: 2) else { continue }
            _ = try await namespace.saveSnapshot("s", control).result.get()
            _ = try environment.scenarios.save(namespace.name, "x", "")
            environment.storageHealth.add(namespace.name, "full")
            namespace.closeIdleConnection()
            #expect(
                FileManager.default.createFile(atPath: "\(path)/namespaces/n-\(number).sqlite.schema-2", contents: nil))
        }
        _ = try await bench.namespaces.make("other", NamespaceOptions())
        if together {
            try await bench.namespaces.deleteAll(prefix: "n-")
        } else {
            for number in 0..<12 { try await bench.namespaces.delete("n-\(number)") }
        }
        #expect(bench.namespaces.all().map(\.name) == ["default", "other"])
        #expect(environment.connections.count == 2)
        #expect(environment.storageHealth.list.isEmpty)
        try await bench.namespaces.delete("other")
        #expect(try files(path) == before)
        _ = try await bench.namespaces.make("n-0", NamespaceOptions())
    }

    @Test func requestsWaitForTheDeletionOfTheirNamespaceAndAreRefused() async throws {
        let bench = try NamespaceTests.Bench()
        _ = try await bench.open()
        let namespace = try await bench.namespaces.make("child", NamespaceOptions())
        async let answers = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    switch await namespace.answer(.success(ShowNamespace()), RequestHead(isControl: true)).result {
                    case .success: true
                    case .failure(let error): error.kind == .unknownNamespace
                    }
                }
            }
            return await group.allSatisfy { $0 }
        }
        try await bench.namespaces.deleteAll(prefix: "")
        #expect(await answers)
        #expect(bench.namespaces.all().map(\.name) == ["default"])
    }

    @Test func aSnapshotSavedDuringTheDeletionOfItsNamespaceIsRemoved() async throws {
        let bench = try NamespaceTests.Bench()
        let environment = try await bench.open().environment
        let namespace = try await bench.namespaces.make("child", NamespaceOptions())
        let (copy, moment) = try await namespace.copied()
        try await bench.namespaces.delete("child")
        await #expect(throws: PlatformError.self) { try await namespace.save(copy, "late", moment) }
        #expect(try environment.snapshots.list("child").snapshots.isEmpty)
    }

    @Test func aStartRemovesWhatAnUnfinishedDeletionLeft() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("bounded-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ file: String) throws {
            let url = URL(fileURLWithPath: "\(path)/\(file)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: url)
        }
        let left = [
            "namespaces/child.sqlite-wal", "namespaces/child.sqlite.schema-2", "namespaces/child.sqlite.new-1",
            "snapshots/child/s.sqlite", "scenarios/child/x.yaml",
        ]
        for file in left + ["scenarios/default/kept.yaml"] { try write(file) }
        let environment = try await NamespaceTests.Bench(directory: path).open().environment
        #expect(try environment.scenarios.names("default") == ["kept"])
        let files = try FileManager.default.subpathsOfDirectory(atPath: path)
        #expect(files.filter { $0.contains("child") }.isEmpty)
    }

    /// The files below a data directory. Those that SQLite keeps beside an open database do not count.
    private func files(_ path: String) throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: path).filter {
                !["-wal", "-shm", ".rest"].contains(where: $0.hasSuffix)
            })
    }
}
