import Console
import Exploration
import Foundation
import SimulationAPI

/// The folder of kept scenarios: a sweep writes them, and `--kept` reads them.
struct KeptFolder {
    let path: String

    private static let maxBytes = 1_000_000

    /// Writes a scenario. A file of an earlier sweep with this name is replaced: it is about the same cell.
    ///
    /// - Returns: the path of the file.
    func write(_ scenario: KeptScenario) throws -> String {
        let file = "\(path)/\(scenario.name).yaml"
        try OutputFile.write(Data(scenario.text.utf8), to: file, option: "--out")
        return file
    }

    /// The cells of the files that end with `.yaml`, by name.
    ///
    /// - Parameter hasScenario: whether the runs begin in a scenario.
    /// - Throws: ``Refusal`` if there is none, one is not a kept scenario, or one was found in a scenario and there is none.
    func cells(hasScenario: Bool) throws -> [SweepCell] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".yaml") }
        } catch {
            throw Refusal(
                .usage, "\(path) cannot be read: \(error.localizedDescription)",
                next: "name the folder of --out of an earlier sweep")
        }
        guard !names.isEmpty else {
            throw Refusal(
                .usage, "there is no kept scenario in \(path)", next: "name the folder of --out of an earlier sweep")
        }
        return try names.sorted().map { try Self.cell("\(path)/\($0)", hasScenario: hasScenario) }
    }

    private static func cell(_ file: String, hasScenario: Bool) throws -> SweepCell {
        func wrong(_ problem: String) -> Refusal {
            Refusal(
                .usage, "\(file) \(problem)",
                next: "--kept takes the files that a sweep wrote; start others with --scenario")
        }
        guard let data = FileManager.default.contents(atPath: file), data.count <= maxBytes else {
            throw wrong("cannot be read, or is over 1 MB")
        }
        let text = String(decoding: data, as: UTF8.self)
        if !hasScenario, let base = KeptScenario.comment("scenario", in: text) {
            throw Refusal(
                .usage, "\(file) was found in the scenario \(base), and without it the bug may not show",
                next: "add --scenario \(Shell.quoted(base))")
        }
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        // A part that is not read would be missing from the run, silently.
        if let other = lines.first(where: { line in !Self.parts.contains { line.hasPrefix($0) } }) {
            throw wrong("has \"\(other.prefix(60))\", which a sweep does not write")
        }
        /// The value after the beginning of a line; null if there is no such line.
        func value(_ beginning: String) -> JSONValue? {
            guard let line = lines.first(where: { $0.hasPrefix(beginning) }) else { return .null }
            // A line that is not JSON has no value.
            return try? WireJSON.decode(JSONValue.self, from: Data(line.dropFirst(beginning.count).utf8))
        }
        guard let rules = value(faults), let settings = value(self.settings),
            rules != .null
                ? (1...2).contains(rules.elements?.count ?? 0) && settings == .null
                : settings.members?.keys.sorted() == ["future"]
        else {
            throw wrong(
                "does not have one fault rule, the two of a pair, or one switch of the future, as JSON in one line")
        }
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return SweepCell(
            call: KeptScenario.comment("call", in: text) ?? name,
            fault: KeptScenario.comment("fault", in: text) ?? "kept",
            setup: SweepSetup(faults: rules.elements ?? [], settings: settings == .null ? nil : settings))
    }

    private static let faults = "faults: "
    private static let settings = "settings: "
    /// The beginnings of the lines of a kept file that are no comments.
    private static let parts = ["name: ", "description: ", faults, settings]
}
