import Foundation
import Logging
import Simulation
import SimulationAPI
import TestSupport
import Testing

@testable import Evidence
@testable import Server

/// When the file of coverage is written [D coverage].
@Suite struct CoverageSavingTests {
    @Test func numbersThatOnlyGrowWaitForALaterLook() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("coverage.json").path
        var configuration = try HeldServer.configuration()
        configuration.coverageFile = path
        let ledger = CoverageLedger(.simulated, newID: { "a" }, realTime: { 0 })
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let file = try #require(try CoverageFile(configuration, ledger, logger))
        func count(test: String? = nil) {
            ledger.count(requestID: "r", test: test, edge: 0, [], in: "x", KnownSecrets([]))
        }
        func reached() throws -> Int? {
            try Coverage(file: Data(contentsOf: URL(fileURLWithPath: path))).axes.first?.edges.first?.reached
        }
        count()
        file.save(onlyIfNew: true)
        #expect(try reached() == 1, "it is newly met")
        count()
        file.save(onlyIfNew: true)
        #expect(try reached() == 1, "only the number grew")
        file.save()
        #expect(try reached() == 2)
        count(test: "one")
        file.save(onlyIfNew: true)
        #expect(try reached() == 3, "by another test")
        count(test: "one")
        file.save(onlyIfNew: true)
        #expect(try reached() == 3, "by a test that has met it")
        ledger.clearServer()
        file.save(onlyIfNew: true)
        #expect(try reached() == 0, "it began anew")
    }
}
