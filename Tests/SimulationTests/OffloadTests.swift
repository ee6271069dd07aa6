import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

/// Work that takes long or blocks, and the threads that it runs on.
@Suite struct OffloadTests {
    /// A platform that notes whether it is read by a task, that is on a cooperative thread.
    private struct NotingPlatform: SimulatedPlatform {
        /// Whether a task ran, for each time that seed data or a scenario was read.
        let readings = NIOLockedValueBox<[Bool]>([])

        private func note() {
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            readings.withLockedValue { $0.append(isInTask) }
        }

        func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed {
            note()
            return EmptyPart()
        }

        var scenarios: PlatformScenarios {
            PlatformScenarios(actions: [
                ScenarioAction.Kind("do_nothing", members: []) { _, _ in
                    note()
                    return { _ in }
                }
            ])
        }
    }

    private static let control = RequestHead(isControl: true)
    private static let scenario = """
        name: idle
        description: Nothing happens
        seed: {organizations: [{name: Other, api_tokens: [other]}]}
        timeline: [{at: 1m, do_nothing: {}}]
        """
    private static let seed = JSONValue.object([
        "organizations": .array([.object(["name": .string("Inline"), "api_tokens": .array([.string("inline")])])])
    ])

    /// A request that reads YAML.
    enum Reading: CaseIterable {
        case put, list, show, start, make, makeFresh, load
    }

    private func ask(_ reading: Reading, _ namespaces: Namespaces, _ namespace: Namespace) async throws {
        let control = Self.control
        switch reading {
        case .put:
            _ = try await namespaces.putScenario("idle", .success(Self.scenario), namespace, control).result.get()
        case .list: _ = try await namespaces.listScenarios(namespace, control).result.get()
        case .show: _ = try await namespaces.showScenario("idle", namespace, control).result.get()
        case .start:
            let start = ScenarioStart(namespace: "child", replaces: true, ttl: nil, runs: false, isStrict: true)
            _ = try await namespaces.startScenario(
                "idle", .success(start), namespace, control, until: SettleDeadline { _ in true }
            ).result
                .get()
        case .make: _ = try await namespaces.make("made", NamespaceOptions(seed: Self.seed))
        case .makeFresh: _ = try await namespaces.makeFresh(nil, NamespaceOptions(seed: Self.seed))
        case .load:
            let text = "organizations: [{name: Later, api_tokens: [later]}]"
            _ = try await namespace.loadSeed(.success(text), control).result.get()
        }
    }

    @Test func noYAMLIsReadOnACooperativeThread() async throws {
        let platform = NotingPlatform()
        try await ParcelServer(platform: platform).run { namespaces, namespace in
            for reading in Reading.allCases {
                platform.readings.withLockedValue { $0 = [] }
                try await ask(reading, namespaces, namespace)
                let wasInTask = platform.readings.withLockedValue { $0 }
                #expect(!wasInTask.isEmpty && !wasInTask.contains(true), "\(reading): \(wasInTask)")
            }
        }
    }

