import EntrupyAPI
import Foundation

/// A scenario's verification in JUnit's XML, for CI servers.
struct JUnitReport {
    let xml: String

    /// - Parameters:
    ///   - run: the verified scenario.
    ///   - moment: when the verification began, in real time.
    ///   - duration: how long it took, in real time. One request checks everything, so each case has an equal share of it.
    init(_ run: ScenarioRun, at moment: Date, took duration: Duration) {
        let cases = Self.cases(run)
        let failures = cases.count { $0.problem != nil }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let suite = Self.escaped(run.name)
        let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\""
        let time = "time=\"\(Self.decimal(seconds))\""
        let share = Self.decimal(seconds / Double(max(1, cases.count)))
        // JUnit's schema has no time zone: UTC.
        let timestamp = moment.ISO8601Format().prefix("2026-01-05T09:00:00".count)
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites \(counts) errors=\"0\" \(time)>",
            "  <testsuite name=\"\(suite)\" \(counts) errors=\"0\" skipped=\"0\" \(time) timestamp=\"\(timestamp)\">",
            "    <properties>",
            "      <property name=\"namespace\" value=\"\(Self.escaped(run.namespace))\"/>",
            "      <property name=\"url\" value=\"\(Self.escaped(run.url))\"/>",
            "    </properties>",
        ]
        for (name, problem) in cases {
            let start =
                "    <testcase classname=\"entrupy-sim.\(suite)\" name=\"\(Self.escaped(name))\" time=\"\(share)\""
            if let problem {
                lines += ["\(start)>", "      <failure message=\"\(Self.escaped(problem))\"/>", "    </testcase>"]
            } else {
                lines.append("\(start)/>")
            }
        }
        lines += ["  </testsuite>", "</testsuites>", ""]
        xml = lines.joined(separator: "\n")
    }

    /// The timeline and the expectations, each under a name of its own: of equal names, the later ones are numbered.
    private static func cases(_ run: ScenarioRun) -> [(name: String, problem: String?)] {
        let actions = run.timeline.enumerated().map { index, action in
            (
                name: "timeline \(index + 1): \(action.action)",
                problem: action.state == "done"
                    ? nil : action.problem ?? "has not happened yet: the clock stands before it"
            )
        }
        let checks = run.expectations.map {
            (name: $0.expectation, problem: $0.passed ? nil : $0.problem ?? "is not so")
        }
        var taken: Set<String> = []
        return (actions + checks).map { found in
            var name = found.name
            var number = 1
            // Characters that XML cannot hold make no difference.
            while !taken.insert(escaped(name)).inserted {
                number += 1
                name = "\(found.name) (\(number))"
            }
            return (name, found.problem)
        }
    }

    /// Seconds with milliseconds, without an exponent.
    private static func decimal(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

    /// Text within an attribute; what XML 1.0 cannot hold is left out.
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
