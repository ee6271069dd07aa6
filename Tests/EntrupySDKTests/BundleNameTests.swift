import Foundation
import TestSupport
import Testing

@testable import EntrupySimTesting

/// Names of bundles of failed tests: equal for a test in each run, and different for different tests.
@Suite struct BundleNameTests {
    @Test func namesDifferThoughTheirReadablePartsAreEqual() {
        let long = String(repeating: "x", count: 300)
        let tests = ["a/b", "a b", "a:b", "A/b", "ä", "ö", "", ".", "..", "a\nb", long + "1", long + "2"]
        let names = tests.map { BundleName(test: $0, readable: $0).description }
        #expect(Set(names.map { $0.lowercased() }).count == tests.count)
        for name in names {
            #expect((16...100).contains(name.count), "\(name)")
            #expect(
                name.utf8.someAndAll {
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8.contains($0)
                })
        }
        // This value holds for each process and each release: a later run must find what an earlier one left.
        #expect(BundleName(test: "Shop/test(a:)", readable: "test(a:)").description == "test-a-27dde1b8dc9a0144")
    }

    private static let seen = Seen()

    private final class Plain: Sendable {}
    private struct Pair: Sendable {
        let one: Int
        let other: [String: Int]
    }
    private enum Choice: Sendable { case first, second(Int) }
    private static let arguments: [any Sendable] = [
        "a/b", "a b", 1, "1", 1.0, Plain(), Plain(), Pair(one: 1, other: ["a": 1]), Pair(one: 2, other: ["a": 1]),
        Choice.first, Choice.second(1), Choice.second(2), [1, 2] as Set, [String: Int](), Int?.none, Int?.some(1),
        "0x123456789ab",
        "0x123456789ac",
    ]

    @Test(arguments: arguments.indices) func eachCaseHasItsName(index: Int) throws {
        let test = try #require(Test.current)
        let name = try #require(BundleName(test, Test.Case.current))
        #expect(Self.seen.insert(name.description), "\(name)")
        #expect(name.description.hasPrefix("eachCaseHasItsName-index-"))
    }

    @Test(arguments: [Plain(), Plain()]) private func equalCasesHaveNumbers(of plain: Plain) throws {
        let testCase = try #require(Test.Case.current)
        let text = try #require(BundleName.arguments(of: testCase))
        #expect(Self.seen.insert(text))
    }

    @Test(arguments: ["a"]) func overloadsDiffer(_ value: String) throws {
        let test = try #require(Test.current)
        let name = try #require(BundleName(test, Test.Case.current))
        #expect(Self.seen.insert(name.description))
    }

    @Test(arguments: [1]) func overloadsDiffer(_ value: Int) throws {
        let test = try #require(Test.current)
        let name = try #require(BundleName(test, Test.Case.current))
        #expect(Self.seen.insert(name.description))
    }

    @Test func descriptionsOfArgumentsAreTheSameInEachRun() {
        let texts = Self.arguments.map { "\(type(of: $0)) \(BundleName.stable($0))" }
        // Two plain objects have nothing to tell them apart.
        #expect(Set(texts).count == texts.count - 1, "\(texts)")
        for _ in 0..<20 {
            // Each dictionary has another order.
            let numbers = Dictionary(uniqueKeysWithValues: (0..<8).shuffled().map { ("\($0)", $0) })
            let pair = Pair(one: 1, other: numbers)
            #expect(
                BundleName.stable(pair)
                    == "(one=1, other=[" + (0..<8).map { "=[key=\($0), value=\($0)]" }.joined(separator: ", ") + "])")
        }
        struct Addressed: CustomStringConvertible {
            let description: String
        }
        #expect(
            BundleName.stable(Addressed(description: "<X: 0x600001234560>"))
                == BundleName.stable(Addressed(description: "<X: 0x7f0012345678>")))
    }

    @Test(.entrupySim()) func aPassingTestRemovesItsOwnBundleAlone() async throws {
        let sim = try SimulatedNamespace.current
        let unique = UUID().uuidString
        let (name, other) = (
            BundleName(test: "a/\(unique)", readable: "a"), BundleName(test: "a \(unique)", readable: "a")
        )
        let path = try await sim.saveBundle(named: name.description)
        // A second failure of the test replaces its bundle.
        #expect(try await sim.saveBundle(named: name.description) == path)
        let kept = try await sim.saveBundle(named: other.description)
        defer { try? FileManager.default.removeItem(atPath: kept) }
        SimulatedNamespace.removeBundle(named: name)
        SimulatedNamespace.removeBundle(named: name)
        #expect(!FileManager.default.fileExists(atPath: path) && FileManager.default.fileExists(atPath: kept))
        #expect((try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int) == 0o600)
        let folder = URL(fileURLWithPath: kept).deletingLastPathComponent().path
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(other.description) }
        #expect(left == ["\(other).entrupy-bundle.tar"])
    }

    @Test func aMethodOfXCTestThatReturnsRemovesItsBundle() async throws {
        struct Failure: Error {}
        let test = "-[LateResultTests testLateResult \(UUID())]"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "\(BundleName(test: test, readable: test)).entrupy-bundle.tar")
        let page = file.deletingPathExtension().appendingPathExtension("html")
        let simulator = try await Simulator.start()
        await #expect(throws: Failure.self) { try await simulator.withNamespace(test: test) { _ in throw Failure() } }
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(
            try String(contentsOf: page, encoding: .utf8).contains("<title>\(BundleName(test: test, readable: test)) "))
        try await simulator.withNamespace(test: test) { _ in }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(!FileManager.default.fileExists(atPath: page.path))
    }

    @Test func theSharedServerAloneRecords() {
        let own = [
            "PATH": "/bin", "ENTRUPY_SIM_RECORD": "run", "ENTRUPY_SIM_LOG_LEVEL": "info", "ENTRUPY_SIM_SEED": "x",
            "ENTRUPY_SIM_COVERAGE_FILE": "met.json",
        ]
        #expect(
            SimulatorProcess.environment(own, records: true)
                == [
                    "PATH": "/bin", "ENTRUPY_SIM_RECORD": "run", "ENTRUPY_SIM_LOG_LEVEL": "info",
                    "ENTRUPY_SIM_COVERAGE_FILE": "met.json",
                ])
        #expect(SimulatorProcess.environment(own, records: false) == ["PATH": "/bin", "ENTRUPY_SIM_LOG_LEVEL": "info"])
    }
}

/// The texts of a run.
private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: Set<String> = []

    /// Returns whether the text is new.
    func insert(_ text: String) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return texts.insert(text).inserted
    }
}
