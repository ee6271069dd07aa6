import Exploration
import Foundation
import SimulationAPI
import Yams

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
    /// - Throws: ``Refusal`` if there is none, or one is not a kept scenario.
    func cells() throws -> [SweepCell] {
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
        return try names.sorted().map { try Self.cell("\(path)/\($0)") }
    }

    private static func cell(_ file: String) throws -> SweepCell {
        func wrong(_ problem: String) -> Refusal {
            Refusal(.usage, "\(file) \(problem)", next: "a kept scenario has faults: with one fault rule")
        }
        guard let data = FileManager.default.contents(atPath: file), data.count <= maxBytes else {
            throw wrong("cannot be read, or is over 1 MB")
        }
        let text = String(decoding: data, as: UTF8.self)
        let root: Node?
        do {
            root = try Yams.compose(yaml: text, .basic)
        } catch {
            throw wrong("is not YAML: \("\(error)".split(separator: "\n").first ?? "")")
        }
        guard let rules = root?.mapping?["faults"]?.sequence, rules.count == 1, let rule = rules.first else {
            throw wrong("does not have exactly one fault rule")
        }
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return SweepCell(
            call: KeptScenario.comment("call", in: text) ?? name,
            fault: KeptScenario.comment("fault", in: text) ?? "kept",
            rule: json(rule))
    }

    /// The node as JSON. Its depth is that of a YAML document of a fault rule, which the parser bounds.
    private static func json(_ node: Node) -> JSONValue {
        if let mapping = node.mapping {
            return .object(JSONObject(mapping.map { ($0.key.string ?? "", json($0.value)) }))
        }
        if let sequence = node.sequence { return .array(sequence.map(json)) }
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else {
            return .string(node.string ?? "")
        }
        let text = scalar.string
        switch text {
        case "true", "false": return .bool(text == "true")
        case "null", "~", "": return .null
        default: return JSONNumber.isNumber(text) ? .number(JSONNumber(text: text)) : .string(text)
        }
    }
}
