#if canImport(Testing)
    import ClientTransport
    import Foundation
    import SimulationAPI
    public import Testing

    /// Gives each test a namespace of its own, which ``SimulatedNamespace/current`` returns. After a test that failed, its bundle and
    /// the bundle's page are attached to the test.
    public struct EntrupySimTrait: TestTrait, SuiteTrait, TestScoping {
        let scenario: String?
        let seed: String?
        let frozenAt: String?
        let randomSeed: Int?
        let strict: Bool
        let verify: Bool
        let ignoreMisuse: [String: String]

        public var isRecursive: Bool { true }

        public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
            // One namespace for each case of a parameterized test; none for a suite.
            testCase == nil ? nil : self
        }

        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            let simulator = try await Self.simulator()
            let namespace = try await simulator.makeNamespace(
                scenario: scenario, seed: seed, frozenAt: frozenAt, randomSeed: randomSeed, strict: strict)
            let hasFailed = Locked(false)
            let name = BundleName(test, testCase)
            let observer = IssueHandlingTrait.compactMapIssues { issue in
                if issue.isFailure { hasFailed.withLock { $0 = true } }
                return issue
            }
            do {
                try await observer.provideScope(for: test, testCase: testCase) {
                    try await SimulatedNamespace.$ofTask.withValue(namespace) {
                        try await function()
                        let place = test.sourceLocation
                        try await namespace.verifyRules(
                            fileID: place.fileID, filePath: place.filePath, line: place.line, column: place.column)
                        if verify, !hasFailed.withLock({ $0 }) {
                            try await namespace.verifyExpectingScenario(
                                fileID: place.fileID, filePath: place.filePath, line: place.line, column: place.column)
                        }
                        guard let level = try SimulatedNamespace.auditedLevel() else { return }
                        try await namespace.expectNoMisuse(
                            failingAt: level, ignore: ignoreMisuse, fileID: place.fileID, filePath: place.filePath,
                            line: place.line, column: place.column)
                    }
                }
            } catch {
                await Self.attachBundle(of: namespace, to: test, name)
                // The error of the test counts. The namespace ends by its time to live.
                try? await namespace.delete()
                throw error
            }
            if hasFailed.withLock({ $0 }) {
                await Self.attachBundle(of: namespace, to: test, name)
            } else if let name, SimulatedNamespace.artifacts != nil {
                SimulatedNamespace.removeBundle(named: name)
            }
            try await namespace.delete()
        }

        private static func simulator() async throws -> Simulator {
            #if os(macOS) || os(Linux) || os(Windows)
                return try await Simulator.start()
            #else
                guard let url = ProcessInfo.processInfo.environment["ENTRUPY_SIM_URL"].flatMap({ URL(string: $0) })
                else {
                    throw SimulatorError(
                        "set ENTRUPY_SIM_URL to the address of a running entrupy-sim: this system starts none")
                }
                return try await Simulator.connect(to: url)
            #endif
        }

        /// Attaches the bundle and its page to the running test, and saves both if the environment has ENTRUPY_SIM_ARTIFACTS.
        ///
        /// - Parameter name: the name of the files; `nil` for one that no other run has.
        private static func attachBundle(
            of namespace: SimulatedNamespace, to test: Test, _ name: BundleName?
        ) async {
            guard let bundle = try? await namespace.bundle() else { return }
            Attachment.record([UInt8](bundle), named: "\(namespace.name).entrupy-bundle.tar")
            let name = name ?? BundleName(test: namespace.name, readable: test.name)
            var page: Data?
            do {
                page = try await namespace.page(titled: name.description)
            } catch {
                SimulatedNamespace.printToStandardError("\(test.name) failed; its bundle has no page: \(error)")
            }
            if let page { Attachment.record([UInt8](page), named: "\(namespace.name).entrupy-bundle.html") }
            guard SimulatedNamespace.artifacts != nil else { return }
            do {
                let path = try await namespace.saveBundle(named: name.description)
                SimulatedNamespace.printToStandardError("\(test.name) failed; its bundle is \(path)")
                guard let page else { return }
                let place = try SimulatedNamespace.save(page: page, of: path)
                SimulatedNamespace.printToStandardError("the page of the bundle is \(place)")
            } catch {
                SimulatedNamespace.printToStandardError("\(test.name) failed; \(error)")
            }
        }
    }

    extension Trait where Self == EntrupySimTrait {
        /// Gives the test, or each test of the suite, a namespace of its own in one server for the whole run.
        ///
        /// - Parameters:
        ///   - scenario: a scenario to start: the name of one that the server has, or the path of a YAML file.
        ///   - seed: `standard` (the default), `empty`, or the path of a file of seed data, which is added to `empty`.
        ///   - frozenAt: freezes the clock at a moment in ISO 8601.
        ///   - randomSeed: fixes all ids and tokens.
        ///   - strict: whether notes on rules and scenarios fail the test. They name parts that nothing matches, such as a misspelt
        ///     route. The next release makes `true` the default.
        ///   - verify: whether a test that passed fails where the scenario expects something (`expect:`) that did not happen.
        ///   - ignoreMisuse: rules of the audit whose findings are meant, with the reason for each; `forgotten` if the test empties
        ///     the journal. Clients are judged at the end of each test where the environment has `ENTRUPY_SIM_AUDIT=error` or
        ///     `ENTRUPY_SIM_AUDIT=warning`.
        public static func entrupySim(
            scenario: String? = nil, seed: String? = nil, frozenAt: String? = nil, randomSeed: Int? = nil,
            strict: Bool = false, verify: Bool = true, ignoreMisuse: [String: String] = [:]
        ) -> Self {
            Self(
                scenario: scenario, seed: seed, frozenAt: frozenAt, randomSeed: randomSeed, strict: strict,
                verify: verify, ignoreMisuse: ignoreMisuse)
        }
    }
#endif
