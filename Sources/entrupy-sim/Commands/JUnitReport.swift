import Foundation
import SimulationAPI

/// The verification of a scenario as JUnit XML, for CI servers.
struct JUnitReport {
    let xml: String

    /// - Parameters:
    ///   - run: the verified scenario.
    ///   - isStrict: whether each note is a case that failed.
    ///   - moment: when the verification began, in real time.
    ///   - duration: the verification's real time. One request checks everything, so each case gets an equal share.
    init(_ run: ScenarioRun, isStrict: Bool, at moment: Date, took duration: Duration) {
        let cases = Self.cases(run, isStrict: isStrict)
        let failures = cases.count { $0.problem != nil }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let suite = Self.escaped(run.name)
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
        xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts) errors="0" \(time)>
              <testsuite name="\(suite)" \(counts) errors="0" skipped="0" \(time) timestamp="\(timestamp)">
                <properties>
                  <property name="namespace" value="\(Self.escaped(run.namespace))"/>
                  <property name="url" value="\(Self.escaped(run.url))"/>
                </properties>
            \(results.joined())  </testsuite>
            </testsuites>

            """
    }

    /// The timeline and the expectations as test cases. Names are unique: repeated names get a number.
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
        var taken: Set<String> = []
        return (actions + checks + notes).map { found in
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
