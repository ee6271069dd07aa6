import Foundation
import SimulationAPI

@testable import Entrupy
@testable import Server
@testable import Simulation

extension FuzzTarget {
    /// Parsers of bodies: JSON, YAML and images, and the journal's masking of JSON and YAML.
    static let bodies = [
        FuzzTarget("json", maxLength: 65_536) { input in
            let value: JSONValue
            let lenient = try? StrictJSON.parse(input, allowsTrailingCommas: true)
            do {
                value = try StrictJSON.parse(input)
            } catch let problem as JSONProblem {
                return lenient == nil ? label(problem.text) : "a trailing comma"
            }
            try FuzzFinding.require(lenient == value, "a reader that allows trailing commas reads something else")
            // An encoded value decodes to the same value. Only a zero loses its sign, the first time.
            var (last, written) = (value, try WireJSON.encode(value))
            for isFirst in [true, false] {
                guard let again = try? StrictJSON.parse(Array(written)) else {
                    throw FuzzFinding("what is written of it is not JSON: \(String(decoding: written, as: UTF8.self))")
                }
                let rewritten = try WireJSON.encode(again)
                try FuzzFinding.require(isFirst || rewritten == written, "written again, it differs")
                (last, written) = (again, rewritten)
            }
            return last.typeName
        },
        FuzzTarget("rules") { input in
            guard let value = try? StrictJSON.parse(input) else { return "not JSON" }
            let seed = try Seed.standard()
            return [
                try outcome { _ = try FaultRule(value, id: "fault", .simulated) },
                try outcome { _ = try OutcomeRule(value, seed) },
                try outcome { _ = try Settings(value, seed) },
                try outcome { _ = try ScenarioExpectation(value, .simulated) },
            ].joined(separator: "; ")
        },
        FuzzTarget("seed", maxLength: 16_384, cost: 10) { input in
            guard let text = String(validating: input, as: UTF8.self) else { return "not UTF-8" }
            do {
                return "organizations: \(try Seed(name: "fuzz", yaml: text).organizations.count)"
            } catch let error as SeedError {
                return label(error.problem)
            }
        },
        FuzzTarget("scenario", maxLength: 16_384, cost: 10) { input in
            guard let text = String(validating: input, as: UTF8.self) else { return "not UTF-8" }
            do {
                let document = try ScenarioDocument(text, file: "fuzz", settings: .object([:]), .simulated) { _ in
                    try Seed.standard()
                }
                return "timeline: \(document.timeline.count), expectations: \(document.expectations.count)"
            } catch let error as SeedError {
                return label(error.problem)
            }
        },
        FuzzTarget("image", maxLength: 16_384) { input in
            input.withUnsafeBytes { bytes in
                switch ImageFormat.recognise(bytes) {
                case .success(let format): format.rawValue
                case .failure(let problem): label(problem.text)
                }
            }
        },
        FuzzTarget("video", maxLength: 16_384) { input in
            input.withUnsafeBytes { bytes in
                switch VideoFormat.recognise(bytes) {
                case .success(let format): "\(format.container.rawValue), \(format.milliseconds < 1000)"
                case .failure(let problem): label(problem.text)
                }
            }
        },
        FuzzTarget("masking", maxLength: 16_384, cost: 5) { input in
            let secrets = Secrets(KnownSecrets(["demo-api-token"], tokensOf: .simulated))
            guard let masked = secrets.masked(body: Data(input)) else { return "no text" }
            try FuzzFinding.require(
                !masked.utf8.contains("demo-api-token".utf8), "a known token is shown: \(masked)")
            guard let text = String(validating: input, as: UTF8.self) else { return "a cut text" }
            _ = secrets.masked(text: text)
            _ = secrets.masked(query: text)
            return masked.utf8.elementsEqual(input) ? "nothing to mask" : "masked"
        },
    ]

    /// Runs a parser of documents. A refusal is an outcome, any other error a finding.
    private static func outcome(_ read: () throws -> Void) throws -> String {
        do {
            try read()
            return "ok"
        } catch let error as PlatformError where error.kind == .invalid {
            return label(error.details.first?.problem ?? error.message)
        }
    }
}

extension Sequence<UInt8> {
    /// Whether `other` occurs in this text.
    fileprivate func contains(_ other: String.UTF8View) -> Bool {
        let (whole, part) = (Array(self), Array(other))
        guard whole.count >= part.count else { return false }
        return (0...whole.count - part.count).contains { whole[$0..<$0 + part.count].elementsEqual(part) }
    }
}
