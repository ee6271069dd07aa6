import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// Namespaces whose time to live has expired, at the moment at which a request comes for them.
@Suite struct ExpiryTests {
    private static let control = RequestHead(isControl: true)
    private static let brief = NamespaceOptions(ttl: Span("1s"))

    /// What is found is in use, so the time to live does not count from then on.
    @Test func aNamespaceThatARequestHasFoundDoesNotExpire() async throws {
        let server = ParcelServer()
        try await server.run { namespaces, _ in
            _ = try await namespaces.make("brief", Self.brief)
            server.wait("1h")
            let found = try await namespaces.use("brief")
            await namespaces.deleteExpired()
            _ = try await found.answer(.success(ShowClock()), Self.control).result.get()
            found.endUse()
            server.wait("1s")
            await namespaces.deleteExpired()
            #expect(namespaces.find("brief") == nil)
        }
    }

    /// The server has seen that it expired when the request comes.
    @Test(arguments: [true, false]) func anExpiryThatARequestForestallsDeletesNothing(isRecorded: Bool) async throws {
        try await ParcelServer.withDirectory { path in
            let recorder = isRecorded ? try Recorder(path: path, at: ParcelServer.morning) : nil
            var server = ParcelServer()
            if let recorder { server.order = .recording(recorder) }
            try await server.run { [server] namespaces, _ in
                let brief = try await namespaces.make("brief", Self.brief)
                server.wait("1h")
                let hasExpired = brief.hasExpired
                #expect(hasExpired)
                let found = try await namespaces.use("brief")
                let token = recorder?.makeToken { ParcelServer.morning }
                try await JobToken.$current.withValue(token) {
                    try await namespaces.delete("brief") { $0.hasExpired }
                }
                #expect(namespaces.find("brief") === brief)
                #expect(token?.hasTurns != true, "it takes no place in a recording")
                found.endUse()
            }
        }
    }

    /// Either the request is answered, or the namespace was gone before it came: then there is none of this name.
    @Test func aRequestAndAnExpiryNeverMeetHalfway() async throws {
        let server = ParcelServer()
        try await server.run { namespaces, _ in
            var (answered, gone) = (0, 0)
            for round in 0..<200 {
                let name = "brief-\(round)"
                _ = try await namespaces.make(name, Self.brief)
                server.wait("1h")
                async let expiry: Void = namespaces.deleteExpired()
                let found: Namespace
                do {
                    found = try await namespaces.use(name)
                } catch let error as PlatformError where error.message.contains("there is no namespace") {
                    gone += 1
                    await expiry
                    continue
                }
                _ = try await found.answer(.success(ShowClock()), Self.control).result.get()
                found.endUse()
                answered += 1
                await expiry
            }
            #expect(answered + gone == 200)
        }
    }

    @Test func aNamespaceThatIsMadeForARequestIsInUse() async throws {
        let server = ParcelServer()
        try await server.run { namespaces, namespace in
            _ = try await namespace.saveSnapshot("s", Self.control).result.get()
            let made = [
                try await namespaces.make("made", Self.brief, isInUse: true),
                try await namespaces.makeFresh("fresh", Self.brief, isInUse: true),
                try await namespaces.fork(namespace, snapshot: "s", as: "fork", ttl: Span("1s"), isInUse: true),
            ]
            server.wait("1h")
            await namespaces.deleteExpired()
            for made in made {
                #expect(namespaces.find(made.name) === made)
                made.endUse()
            }
            server.wait("1s")
            await namespaces.deleteExpired()
            #expect(namespaces.all().map(\.name) == ["default"])
        }
    }

    /// Its time to live may be shorter than the wait for the receivers of its webhooks.
    @Test func aNamespaceDoesNotExpireWhileItsScenarioRuns() async throws {
        let text = """
            name: late
            description: A parcel that is sent late
            clock: {freeze: "2026-01-05T09:00:00Z"}
            timeline: [{at: 30m, send_parcel: {to: Bob}}]
            """
        let server = ParcelServer()
        try await server.run { namespaces, namespace in
            _ = try await namespaces.putScenario("late", .success(text), namespace, Self.control).result.get()
            let start = ScenarioStart(namespace: "child", replaces: true, ttl: Span("1s"), runs: true, isStrict: false)
            for _ in 0..<2 {
                let deadline = SettleDeadline { _ in
                    server.wait("1h")
                    await namespaces.deleteExpired()
                    return true
                }
                let run = try await namespaces.startScenario(
                    "late", .success(start), namespace, Self.control, until: deadline
                ).result.get()
                #expect(run.timeline.map(\.state) == ["done"])
            }
            server.wait("1s")
            await namespaces.deleteExpired()
            #expect(namespaces.find("child") == nil, "its use has ended")
        }
    }

    @Test func aUseLastsAsLongAsItsValue() async throws {
        let server = ParcelServer()
        try await server.run { namespaces, _ in
            var use: NamespaceUse? = NamespaceUse(try await namespaces.make("brief", Self.brief))
            server.wait("1h")
            await namespaces.deleteExpired()
            #expect(use != nil && namespaces.find("brief") != nil)
            use = nil
            server.wait("1s")
            await namespaces.deleteExpired()
            #expect(namespaces.find("brief") == nil)
        }
    }
}
