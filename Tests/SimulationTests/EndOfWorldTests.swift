import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// Who is told that a namespace's world ends, and that it goes on after all.
@Suite struct EndOfWorldTests {
    private struct Refused: Error {}

    /// The names of the worlds that were said to end, and those of them that went on.
    private final class Listener: Sendable {
        let ended = NIOLockedValueBox<[String]>([])
        let wentOn = NIOLockedValueBox<[String]>([])

        init(_ namespaces: Namespaces) {
            namespaces.environment.endOfWorld.withLockedValue {
                $0 = { [ended, wentOn] namespace, _ in
                    ended.withLockedValue { $0.append(namespace.name) }
                    return { wentOn.withLockedValue { $0.append(namespace.name) } }
                }
            }
        }

        var heard: [[String]] { [ended.withLockedValue(\.self), wentOn.withLockedValue(\.self)] }
    }

    @Test func aReplacementThatFailsIsTakenBack() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let listener = Listener(namespaces)
            _ = try await namespace.reset(RequestHead(isControl: true)).result.get()
            #expect(listener.heard == [["default"], []])
            await #expect(throws: Refused.self) { try await namespace.replaceState { _ in throw Refused() } }
            #expect(listener.heard == [["default", "default"], ["default"]])
        }
    }

    @Test func aDeletionThatFailsIsTakenBack() async throws {
        try await ParcelServer().run { namespaces, _ in
            let listener = Listener(namespaces)
            _ = try await namespaces.make("other", NamespaceOptions())
            let asked = NIOLockedValueBox(0)
            // A request finds it between the look and the deletion.
            try await namespaces.delete("other") { _ in
                asked.withLockedValue { count in
                    count += 1
                    return count == 1
                }
            }
            #expect(namespaces.find("other") != nil)
            #expect(listener.heard == [["other"], ["other"]])
            try await namespaces.delete("other")
            #expect(listener.heard == [["other", "other"], ["other"]])
        }
    }
}
