import Foundation
import SimulationAPI

/// A verification as JUnit XML, for CI servers.
struct JUnitReport {
    let xml: String

    /// A test case.
    private struct Case {
        /// Repeated names get a number.
        var name: String
        /// The reason of a failure; `nil` if the case did not fail.
        let problem: String?
        /// The reason why a case that did not fail did not pass either, and counts as skipped; `nil` if it passed.
        var note: String?

        var detail: String {
            if let problem { return "<failure message=\"\(escaped(problem))\"/>" }
            return note.map { "<skipped message=\"\(escaped($0))\"/>" } ?? ""
        }
    }

    /// - Parameters:
    ///   - name: the name of the suite.
    ///   - properties: names and values that say what was verified.
    ///   - moment: when the verification began, in real time.
    ///   - duration: the verification's real time. One request checks everything, so each case gets an equal share.
    private init(
        name: String, properties: [(name: String, value: String)], cases: [Case],
        at moment: Date, took duration: Duration
    ) {
        let cases = Self.unique(cases)
        let failures = cases.count { $0.problem != nil }
        let skipped = cases.count { $0.problem == nil && $0.note != nil }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let suite = Self.escaped(name)
        let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\""
        let time = "time=\"\(Self.decimal(seconds))\""
        let share = Self.decimal(seconds / Double(max(1, cases.count)))
        // JUnit's schema allows no time zone; this is UTC.
        let timestamp = moment.ISO8601Format().prefix("2026-01-05T09:00:00".count)
        let results = cases.map { found in
            let start =
                "<testcase classname=\"entrupy-sim.\(suite)\" name=\"\(Self.escaped(found.name))\" time=\"\(share)\""
            let detail = found.detail
            return detail.isEmpty ? "    \(start)/>\n" : "    \(start)>\n      \(detail)\n    </testcase>\n"
        }
        let named = properties.map {
            "      <property name=\"\(Self.escaped($0.name))\" value=\"\(Self.escaped($0.value))\"/>\n"
        }
        xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts) errors="0" \(time)>
              <testsuite name="\(suite)" \(counts) errors="0" skipped="\(skipped)" \(time) timestamp="\(timestamp)">
                <properties>
            \(named.joined())    </properties>
            \(results.joined())  </testsuite>
            </testsuites>

            """
    }

    /// - Parameters:
    ///   - run: the verified scenario.
    ///   - isStrict: whether each note is a case that failed.
    ///   - moment: when the verification began, in real time.
    ///   - duration: the verification's real time. One request checks everything, so each case gets an equal share.
    init(_ run: ScenarioRun, isStrict: Bool, at moment: Date, took duration: Duration) {
        self.init(
            name: run.name, properties: [("namespace", run.namespace), ("url", run.url)],
            cases: Self.cases(run, isStrict: isStrict), at: moment, took: duration)
    }

    /// - Parameters:
    ///   - audit: each rule is a case, which fails if a finding has a level at which the command fails. One with other findings, or
    ///     that could not judge everything, counts as skipped: it did not pass.
    ///   - subject: the namespace or the bundle.
    init(
        _ audit: JudgedAudit, _ failOn: AuditCommand.FailOn, of subject: String, at moment: Date,
        took duration: Duration
    ) {
        let cases = audit.report.rules.map { rule in
            let findings = audit.report.findings.filter { $0.rule == rule.id }
            let texts = findings.map { "\($0.text)\($0.count > 1 ? " (\($0.count) times)" : "")" }
            let text = texts.isEmpty ? nil : texts.joined(separator: "\n")
            let fails = findings.contains { failOn.includes($0.level) }
            return Case(
                name: "audit \(rule.id)", problem: fails ? text : nil,
                note: text ?? rule.not_judged.map { "could not judge everything: \($0)" })
        }
        self.init(name: "audit", properties: [("subject", subject)], cases: cases, at: moment, took: duration)
    }

    /// The timeline and the expectations as test cases.
    private static func cases(_ run: ScenarioRun, isStrict: Bool) -> [Case] {
        let actions = run.timeline.enumerated().map { index, action in
            Case(
                name: "timeline \(index + 1): \(action.action)",
                problem: action.state == "done"
                    ? nil : action.problem ?? "has not happened yet: the clock is before its time"
            )
        }
        let checks = run.expectations.map {
            Case(name: $0.expectation, problem: $0.passed ? nil : $0.problem ?? "is not met")
        }
        let notes = isStrict ? run.notes.map { Case(name: "note: \($0.field)", problem: $0.problem) } : []
        return actions + checks + notes
    }

    /// Cases with unique names: repeated names get a number.
    private static func unique(_ cases: [Case]) -> [Case] {
        var taken: Set<String> = []
        return cases.map { found in
            var unique = found
            var number = 1
            // Compared as XML, because characters that XML cannot hold are left out.
            while !taken.insert(escaped(unique.name)).inserted {
                number += 1
                unique.name = "\(found.name) (\(number))"
            }
            return unique
        }
    }

    /// Seconds with milliseconds, without an exponent.
    private static func decimal(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

    /// Escapes text for an attribute. Leaves out characters that XML 1.0 cannot hold.
    static func escaped(_ text: String) -> String {
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
