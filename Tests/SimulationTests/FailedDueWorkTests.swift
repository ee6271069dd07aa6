import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// Scheduled work that fails: by itself, or because of the disk [D failed-due-work].
@Suite struct FailedDueWorkTests {
    /// A platform with work that fails in the way that its subject names, and work that does not.
    private struct FailingPlatform: SimulatedPlatform {
        /// Whether storage fails.
        let isDiskFull = NIOLockedValueBox(false)

        var kinds: PlatformKinds {
            PlatformKinds(
                events: [.workDone],
                due: [
                    .work,
                    DueKind("work.failing", isConsequence: true, shown: { "shown-\($0)" }) {
                        [isDiskFull] subject, job in
                        // Undone with the rest of it.
                        try job.record(.workDone, "half of \(subject)")
                        try Self.fail(subject, isDiskFull: isDiskFull.withLockedValue { $0 }, job)
                    },
                ])
        }

        private static func fail(_ subject: String, isDiskFull: Bool, _ job: JobContext) throws {
            switch subject {
            case "refusal": throw PlatformError.wrongState("the thing is gone")
            case "value": _ = try StoredJSON.decode("{")
            case "constraint": try job.transaction.run("INSERT INTO counters VALUES ('a', 1), ('a', 2)")
            case "statement": try job.transaction.run("INSERT INTO nowhere VALUES (1)")
            case "full disk":
                guard isDiskFull else { return }
                try job.transaction.run("ROLLBACK")
                throw StorageError.unavailable("the disk is full")
            case "read error": if isDiskFull { throw StorageError.unavailable("the disk cannot be read") }
            default: Issue.record("\(subject)")
            }
        }
    }

    private let control = RequestHead(isControl: true)

    /// Schedules work in an hour, and other work an hour later.
    private func schedule(_ kind: String, _ subject: String, _ namespace: Namespace) async throws {
        try await namespace.run(control, .writes) { job in
            try job.transaction.insertDue(at: job.now + .hour, kind: kind, subject: subject)
            try job.schedule(.work, "later", at: job.now + .hour + .hour)
            job.state.nextDue = job.now + .hour
        }.result.get()
    }

    /// The events of the log: time, kind and subject.
    private func events(_ namespace: Namespace) async throws -> [String] {
        try await namespace.run(control, .reads) { job in
            try job.transaction.events(after: 0, limit: 100).map {
                "\($0.at.display.dropFirst(11).prefix(5)) \($0.kind) \($0.subject)"
            }
        }.result.get()
    }

    private func failure(_ namespace: Namespace) async throws -> JSONValue {
        let page = ListEvents(
            subject: nil, kind: Glob("due_work.failed"), sequences: (0, .max), limit: 10, cursor: nil)
        return try #require(try await namespace.answer(.success(page), control).result.get().events.first).data
    }

    @Test(arguments: [
        ("work.failing", "refusal", "shown-refusal", "the thing is gone"),
        ("work.failing", "value", "shown-value", "malformed JSON"),
        ("work.failing", "constraint", "shown-constraint", "UNIQUE constraint failed"),
        ("work.failing", "statement", "shown-statement", "no such table"),
        ("of.a.later.version", "thing", "thing", "no work of the kind of.a.later.version"),
    ])
    func workThatFailsIsSetAsideAndTheRestGoesOn(
        kind: String, subject: String, shown: String, problem: String
    ) async throws {
        let server = ParcelServer(platform: FailingPlatform())
        try await server.run { _, namespace in
            try await schedule(kind, subject, namespace)
            server.wait("3h")
            let found = try await events(namespace)
            #expect(found == ["10:00 due_work.failed \(shown)", "11:00 work.done later"])
            let data = try await failure(namespace)
            #expect(data.members?["kind"]?.text == kind)
            #expect(data.members?["problem"]?.text?.contains(problem) == true, "\(data)")
            let due = try await namespace.answer(.success(ListDue(limit: 10)), control).result.get()
            #expect(due.due.isEmpty && due.total == 0)
            let unsettled = FindUnsettled(inFlight: 0)
            #expect(try await namespace.answer(.success(unsettled), control).result.get().settlement.settled)
            #expect(namespace.wakeTime == nil)
            #expect(namespace.environment.storageHealth.list.isEmpty)
        }
    }