    /// Files of scenarios may be on a disk that hangs. The work's threads wait for it, and no others.
    @Test(.timeLimit(.minutes(15))) func requestsAreAnsweredWhileScenariosAreRead() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<2 { namespaces.environment.workThreads.submit { _ in gate.wait() } }
            let count = 4 * ProcessInfo.processInfo.activeProcessorCount
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await namespaces.listScenarios(namespace, Self.control).result.get().scenarios.count
                    }
                }
                // Every one of them has taken its place, and waits for a thread.
                for _ in 0..<3 { _ = try await namespace.answer(.success(ShowClock()), Self.control).result.get() }
                for _ in 0..<2 { gate.signal() }
                for try await found in group { #expect(found == 0) }
            }
        }
    }

    /// Seed data may take seconds to read. The line of work of its namespace does not wait for it.
    @Test(.timeLimit(.minutes(15))) func aNamespaceAnswersWhileSeedDataIsRead() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<2 { namespaces.environment.workThreads.submit { _ in gate.wait() } }
            let isLoaded = NIOLockedValueBox(false)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for name in ["First", "Second"] {
                    group.addTask {
                        let text = "organizations: [{name: \(name), api_tokens: [\(name)]}]"
                        let loaded = try await namespace.loadSeed(.success(text), Self.control).result.get()
                        isLoaded.withLockedValue { $0 = true }
                        return loaded.organizations
                    }
                }
                for _ in 0..<50 {
                    _ = try await namespace.answer(.success(ShowClock()), Self.control).result.get()
                    await Task.yield()
                }
                #expect(!isLoaded.withLockedValue { $0 }, "the data is read on the threads that are busy")
                for _ in 0..<2 { gate.signal() }
                for try await organizations in group { #expect(organizations == 1) }
            }
            // Neither took the other's for the whole.
            let seed = try await namespace.run(.background, .reads) { $0.state.seed }.result.get()
            #expect(Set(["First", "Second"]).isSubset(of: seed.organizations.map(\.name)))
        }
    }

    /// Runs until the gate opens.
    private struct Comparison: Simulation.Operation {
        static let access = Access.reads
        static let isLong = true
        let gate: DispatchSemaphore

        func perform(_ job: JobContext, as caller: Control) throws { gate.wait() }
    }

    /// There is one thread for jobs.
    @Test(.timeLimit(.minutes(15))) func anotherNamespaceAnswersWhileAJobTakesLong() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let other = try await namespaces.make("other", NamespaceOptions())
            let gate = DispatchSemaphore(value: 0)
            async let comparison = namespace.answer(.success(Comparison(gate: gate)), Self.control)
            // Behind it, and no longer on its thread.
            async let behind = namespace.answer(.success(ShowClock()), Self.control)
            for _ in 0..<50 {
                _ = try await other.answer(.success(ShowClock()), Self.control).result.get()
                await Task.yield()
            }
            gate.signal()
            try await comparison.result.get()
            _ = try await behind.result.get()
        }
    }

    @Test func aRecordedRequestIsWrittenOutsideTheCooperativeThreads() async throws {
        try await ParcelServer.withDirectory { path in
            let recorder = try Recorder(path: path, at: ParcelServer.morning)
            let sequencer = JobSequencer(.recording(recorder)) { ParcelServer.morning }
            let isInTask = NIOLockedValueBox<Bool?>(nil)
            try await sequencer.request({}) { _ in
                {
                    let found = withUnsafeCurrentTask { $0 != nil }
                    isInTask.withLockedValue { $0 = found }
                    return RecordedRequest(
                        method: "GET", target: "/", host: nil, headers: [], body: nil, status: 200, answer_headers: [],
                        answer: nil)
                }
            }
            #expect(isInTask.withLockedValue { $0 } == false)
        }
    }

    /// An entry that is missing ends the recording there.
    @Test func theRequestOfATaskThatIsCancelledIsRecorded() async throws {
        try await ParcelServer.withDirectory { path in
            let recorder = try Recorder(path: path, at: ParcelServer.morning)
            let sequencer = JobSequencer(.recording(recorder)) { ParcelServer.morning }
            let isMade = NIOLockedValueBox(false)
            let task = Task {
                try await sequencer.request {
                    withUnsafeCurrentTask { $0?.cancel() }
                } entry: { _ in
                    {
                        isMade.withLockedValue { $0 = true }
                        return RecordedRequest(
                            method: "GET", target: "/", host: nil, headers: [], body: nil, status: 200,
                            answer_headers: [], answer: nil)
                    }
                }
            }
            try await task.value
            #expect(isMade.withLockedValue { $0 })
        }
    }

    /// The thread of the only job waits; the checkpoint does not need it.
    @Test(.timeLimit(.minutes(15))) func checkpointsDoNotUseTheThreadsOfJobs() async throws {
        try await ParcelServer.withDirectory { directory in
            try await ParcelServer(directory: directory).run { _, namespace in
                _ = try await namespace.answer(.success(PatchSettings(.object([:]))), Self.control).result.get()
                let gate = DispatchSemaphore(value: 0)
                let isHeld = NIOLockedValueBox(false)
                namespace.mailbox.post(
                    .exclusive(
                        run: { _ in
                            isHeld.withLockedValue { $0 = true }
                            gate.wait()
                            return {}
                        }, refuse: { _ in }))
                await waitUntil { isHeld.withLockedValue { $0 } }
                let path = directory + "/namespaces/default.sqlite"
                let before = try Data(contentsOf: URL(fileURLWithPath: path))
                for _ in 0..<2 { namespace.checkpointIfIdle() }
                await waitUntil { (try? Data(contentsOf: URL(fileURLWithPath: path))) != before }
                gate.signal()
            }
        }
    }

    /// Filling a template takes seconds for much data. It may hold threads for copies, and none of jobs.
    @Test(.timeLimit(.minutes(15))) func requestsAreAnsweredWhileTemplatesAreMade() async throws {
        try await ParcelServer().run { namespaces, namespace in
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<2 { namespaces.environment.copyThreads.submit { _ in gate.wait() } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<3 {
                    group.addTask { _ = try await namespaces.make("n-\(number)", NamespaceOptions(seed: Self.seed)) }
                }
                for _ in 0..<3 { _ = try await namespace.answer(.success(ShowClock()), Self.control).result.get() }
                #expect(namespaces.all().map(\.name) == ["default"], "they wait for a thread of copies")
                for _ in 0..<2 { gate.signal() }
                try await group.waitForAll()
            }
            #expect(namespaces.all().count == 4)
        }
    }
}
