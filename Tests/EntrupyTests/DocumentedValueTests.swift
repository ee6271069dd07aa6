import EntrupyAPI
import Foundation
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation

/// The documents list every value that the code accepts.
@Suite struct DocumentedValueTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The cells of each row of a document's tables, headers included.
    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.dropFirst(2).dropLast(2).components(separatedBy: " | ") }
    }

    /// The texts in backticks.
    private static func values(_ cells: [String]) -> Set<String> {
        Set(cells.flatMap { cell in cell.matches(of: #/`([^`]+)`/#).map { String($0.1) } })
    }

    // MARK: Scenarios

    /// The rows of `docs/scenarios.md` with all their values, and the names of the members that they explain.
    @Test func everyValueOfScenariosIsDocumented() throws {
        let reasons = try Seed.standard().entrupy.catalogue.texts.invalidReasons.map(\.id)
        let events = WebhookEvent.allCases.map(\.rawValue)
        let statuses = DeliveryStatus.allCases.map(\.rawValue)
        let forms = WebhookFormat.allCases.map(\.rawValue) + WebhookSignatureForm.allCases.map(\.rawValue)
        let lists: [(row: String, members: [String], values: [String])] = [
            ("set_result", ["result", "reason"], ResultID.names + reasons),
            ("trigger_webhook", ["event"], events),
            ("subscriptions", ["events", "version", "format", "signature", "v1", "v2"], events + forms),
            ("item", ["result", "set_result", "flag"], FlagID.names),
            ("capture", ["status"], Capture.Status.names),
            ("webhook", ["event", "trigger_webhook", "attempts", "status"], statuses),
        ]
        let rows = Self.rows(try Self.text("docs/scenarios.md"))
        for list in lists {
            let row = rows.first { $0[0].hasPrefix("`\(list.row)`") } ?? []
            let documented = Self.values(row).filter { !$0.hasPrefix("{") }
            #expect(documented == Set([list.row] + list.members + list.values), "\(list.row)")
        }
    }

    @Test func everySectionActionAndConditionIsDocumented() throws {
        let platforms = Platforms.simulated
        let names =
            platforms.scenarioSections.map(\.key) + platforms.scenarioActions.map(\.name)
            + platforms.scenarioExpectations.map(\.name)
        let documented = Self.values(Self.rows(try Self.text("docs/scenarios.md")).map { $0[0] })
        #expect(Set(names).subtracting(documented) == [])
    }

    // MARK: The control API

    @Test func everyFaultEffectIsDocumented() throws {
        let names = Platforms.simulated.faultEffects.map(\.name) + WebhookEffect.all.map(\.name)
        let section = try Self.text("docs/control.md").components(separatedBy: "\n## ").first { $0.hasPrefix("Faults") }
        let documented = Self.values((section ?? "").components(separatedBy: "\n"))
        #expect(Set(names).subtracting(documented) == [])
    }

    /// The keys and defaults of the table of settings, both ways. Those of App Components are read from their source.
    @Test func everySettingIsDocumented() throws {
        let parts = try Self.text("docs/control.md").components(separatedBy: "| setting | values | default |\n")
        let table = Self.rows(parts[parts.count - 1].components(separatedBy: "\n\n")[0])
        let source = try Self.text("Sources/AppComponents/AppComponentsPlatform.swift")
        let components = source.firstMatch(of: #/"components": \.object\(\[([^\]]+)\]\)/#).map { String($0.1) } ?? ""
        var settings = Self.flattened(try Settings(.object([:]), Seed.standard()).document)
        for setting in components.matches(of: #/"(\w+)": \.string\("(\w+)"\)/#) {
            settings["components.\(setting.1)"] = String(setting.2)
        }
        let documented = Dictionary(
            table.map { ($0[0].trimmingCharacters(in: ["`"]), $0[2].trimmingCharacters(in: ["`"])) },
            uniquingKeysWith: { first, _ in first })
        #expect(documented == settings)
    }

    private static func flattened(_ document: JSONValue, _ path: String = "") -> [String: String] {
        guard let members = document.members else { return [path: shown(document)] }
        var settings: [String: String] = [:]
        for (name, value) in members {
            settings.merge(flattened(value, path.isEmpty ? name : "\(path).\(name)"), uniquingKeysWith: { $1 })
        }
        return settings
    }

    private static func shown(_ value: JSONValue) -> String {
        switch value {
        case .bool(let flag): "\(flag)"
        case .number(let number): number.text
        case .string(let text): text
        case .array(let elements): "[\(elements.map { "\"\(shown($0))\"" }.joined(separator: ", "))]"
        case .null, .object: "null"
        }
    }

    // MARK: Errors

    @Test func everyErrorIsDocumented() throws {
        let (text, table) = (try Self.text("docs/errors.md"), try Self.text("Sources/Server/Errors/ErrorTable.swift"))
        let codes = table.matches(of: #/\([.\w]+, "(\w+)", /#).map { String($0.1) }
        #expect(Set(Self.rows(text).filter { Int($0[0]) != nil }.map { $0[1] }) == Set(codes))
        let source = try Self.text("Sources/EntrupySDK/EntrupyErrorCode.swift")
        let sdkErrors = source.matches(of: #/case (ErrorCode\w+)/#).map { String($0.1) }
        #expect(Set(text.matches(of: #/(ErrorCode[A-Z]\w+)/#).map { String($0.1) }) == Set(sdkErrors))
        #expect(Set(SDKErrorCode.allCases.map { "\($0)" }) == Set(sdkErrors))
    }
}
