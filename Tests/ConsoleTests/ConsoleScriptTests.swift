import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Console

/// The part of the pages' script that writes command lines, run by Node.js. `make test-console` runs the rest in a browser.
@Suite(
    .enabled(if: PasteShell.isWanted, "make test-shells runs these"),
    .enabled(if: ForeignProgram.node.works(with: "console.log(1)"), "needs node"))
struct ConsoleScriptTests {
    /// Runs an expression, which may use the script's functions and `texts`, and answers its strings.
    private func run(_ expression: String, _ texts: [String]) throws -> [String] {
        let script = String(decoding: ConsoleAsset.script.bytes, as: UTF8.self)
        let parts = script.components(separatedBy: "  // MARK: ")
        let quoting = try #require(parts.first { $0.hasPrefix("Quoting\n") }).drop { $0 != "\n" }
        let given = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let output = try ForeignProgram.node.read(
            "\"use strict\";\n\(quoting)\nconst texts = \(given);\nconsole.log(JSON.stringify(\(expression)));\n")
        return try JSONDecoder().decode([String].self, from: output)
    }

    private static let texts = HostileTexts.all + ["a\0b", "a\n\0", "\u{10fffe}", "'\n!", "\u{ad}", "\u{e0001}"]

    @Test func theScriptQuotesAsTheServerDoes() throws {
        let quoted = try run("texts.map(quoted)", Self.texts)
        #expect(quoted.count == Self.texts.count)
        for (text, word) in zip(Self.texts, quoted) {
            #expect(Array(word.utf8) == Array(Shell.quoted(text).utf8), "\(text.debugDescription)")
        }
    }

    @Test(arguments: [PasteShell.bash, .zsh].filter(\.isInstalled))
    func commandLinesOfFormsGetTheirValues(shell: PasteShell) async throws {
        let template =
            "entrupy-sim items set {item} --result {result} [--reason {reason}] [--region {regions}] [--replace ?replace]"
        let values =
            #"(name => ({item: text, result: text, reason: text, regions: ["a", text], replace: "true"})[name] ?? "")"#
        let lines = try run("texts.map(text => filled(`\(template)`, \(values), ' --namespace a'))", HostileTexts.all)
        let expected = HostileTexts.all.map { text -> [String] in
            func option(_ name: String) -> [String] { text.hasPrefix("-") ? ["\(name)=\(text)"] : [name, text] }
            let start = ["entrupy-sim", "items", "set"]
            // A field that is empty is shown as an ellipsis.
            if text.isEmpty { return start + ["…", "--result", "…", "--region", "a", "--replace", "--namespace", "a"] }
            let flags =
                option("--result") + option("--reason") + ["--region", "a"] + option("--region")
                + ["--replace", "--namespace", "a"]
            return text.hasPrefix("-") ? start + flags + ["--", text] : start + [text] + flags
        }
        let outcome = try await shell.paste(lines.joined(separator: "\n"), variables: ["TOKEN": "t"])
        #expect(!outcome.ranOther, "\(outcome.shown)")
        #expect(outcome.calls == expected, "\(String(describing: zip(outcome.calls, expected).first { $0 != $1 }))")
    }

    @Test func aValueIsNeverReadAsAPartOfTheTemplate() throws {
        let values = #"(name => ({first: "{second}", second: "'; touch x; '"})[name] ?? "")"#
        let lines = try run(
            #"["a [--first {first}] --second {second} {third}"].map(text => filled(text, \#(values), ""))"#, [])
        #expect(lines == [#"a --first '{second}' --second ''\''; touch x; '\''' …"#])
    }
}
