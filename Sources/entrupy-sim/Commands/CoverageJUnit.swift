import SimulationAPI

/// Coverage as JUnit XML: a suite for each axis. With a baseline, a case for each edge that it has met, failed where that is lost;
/// without one, a case for each edge, skipped where it is not met: without a baseline nothing is wrong.
struct CoverageJUnit {
    let xml: String

    private enum Result {
        case passed, skipped
        case failed(String)
    }

    init(_ coverage: Coverage, _ baseline: Coverage?, _ difference: Coverage.Difference?) {
        let suites = (baseline ?? coverage).axes.map { axis in
            let edges = baseline == nil ? axis.edges : axis.edges.filter(\.isMet)
            return (axis, edges.map { ($0.id, Self.result(Coverage.Name(axis.id, $0.id), coverage, difference)) })
        }
        let text = suites.filter { !$0.1.isEmpty }.map { axis, cases in
            "  <testsuite name=\"\(JUnitReport.escaped(axis.title))\" \(Self.counts(cases.map(\.1)))>\n"
                + cases.map { Self.text($0, $1, axis.id) }.joined() + "  </testsuite>\n"
        }
        xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(Self.counts(suites.flatMap { $0.1.map(\.1) }, hasSkipped: false))>
            \(text.joined())</testsuites>

            """
    }

    private static func result(
        _ name: Coverage.Name, _ coverage: Coverage, _ difference: Coverage.Difference?
    ) -> Result {
        let edge = coverage.edge(name.axis, name.edge)
        guard let difference else { return edge?.isMet == true ? .passed : .skipped }
        if difference.unknown.contains(name) { return .skipped }
        guard difference.lost.contains(name) else { return .passed }
        let way = edge?.meet_with.map { "; to meet it: \($0)" } ?? ""
        return .failed("no test meets \(name.edge) any more\(way)")
    }

    private static func counts(_ results: [Result], hasSkipped: Bool = true) -> String {
        let failures = results.count { if case .failed = $0 { true } else { false } }
        let skipped = results.count { if case .skipped = $0 { true } else { false } }
        return "tests=\"\(results.count)\" failures=\"\(failures)\" errors=\"0\""
            + (hasSkipped ? " skipped=\"\(skipped)\"" : "")
            + " time=\"0.000\""
    }

    private static func text(_ id: String, _ result: Result, _ axis: String) -> String {
        let start =
            "    <testcase classname=\"entrupy-sim.coverage.\(JUnitReport.escaped(axis))\" name=\"\(JUnitReport.escaped(id))\" time=\"0.000\""
        switch result {
        case .passed: return "\(start)/>\n"
        case .skipped: return "\(start)>\n      <skipped/>\n    </testcase>\n"
        case .failed(let problem):
            return "\(start)>\n      <failure message=\"\(JUnitReport.escaped(problem))\"/>\n    </testcase>\n"
        }
    }
}