    @Test func anAdvanceOfTheClockPassesWorkThatFails() async throws {
        let server = ParcelServer(platform: FailingPlatform())
        try await server.run { _, namespace in
            _ = try await namespace.answer(.success(FreezeClock(at: nil)), control).result.get()
            try await schedule("work.failing", "refusal", namespace)
            let next = try await namespace.advanceClock(.next, control, until: SettleDeadline { _ in true }).result
                .get()
            #expect(next.reached == true && next.now.hasPrefix("2026-01-05T10:00:00"))
            let end = try await namespace.advanceClock(.by(.hour), control, until: SettleDeadline { _ in true }).result
                .get()
            #expect(end.reached == true)
            let kinds = try await events(namespace).map { $0.split(separator: " ")[1] }
            #expect(
                kinds == ["clock.frozen", "due_work.failed", "clock.advanced", "work.done", "clock.advanced"])
        }
    }

    /// A full disk ends the transaction; a read error may leave it open.
    @Test(arguments: ["full disk", "read error"])
    func workThatStorageFailsStaysDueAndIsTriedAgain(subject: String) async throws {
        let platform = FailingPlatform()
        let server = ParcelServer(platform: platform)
        try await server.run { _, namespace in
            try await schedule("work.failing", subject, namespace)
            server.wait("3h")
            platform.isDiskFull.withLockedValue { $0 = true }
            for _ in 0..<2 {
                guard case .failure(let error) = await namespace.run(control, .reads, { _ in }).result else {
                    Issue.record("the request was answered")
                    return
                }
                #expect(error.kind == .unavailable && error.message.contains("the disk"), "\(error)")
            }
            #expect(namespace.environment.storageHealth.list.map(\.name) == ["default"])
            platform.isDiskFull.withLockedValue { $0 = false }
            let found = try await events(namespace)
            #expect(found == ["10:00 work.done half of \(subject)", "11:00 work.done later"])
        }
    }

    @Test func workThatWasSetAsideStaysSoAfterARestart() async throws {
        try await ParcelServer.withDirectory { directory in
            var server = ParcelServer(directory: directory + "/first", platform: FailingPlatform())
            try await server.run { _, namespace in
                try await schedule("work.failing", "refusal", namespace)
                server.wait("90m")
                #expect(try await events(namespace).count == 1)
            }
            // This process still has the first directory locked.
            server.directory = directory + "/second"
            try FileManager.default.copyItem(atPath: directory + "/first", toPath: directory + "/second")
            try await server.run { _, namespace in
                server.wait("1h")
                let found = try await events(namespace)
                #expect(found == ["10:00 due_work.failed shown-refusal", "11:00 work.done later"])
            }
        }
    }

    /// The recording has no word about the failure: the replay meets it at the same place.
    @Test func aReplaySetsTheSameWorkAside() async throws {
        try await ParcelServer.withDirectory { path in
            let recorder = try Recorder(path: path, at: ParcelServer.morning)
            try recorder.begin(
                RecordingHead(
                    version: "test", random_seed: 1,
                    seed: Platforms(
                        [FailingPlatform()], standardSeed: "organizations: [{name: Sender, api_tokens: [t]}]"
                    )
                    .standardSeed(),
                    settings: .object([:]), public_url: "http://x", auto_creates: false, allows_any_target: false,
                    allowed_hosts: [], control_token: nil, address: nil, started_at: ParcelServer.morning))
            let server = ParcelServer(platform: FailingPlatform(), order: .recording(recorder))
            var seen: [String] = []
            try await server.run { namespaces, namespace in
                let sequencer = namespaces.environment.sequencer
                func request(_ target: String, _ body: () async throws -> Void) async throws {
                    try await sequencer.request(body) { _ in
                        {
                            RecordedRequest(
                                method: "GET", target: target, host: nil, headers: [], body: nil, status: 200,
                                answer_headers: [], answer: nil)
                        }
                    }
                }
                try await request("/schedule") { try await schedule("work.failing", "refusal", namespace) }
                server.wait("90m")
                await namespace.tick()
                try await request("/events") { seen = try await events(namespace) }
            }
            #expect(seen == ["10:00 due_work.failed shown-refusal"])

            let replay = try await Replay(Recording.read(path))
            let again = ParcelServer(
                platform: FailingPlatform(), order: .replaying(from: ParcelServer.morning))
            let found = NIOLockedValueBox<[String]>([])
            try await again.run { namespaces, namespace in
                let report = await replay.run(namespaces) { request, index in
                    await replay.request("\(index)")?.run {
                        if request.target == "/schedule" {
                            try? await schedule("work.failing", "refusal", namespace)
                        } else {
                            let events = (try? await events(namespace)) ?? []
                            found.withLockedValue { $0 = events }
                        }
                    }
                    return (differences: [], comparesBody: true)
                }
                #expect(report.requests == 2 && report.incomplete == nil, "\(report)")
            }
            #expect(found.withLockedValue { $0 } == seen)
        }
    }
}

extension EventKind {
    fileprivate static let workDone = EventKind("work.done")
}

extension DueKind {
    fileprivate static let work = DueKind("work", isConsequence: true) { try $1.record(.workDone, $0) }
}
