import Foundation
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// The comparison of states by the engine, with a platform that declares nothing for it [D diff].
@Suite struct DifferenceTests {
    private let control = RequestHead(isControl: true)

    private func compare(
        _ from: ComparedName, _ to: ComparedName, _ namespaces: Namespaces, _ namespace: Namespace
    ) async throws -> StateDifference {
        try await namespaces.difference(ComparedNames(from: from, to: to), of: namespace, control).result.get()
    }

    private func set(_ namespace: Namespace, _ patch: JSONValue) async throws {
        _ = try await namespace.answer(.success(PatchSettings(patch)), control).result.get()
    }

    private func refused(_ body: () async throws -> StateDifference) async -> PlatformError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? PlatformError
        }
    }

    /// In memory, and on disk.
    private func everywhere(_ body: (Namespaces, Namespace) async throws -> Void) async throws {
        try await ParcelServer().run(body)
        try await ParcelServer.withDirectory { try await ParcelServer(directory: $0).run(body) }
    }

    @Test func aStateDiffersFromItsSnapshotByWhatWasChanged() async throws {
        try await everywhere { namespaces, namespace in
            _ = try await namespace.saveSnapshot("before", control).result.get()
            #expect(try await compare(.snapshot("before"), .now, namespaces, namespace).equal)
            #expect(try await compare(.now, .namespace("default"), namespaces, namespace).equal)
            #expect(try await compare(.snapshot("before"), .snapshot("before"), namespaces, namespace).equal)
            // The platform needs nothing, and its tables are not compared.
            _ = try await namespace.answer(.success(SendParcel(to: "Ann")), control).result.get()
            try await set(namespace, ["webhooks": ["timeout": "3s"]])
            let found = try await compare(.snapshot("before"), .now, namespaces, namespace)
            #expect(found.objects.map(\.kind) == ["setting"] && found.objects[0].key == ["name": "webhooks.timeout"])
            #expect(found.objects[0].members.map { [$0.from, $0.to] } == [["10s", "3s"]])
            // Reading has changed nothing.
            _ = try await namespace.restoreSnapshot("before", control).result.get()
            #expect(try await compare(.now, .snapshot("before"), namespaces, namespace).equal)
        }
    }

    @Test func aNamespaceOfAnotherSeedDiffersInIt() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let seed: JSONValue = ["organizations": [["name": "Other", "api_tokens": ["other-token"]]]]
            _ = try await namespaces.make("other", NamespaceOptions(seed: seed))
            let found = try await compare(.now, .namespace("other"), namespaces, namespace)
            #expect(
                found.objects.map { "\($0.change) \($0.kind)" } == [
                    "changed namespace", "removed organization", "added organization", "removed api_token",
                    "added api_token",
                ])
            #expect(found.objects[0].members.map(\.name).contains("seed_data"))
            let text = try StoredJSON.encode(found)
            #expect(!text.contains("sender-token") && !text.contains("other-token"), "\(text)")
        }
    }

    @Test func aStateThatDoesNotExistIsNamedWithTheNearest() async throws {
        try await everywhere { namespaces, namespace in
            let other = try await namespaces.make("others", NamespaceOptions())
            _ = try await other.saveSnapshot("theirs", control).result.get()
            _ = try await namespace.saveSnapshot("before", control).result.get()
            for (name, hint) in [
                (ComparedName.namespace("othres"), "did you mean others?"),
                (.snapshot("befor"), "did you mean before?"),
                // A snapshot of another namespace is out of reach.
                (.snapshot("theirs"), "there is no snapshot \"theirs\""),
            ] {
                let error = await refused { try await compare(.now, name, namespaces, namespace) }
                #expect(
                    error?.kind == .notFound && error?.message.contains(hint) == true, "\(String(describing: error))")
            }
            #expect(namespaces.find("othres") == nil)
            #expect(try await compare(.snapshot("theirs"), .namespace("default"), namespaces, other).equal)
        }
    }

    @Test func aMalformedNameIsRefused() {
        for text in [
            "", "then", "now:", "namespace:", "namespace:A", "snapshot:", "snapshot:../x", "snapshot:.a",
            "namespace:a:b", "NOW",
        ] {
            #expect(ComparedName(text) == nil, "\(text)")
        }
        #expect(
            ComparedName("snapshot:a.b_c-1") == .snapshot("a.b_c-1")
                && ComparedName("namespace:a-1") == .namespace("a-1"))
    }

    /// Both states are read whole as they were when the comparison began.
    @Test func aNamespaceMayChangeOrGoWhileItIsCompared() async throws {
        try await everywhere { namespaces, namespace in
            let other = try await namespaces.make("other", NamespaceOptions())
            let (from, to) = (try await namespace.copied().0, try await other.copied().0)
            try await set(namespace, ["webhooks": ["timeout": "3s"]])
            try await namespaces.delete("other")
            let comparison = StateComparison(platforms: namespaces.environment.platforms, secrets: [])
            #expect(try comparison.difference(from: .copy(from), to: .copy(to)).equal)
            from.cancel()
            to.cancel()
            let gone = await refused { try await compare(.now, .namespace("other"), namespaces, namespace) }
            #expect(gone?.kind == .notFound)
        }
    }

    @Test func aSnapshotOfAnotherVersionIsNotRead() async throws {
        try await ParcelServer.withDirectory { directory in
            try await ParcelServer(directory: directory).run { namespaces, namespace in
                _ = try await namespace.saveSnapshot("old", control).result.get()
                let path = "\(directory)/snapshots/default/old.sqlite"
                let file = try NamespaceDatabase(forCopyAt: path)
                try file.transaction { try $0.run("DELETE FROM grdb_migrations WHERE identifier = 'parcels'") }
                try file.close()
                let error = await refused { try await compare(.now, .snapshot("old"), namespaces, namespace) }
                #expect(
                    error?.kind == .wrongState && error?.message.contains("another version") == true,
                    "\(String(describing: error))")
            }
        }
    }
}
