import ArgumentParser
import Exploration
import Foundation
import SimulationAPI

/// The files for the result of a command, in the forms that CI servers read.
struct ResultFiles: ParsableArguments {
    @Option(help: "A file to write the result to as JUnit XML, for CI servers. (default: none)") var junit: String?
    @Option(help: "A file to add the result to as Markdown, such as that in GITHUB_STEP_SUMMARY. (default: none)")
    var summary: String?

    /// Writes the files that were asked for.
    func write(_ report: @autoclosure () -> JUnitReport, _ markdown: @autoclosure () -> String) throws {
        if let junit { try OutputFile.write(Data(report().xml.utf8), to: junit, option: "--junit") }
        if let summary { try OutputFile.append(Data(markdown().utf8), to: summary, option: "--summary") }
    }
}

/// A verification as JUnit XML, for CI servers.
struct JUnitReport {
    let xml: String

    private struct Case {
        /// Repeated names get a number.
        var name: String
        var outcome = Outcome.passed
        /// The real time of its own, in seconds, beside the share of the verification's.
        var seconds = 0.0

        enum Outcome {
            case passed
            case failed(String)
            /// Neither passed nor failed, perhaps for a reason.
            case skipped(String? = nil)
        }

        var hasFailed: Bool { if case .failed = outcome { true } else { false } }
        var isSkipped: Bool { if case .skipped = outcome { true } else { false } }

        var detail: String? {
            switch outcome {
            case .passed: nil
            case .failed(let problem): "<failure message=\"\(escaped(problem))\"/>"
            case .skipped(nil): "<skipped/>"
            case .skipped(let reason?): "<skipped message=\"\(escaped(reason))\"/>"
            }
        }
    }

    private struct Suite {
        let name: String
        /// The end of the cases' class name; `nil` for the suite's name.
        var className: String?
        let cases: [Case]
        /// Names and values that say what was verified.
        var properties: [(name: String, value: String)] = []
        /// The beginning of the verification, in real time; `nil` if it is not known.
        var moment: Date?
    }

    /// - Parameter duration: the verification's real time. One request checks everything, so each case gets an equal share.
    private init(_ suites: [Suite], took duration: Duration = .zero) {
        func counts(_ cases: [Case]) -> String {
            "tests=\"\(cases.count)\" failures=\"\(cases.count(where: \.hasFailed))\" errors=\"0\""
        }
        let seconds = duration / .seconds(1)
        func time(_ cases: [Case]) -> String {
            "time=\"\(Self.decimal(cases.reduce(seconds) { $0 + $1.seconds }))\""
        }
        let texts = suites.map { suite in
            let skipped = suite.cases.count(where: \.isSkipped)
            // JUnit's schema allows no time zone; this is UTC.
            let timestamp = suite.moment?.ISO8601Format().prefix("2026-01-05T09:00:00".count)
            let start =
                "  <testsuite name=\"\(Self.escaped(suite.name))\" \(counts(suite.cases)) skipped=\"\(skipped)\" \(time(suite.cases))"
                + (timestamp.map { " timestamp=\"\($0)\"" } ?? "")
            let properties = suite.properties.map {
                "      <property name=\"\(Self.escaped($0.name))\" value=\"\(Self.escaped($0.value))\"/>\n"
            }
            let head = properties.isEmpty ? "" : "    <properties>\n\(properties.joined())    </properties>\n"
            let share = seconds / Double(max(1, suite.cases.count))
            let cases = Self.unique(suite.cases).map { found in
                let start =
                    "    <testcase classname=\"entrupy-sim.\(Self.escaped(suite.className ?? suite.name))\" name=\"\(Self.escaped(found.name))\" time=\"\(Self.decimal(share + found.seconds))\""
                return found.detail.map { "\(start)>\n      \($0)\n    </testcase>\n" } ?? "\(start)/>\n"
            }
            return "\(start)>\n\(head)\(cases.joined())  </testsuite>\n"
        }
        xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts(suites.flatMap(\.cases))) \(time(suites.flatMap(\.cases)))>
            \(texts.joined())</testsuites>

