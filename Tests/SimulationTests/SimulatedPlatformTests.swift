import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// The engine, with a platform that it does not know.
@Suite struct SimulatedPlatformTests {
    private let time = NIOLockedValueBox(Instant("2026-01-05T09:00:00Z")!)
    private let control = RequestHead(isControl: true)

    private func server(
        _ platform: ParcelPlatform = ParcelPlatform(), _ body: (Namespaces, Namespace) async throws -> Void
    ) async throws {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let seed = "organizations: [{name: Sender, api_tokens: [sender-token]}]"
        let (time, platforms) = (time, Platforms([platform], standardSeed: seed))
        let namespaces = try Namespaces(
            NamespacesConfiguration(
                dataDirectory: nil, durability: .process, seed: platforms.standardSeed(), randomSeed: 1,
                settings: .object([:]), autoCreates: false),
            realTime: { time.withLockedValue { $0 } }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        try await body(namespaces, try #require(namespaces.find("default")))
        try await namespaces.closeAll()
        try await threads.shutdownGracefully()
    }

    private func send(_ namespace: Namespace, to receiver: String = "Ann") async throws -> String {
        try await namespace.answer(.success(SendParcel(to: receiver)), control).result.get()
    }

    private func arrivals(_ namespace: Namespace) async throws -> [Instant] {
        try await namespace.run(control, .reads) { job in
            try job.transaction.all("SELECT arrived_at FROM parcels WHERE arrived_at IS NOT NULL") {
                try $0[0] as Instant
            }
        }.result.get()
    }

    @Test func dueWorkRunsAtItsTimeWithoutARequest() async throws {
        try await server { _, namespace in
            let id = try await send(namespace)
            #expect(namespace.wakeTime == Instant("2026-01-05T10:00:00Z"))
            time.withLockedValue { $0 = Instant("2026-01-07T00:00:00Z")! }
            #expect(try await arrivals(namespace) == [Instant("2026-01-05T10:00:00Z")!])
            let events = try await namespace.run(control, .reads) {
                try $0.transaction.events(after: 0, limit: .max).map { "\($0.kind) \($0.subject)" }
            }.result.get()
            #expect(events == ["parcel.sent \(id)", "parcel.arrived \(id)"])
        }
    }

    /// The engine's tables keep their own domains, whatever a platform calls its own.
    @Test func aDomainOfAPlatformIsForItsOwnTables() async throws {
        var platform = ParcelPlatform()
        platform.tables.names = { _ in ["object": .word(["a parcel"]), "due_kind": .word(["a parcel"])] }
        try await server(platform) { _, namespace in
            _ = try await send(namespace)
            try await namespace.run(control, .reads) { job in
                try job.transaction.validate(NamespaceDomains.tables(job.state.seed))
            }.result.get()
        }
    }

    @Test func idsFollowFromTheSeedAndHaveTheirForm() async throws {
        var ids: [String] = []
        for _ in 0..<2 { try await server { ids.append(try await send($1)) } }
        #expect(ids[0] == ids[1])
        #expect(ids[0].wholeMatch(of: /pcl_[a-z2-7]{20}/) != nil)
    }

    /// The number of ticks, and of the steps of an advance, may depend on real time.
    @Test func aRequestTakesOneIDHoweverManyJobsRun() async throws {
        var ids: [[String]] = []
        for extra in [0, 3] {
            try await server { _, namespace in
                for _ in 0..<extra { await namespace.tick() }
                for _ in 0...extra { _ = try await send(namespace) }
                let advanced = await namespace.advanceClock(
                    .by(Span("2h")!), control, until: SettleDeadline { _ in true })
                let last = await namespace.run(control, .reads) { _ in }
                ids.append([advanced.requestID, last.requestID])
                let expected = await namespace.run(.background, .reads) { job in
                    (2 + extra...3 + extra).map { job.state.generator.text(.controlRequest, counter: Int64($0)) }
                }
                #expect(try ids.last == expected.result.get())
            }
        }
        #expect(Set(ids.joined()).count == 4)
    }

    /// Two servers in one process may have different platforms.
    @Test func aServerMasksTheTokensOfItsOwnPlatformsAlone() async throws {
        let texts = ["key_", "lock_"].map { $0 + String(repeating: "a", count: 40) }
        var masked: [[String]] = []
        for prefix in ["key_", "lock_"] {
            var platform = ParcelPlatform()
            platform.kinds.ids.append(IDKind("token", prefix: prefix, length: 40))
            try await server(platform) { _, namespace in
                masked.append(texts.map { Secrets(namespace.secrets).masked(text: $0) })
            }
        }
        #expect(masked == [["key_***", texts[1]], [texts[0], "lock_***"]])
    }

    @Test func aScenarioUsesThePlatformsActions() async throws {
        try await server { namespaces, namespace in
            let text = """
                name: late
                description: A parcel that is sent late
                clock: {freeze: "2026-01-05T09:00:00Z"}
                timeline: [{at: 30m, send_parcel: {to: Bob}}]
                """
            _ = try await namespaces.putScenario("late", .success(text), namespace, control).result.get()
            let start = ScenarioStart(namespace: nil, replaces: false, ttl: nil, runs: false, isStrict: true)
            _ = try await namespaces.startScenario(
                "late", .success(start), namespace, control, until: SettleDeadline { _ in true }
            ).result
                .get()
            let clock = try await namespace.advanceClock(.by(Span("2h")!), control, until: SettleDeadline { _ in true })
                .result.get()
            #expect(clock.now.hasPrefix("2026-01-05T11:00:00"))
            #expect(try await arrivals(namespace) == [Instant("2026-01-05T10:30:00Z")!])
            let mistake = text.replacing("send_parcel", with: "send_letter")
            let refused = await namespaces.putScenario("late", .success(mistake), namespace, control).result
            guard case .failure(let error) = refused else { return #expect(Bool(false), "was accepted") }
            #expect(error.details.contains { $0.problem.contains("expected at, send_parcel, fault, clear_faults") })
        }
    }

    @Test func snapshotsHoldThePlatformsTables() async throws {
        try await server { namespaces, namespace in
            _ = try await send(namespace)
            _ = try await namespace.saveSnapshot("one", control).result.get()
            _ = try await send(namespace)
            let child = try await namespaces.fork(namespace, snapshot: "one", as: "child", ttl: nil)
            time.withLockedValue { $0 = $0 + Span("2h")! }
            #expect(try await arrivals(namespace).count == 2)
            #expect(try await arrivals(child).count == 1)
        }
    }

    @Test func anUploadedParcelIsCheckedByThePlatform() async throws {
        try await server { namespaces, namespace in
            let platforms = namespaces.environment.platforms
            _ = try await send(namespace)
            func problem() async throws -> String? {
                try await namespace.run(control, .writes) { job in
                    do {
                        _ = try UploadedNamespace.check(job.transaction, settings: .object([:]), platforms)
                        return nil
                    } catch let error as StorageError {
                        return "\(error)"
                    }
                }.result.get()
            }
            #expect(try await problem() == nil)
            _ = try await namespace.run(control, .writes) {
                try $0.transaction.run("UPDATE parcels SET id = 'x'")
            }.result.get()
            #expect(try await problem()?.contains("parcels") == true)
        }
    }
}
