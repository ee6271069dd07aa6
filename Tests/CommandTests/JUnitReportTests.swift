import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Results as JUnit XML, which CI servers read.
@Suite struct JUnitReportTests {
    private static func run(_ expectations: String, notes: String = "") throws -> ScenarioRun {
        let text = """
            {"name": "mine", "namespace": "n<1>", "url": "http://127.0.0.1:1/ns/n", "started_at": 0, "verified": false,
             "strict": false, "clock": {"now": "2026-01-05T09:00:00.000000Z", "epoch": 0, "mode": "frozen"},
             "timeline": [{"action": "clear_faults", "at": 0, "line": 4, "state": "done", "problem": null},
              {"action": "clear_faults", "at": 60, "line": 4, "state": "waiting", "problem": "is still due"}],
             "expectations": [\(expectations)], "notes": [\(notes)]}
            """
        return try WireJSON.decode(ScenarioRun.self, from: Data(text.utf8))
    }

    private static func expectation(_ text: String, passed: Bool) -> String {
        """
        {"expectation": "\(text)", "line": 5, "passed": \(passed), "found": 0,
         "problem": \(passed ? "null" : "\"expected 1, found 0\"")}
        """
    }

    @Test func aReportHasTimesAndTheNamespaceAndEveryNameOnce() throws {
        let login = Self.expectation("/sdk/login, once", passed: false)
        let hostile = Self.expectation(#"item <&\"\t'>"#, passed: true)
        let run = try Self.run([login, login, hostile, login].joined(separator: ", "))
        let report = JUnitReport(run, isStrict: false, at: Date(timeIntervalSince1970: 0), took: .seconds(3))
        let found = try JUnitElements(report.xml)
        let suite = try #require(found["testsuite"].first)
        #expect(suite["name"] == "mine" && suite["tests"] == "6" && suite["failures"] == "4")
        #expect(suite["timestamp"] == "1970-01-01T00:00:00" && suite["time"] == "3.000")
        #expect(found["property"].contains { $0["name"] == "namespace" && $0["value"] == "n<1>" })
        let cases = found["testcase"]
        #expect(cases.count == 6 && Set(cases.map { $0["name"] }).count == 6, "\(cases)")
        #expect(cases.someAndAll { $0["classname"] == "entrupy-sim.mine" && $0["time"] == "0.500" })
        #expect(found["failure"].count == 4)
    }

    /// A run whose notes say what it did not test: skipped cases, and failed ones if it is strict.
    @Test(arguments: [false, true]) func notesOfARunAreCases(isStrict: Bool) throws {
        let report = JUnitReport(
            command: "npm test", took: .milliseconds(200), failure: "exited with 4\n#1 POST: <a>",
            notes: ["no request came"], isStrict: isStrict, nil, nil, lost: nil)
        let found = try JUnitElements(report.xml)
        #expect(found["testsuites"].first?["failures"] == (isStrict ? "2" : "1"))
        #expect(found["testcase"].first?["time"] == "0.200")
        #expect(found["failure"].first?["message"] == "exited with 4\n#1 POST: <a>")
        #expect(found[isStrict ? "failure" : "skipped"].last?["message"] == "no request came")
    }
}

/// The elements of an XML document and their attributes, read by an XML parser.
private final class JUnitElements: NSObject, XMLParserDelegate {
    private var elements: [(name: String, attributes: [String: String])] = []

    /// - Throws: an error if the text is not XML.
    init(_ xml: String) throws {
        super.init()
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = self
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
    }

    subscript(name: String) -> [[String: String]] { elements.filter { $0.name == name }.map(\.attributes) }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        elements.append((name, attributes))
    }
}
