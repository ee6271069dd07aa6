import Foundation
import SimulationAPI

/// A verification as JUnit XML, for CI servers.
struct JUnitReport {
    let xml: String

    /// - Parameters:
    ///   - name: the name of the suite.
    ///   - properties: names and values that say what was verified.
    ///   - cases: names, which need not be unique, and what is wrong; `nil` if nothing is.
    ///   - moment: when the verification began, in real time.
    ///   - duration: the verification's real time. One request checks everything, so each case gets an equal share.
    init(
        name: String, properties: [(name: String, value: String)], cases: [(name: String, problem: String?)],
        at moment: Date, took duration: Duration
    ) {
        let cases = Self.unique(cases)
        let failures = cases.count { $0.problem != nil }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let suite = Self.escaped(name)
        let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\""
        let time = "time=\"\(Self.decimal(seconds))\""
        let share = Self.decimal(seconds / Double(max(1, cases.count)))
        // JUnit's schema allows no time zone; this is UTC.
        let timestamp = moment.ISO8601Format().prefix("2026-01-05T09:00:00".count)
        let results = cases.map { name, problem in
            let start = "<testcase classname=\"entrupy-sim.\(suite)\" name=\"\(Self.escaped(name))\" time=\"\(share)\""
            guard let problem else { return "    \(start)/>\n" }
            return "    \(start)>\n      <failure message=\"\(Self.escaped(problem))\"/>\n    </testcase>\n"
        }
        let named = properties.map {
            "      <property name=\"\(Self.escaped($0.name))\" value=\"\(Self.escaped($0.value))\"/>\n"
        }
        xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts) errors="0" \(time)>
              <testsuite name="\(suite)" \(counts) errors="0" skipped="0" \(time) timestamp="\(timestamp)">
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
    ///   - audit: each rule is a case, which fails if a finding has a level at which the command fails.
    ///   - subject: the namespace or the bundle.
    init(
        _ audit: JudgedAudit, _ failOn: AuditCommand.FailOn, of subject: String, at moment: Date,
        took duration: Duration
    ) {
        let cases = audit.report.rules.map { rule in
            let findings = audit.report.findings.filter { $0.rule == rule.id && failOn.includes($0.level) }
            let texts = findings.map { "\($0.text)\($0.count > 1 ? " (\($0.count) times)" : "")" }
            return (name: "audit \(rule.id)", problem: texts.isEmpty ? nil : texts.joined(separator: "\n"))
        }
        self.init(name: "audit", properties: [("subject", subject)], cases: cases, at: moment, took: duration)
    }

    /// The timeline and the expectations as test cases.
    private static func cases(_ run: ScenarioRun, isStrict: Bool) -> [(name: String, problem: String?)] {
        let actions = run.timeline.enumerated().map { index, action in
            (
                name: "timeline \(index + 1): \(action.action)",
                problem: action.state == "done"
                    ? nil : action.problem ?? "has not happened yet: the clock is before its time"
            )
        }
        let checks = run.expectations.map {
            (name: $0.expectation, problem: $0.passed ? nil : $0.problem ?? "is not met")
        }
        let notes = isStrict ? run.notes.map { (name: "note: \($0.field)", problem: String?.some($0.problem)) } : []
        return actions + checks + notes
    }

    /// Cases with unique names: repeated names get a number.
    private static func unique(
        _ cases: [(name: String, problem: String?)]
    ) -> [(name: String, problem: String?)] {
        var taken: Set<String> = []
        return cases.map { found in
            var name = found.name
            var number = 1
            // Compared as XML, because characters that XML cannot hold are left out.
            while !taken.insert(escaped(name)).inserted {
                number += 1
                name = "\(found.name) (\(number))"
            }
            return (name, found.problem)
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