            """
    }

    /// - Parameters:
    ///   - run: the verified scenario.
    ///   - isStrict: whether each note is a case that failed.
    ///   - moment: when the verification began, in real time.
    init(_ run: ScenarioRun, isStrict: Bool, at moment: Date, took duration: Duration) {
        let suite = Suite(
            name: run.name, cases: Self.cases(run, isStrict: isStrict),
            properties: [("namespace", run.namespace), ("url", run.url)], moment: moment)
        self.init([suite], took: duration)
    }

    /// - Parameters:
    ///   - audit: each rule is a case, which fails if a finding has a level at which the command fails. One with other findings, or
    ///     that could not judge everything, counts as skipped: it did not pass.
    ///   - subject: the namespace or the bundle.
    init(
        _ audit: JudgedAudit, _ failOn: AuditCommand.FailOn, of subject: String, at moment: Date,
        took duration: Duration
    ) {
        let suite = Suite(
            name: "audit", cases: Self.cases(audit, failOn), properties: [("subject", subject)], moment: moment)
        self.init([suite], took: duration)
    }

    /// A run of a command.
    ///
    /// - Parameters:
    ///   - failure: how the command failed, and a line for each reason; `nil` if it succeeded.
    ///   - notes: what the run did not test: skipped cases, or failed ones if the run is strict.
    ///   - lost: the edges that the coverage's baseline has and the run did not meet; `nil` if none is compared.
    ///   - duration: the command's real time.
    init(
        command: String, took duration: Duration, failure: String?, notes: [String], isStrict: Bool,
        _ scenario: ScenarioRun?,
        _ audit: JudgedAudit?,
        lost: [String]?
    ) {
        let own = Case(name: command, outcome: failure.map { .failed($0) } ?? .passed, seconds: duration / .seconds(1))
        let untested = notes.map { Case(name: "note: \($0)", outcome: isStrict ? .failed($0) : .skipped($0)) }
        var suites = [Suite(name: "run", cases: [own] + untested)]
        if let scenario { suites.append(Suite(name: scenario.name, cases: Self.cases(scenario, isStrict: false))) }
        if let audit { suites.append(Suite(name: "audit", cases: Self.cases(audit, .error, isStrict: isStrict))) }
        if let lost {
            let cases = lost.map { Case(name: $0, outcome: .failed("no test meets \($0) any more")) }
            suites.append(Suite(name: "coverage", cases: cases.isEmpty ? [Case(name: "coverage")] : cases))
        }
        self.init(suites)
    }

    /// A sweep: each cell is a case, which fails for a bug. One whose fault was not tried counts as skipped: it did not pass.
    init(_ sweep: SweepReport) {
        let cases = sweep.result.cells.map { cell in
            let outcome: Case.Outcome =
                cell.verdict.isBug
                ? .failed("\(cell.verdict.rawValue): \(cell.detail.sentence)")
                : cell.verdict.isPass ? .passed : .skipped(cell.verdict.rawValue)
            return Case(name: "\(cell.call) \(cell.fault)", outcome: outcome, seconds: cell.seconds)
        }
        self.init([Suite(name: "sweep", cases: cases)])
    }

    /// A proof: each kept bug is a case, which fails where it is still there. One of which nothing is proved counts as skipped.
    init(_ proof: SweepProof) {
        let cases = proof.kept.map { entry in
            let outcome: Case.Outcome =
                switch entry.result {
                case .mended: .passed
                case .stillThere: .failed("still there: \(entry.after.sentence ?? "")")
                case .notSeen, .incomplete: .skipped(entry.result.rawValue)
                }
            return Case(name: "\(entry.call) \(entry.fault)", outcome: outcome)
        }
        self.init([Suite(name: "sweep", cases: cases)])
    }

    /// - Parameter isStrict: whether a rule that could not judge everything fails.
    private static func cases(
        _ audit: JudgedAudit, _ failOn: AuditCommand.FailOn, isStrict: Bool = false
    ) -> [Case] {
        audit.report.rules.map { rule in
            let findings = audit.report.findings.filter { $0.rule == rule.id }
            let text = findings.isEmpty ? nil : findings.map { $0.text + $0.times }.joined(separator: "\n")
            let fails = findings.contains { failOn.includes($0.level) }
            let reason = text ?? rule.not_judged.map { "could not judge everything: \($0)" }
            let isGap = isStrict && audit.gaps.contains { $0.fails && $0.rule == rule.id }
            return Case(
                name: "audit \(rule.id)",
                outcome: fails || isGap ? .failed(reason ?? "") : reason.map { .skipped($0) } ?? .passed)
        }
    }

    /// Coverage has a suite for each axis. With a baseline, a case for each edge that it has met, failed where that is lost;
    /// without one, a case for each edge, skipped where it is not met: without a baseline nothing is wrong.
    init(_ coverage: Coverage, _ baseline: Coverage?, _ difference: Coverage.Difference?) {
        let suites = (baseline ?? coverage).axes.map { axis in
            let edges = baseline == nil ? axis.edges : axis.edges.filter(\.isMet)
            let cases = edges.map { Self.edge(Coverage.Name(axis.id, $0.id), coverage, difference) }
            return Suite(name: axis.title, className: "coverage.\(axis.id)", cases: cases)
        }
        self.init(suites.filter { !$0.cases.isEmpty })
    }

    private static func edge(_ name: Coverage.Name, _ coverage: Coverage, _ difference: Coverage.Difference?) -> Case {
        let edge = coverage.edge(name.axis, name.edge)
        if difference.map({ $0.unknown.contains(name) }) ?? (edge?.isMet != true) {
            return Case(name: name.edge, outcome: .skipped())
        }
        guard difference?.lost.contains(name) == true else { return Case(name: name.edge) }
        let way = edge?.meet_with.map { "; to meet it: \($0)" } ?? ""
        return Case(name: name.edge, outcome: .failed("no test meets \(name.edge) any more\(way)"))
    }

    /// The timeline and the expectations as test cases.
    private static func cases(_ run: ScenarioRun, isStrict: Bool) -> [Case] {
        let actions = run.timeline.enumerated().map { index, action in
            Case(
                name: "timeline \(index + 1): \(action.action)",
                outcome: action.state == "done"
                    ? .passed : .failed(run.obstacle(to: action) ?? "has not happened"))
        }
        let checks = run.expectations.map {
            Case(name: $0.expectation, outcome: $0.passed ? .passed : .failed($0.problem ?? "is not met"))
        }
        let notes = isStrict ? run.notes.map { Case(name: "note: \($0.field)", outcome: .failed($0.problem)) } : []
        return actions + checks + notes
    }

    /// Cases with unique names: repeated names get a number.
    private static func unique(_ cases: [Case]) -> [Case] {
        var taken: Set<String> = []
        // The last number of each name, so that many equal names take linear time.
        var numbers: [String: Int] = [:]
        return cases.map { found in
            var unique = found
            let name = escaped(found.name)
            var number = numbers[name] ?? 1
            // Compared as XML, because characters that XML cannot hold are left out.
            while !taken.insert(escaped(unique.name)).inserted {
                number += 1
                unique.name = "\(found.name) (\(number))"
            }
            numbers[name] = number
            return unique
        }
    }

    /// Seconds with milliseconds, without an exponent.
    private static func decimal(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

    /// Escapes text for an attribute. Leaves out characters that XML 1.0 cannot hold.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n": escaped += "&#10;"
            case "\t": escaped += "&#9;"
            case let scalar where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
