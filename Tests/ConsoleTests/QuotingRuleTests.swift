import Foundation
import Testing

/// Every place that makes text of another language from texts of clients. A new one fails here until it quotes, and is listed.
@Suite struct QuotingRuleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The source files with an extension, by their path in `Sources`.
    private static func files(_ suffix: String) throws -> [String: String] {
        let sources = root.appendingPathComponent("Sources")
        var files: [String: String] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: sources.path) ?? .init()
        where name.hasSuffix(suffix) {
            files[name] = try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8)
        }
        return files
    }

    /// The code of each file that matches, comments aside: the captures of the matches, sorted.
    private func sites(_ pattern: Regex<(Substring, Substring)>) throws -> [String: [String]] {
        var sites: [String: [String]] = [:]
        for (name, text) in try Self.files(".swift") {
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(
                separator: "\n")
            let found = code.matches(of: pattern).map { String($0.1) }
            if !found.isEmpty { sites[name] = Array(Set(found)).sorted() }
        }
        return sites
    }

    // MARK: Command lines

    /// What Swift code puts into the command lines that it writes. Each begins with a quoting function, or is listed with the
    /// reason why it cannot be of a client.
    private static let commandSites: [String: [String]] = [
        "Console/Pages/DifferencePage.swift": ["Shell"],
        // The server and the namespace that were given, each word quoted.
        "entrupy-sim/Commands/DiffCommand.swift": ["client"],
        // The option that names the server, quoted where it is made.
        "Console/Pages/ProblemPage.swift": ["Frame", "Shell"],
        "Console/StandalonePage.swift": ["Frame", "Shell"],
        // The flags of curl; the address, quoted before; `route` and `method`, quoted above; numbers; constants.
        "Console/Wording/Snippets.swift": ["anyRoute", "delivered", "method", "options", "place", "route", "status"],
        // A hint that is made by the next two, and a constant.
        "entrupy-sim/Client/ControlClient.swift": ["Shell", "options", "unset"],
        // The given words of this program, and options that are quoted there.
        "entrupy-sim/Client/ControlOptions.swift": ["options", "text"],
        "entrupy-sim/Client/Terminal.swift": ["place", "text"],
        // One of three words of the program, and the name of a snapshot, which has no characters of a shell.
        "entrupy-sim/Client/Refusal.swift": ["$0", "thing"],
        // A name of a command of this program, and the server and the namespace that were given, each word quoted.
        "entrupy-sim/CommandNames.swift": ["$0", "Suggestions", "command"],
        // Names of commands of this program.
        "entrupy-sim/Suggestions.swift": ["path"],
        // The quoted file, made above.
        "entrupy-sim/Commands/DataCommands.swift": ["file"],
        "entrupy-sim/Commands/Doctor.swift": ["Shell", "client"],
        "entrupy-sim/Commands/ListenCommand.swift": ["Shell"],
        // The name of an option.
        "entrupy-sim/Commands/RequestCommands.swift": ["option"],
        "entrupy-sim/Commands/ScenarioFromCommand.swift": ["Shell"],
        // The quoted option, made above.
        "entrupy-sim/Commands/ScenarioCommands.swift": ["Shell", "place"],
        // The quoted path, made above.
        "entrupy-sim/Commands/TrustCommands.swift": ["word"],
        // The examples and the address, which are quoted before; the first line, a sentence.
        "entrupy-sim/Serve.swift": [
            "Release", "Shell", "VisibleText", "address", "age", "data", "example", "info", "url",
        ],
        // Sentences and names, not commands: versions, most of them.
        "entrupy-sim/Scenarios/ScenarioOfBundle.swift": ["facts"],
        "EntrupySDK/Client/SDKFailure.swift": ["EntrupySimulation", "address"],
        "EntrupySimTesting/ControlConnection.swift": ["Simulator"],
        "EntrupySimTesting/Simulator.swift": ["info", "version"],
        "HTTPS/LocalAuthority.swift": ["fingerprint"],
        "Simulation/Namespaces/SeededGenerator.swift": ["randomSeed"],
        "Storage/Validation/UploadedDatabase.swift": ["name"],
    ]

    /// What a line with a command holds.
    private static let beginnings = ["curl ", "entrupy-sim ", "export ", "ommand(\""]

    @Test func everyCommandLineIsQuoted() throws {
        var found: [String: Set<String>] = [:]
        for (name, text) in try Self.files(".swift") {
            var continues = false
            for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                // The expression below would take a quarter of a minute for all lines, in a debug build.
                let mayBegin = line.withCString { bytes in
                    Self.beginnings.contains { strstr(bytes, $0) != nil }
                }
                guard continues || mayBegin else { continue }
                let command = line.firstMatch(
                    of: #/(?:\bcurl |\bentrupy-sim (?:\\\(|[a-z]+ )|export [A-Z_]+=|\.(?:c|serverC)ommand\(")/#)
                guard continues || command != nil else { continue }
                let rest = continues ? line : line[(command?.range.lowerBound ?? line.startIndex)...]
                // A literal that continues the line after it, and the end of a string, with which the command ends.
                continues = line.hasSuffix("\\\\")
                var depth = 0
                for part in rest.split(separator: /\\\(/, omittingEmptySubsequences: false).dropFirst() {
                    // What stands within the parentheses of a quoting function is its argument.
                    if depth == 0, let word = part.firstMatch(of: /^[$A-Za-z0-9_]+/) {
                        found[name, default: []].insert(String(word.0))
                    }
                    depth += 1
                    for character in part where depth > 0 { depth += character == "(" ? 1 : character == ")" ? -1 : 0 }
                    depth = max(0, depth)
                }
            }
        }
        #expect(found.mapValues { $0.sorted() } == Self.commandSites)
    }

    /// A format that nobody knows shows nothing, so a misspelt one would pass unseen.
    @Test func templatesUseNoUnknownFormat() throws {
        let known: Set = [
            "time", "day", "precise", "iso", "span", "size", "words", "escaped", "json", "s", "es", "count", "empty",
            "first",
            "last",
        ]
        var formats: Set<String> = []
        for (name, text) in try Self.files(".mustache") {
            for match in text.matches(of: /\{\{[#^\/]?(\w+)\(/) {
                #expect(known.contains(String(match.1)), "\(name): \(match.0)")
                formats.insert(String(match.1))
            }
        }
        #expect(formats.isSuperset(of: ["time", "iso", "size"]))
    }

    /// Pages pass values to the script as data, which quotes them, or show words that were quoted before.
    @Test func templatesHoldNoBareValueInACommandLine() throws {
        let quotedBefore: Set = ["shellURL", "cli", "command", "curl", "swift", "scenarioStep", "verify"]
        var templates = 0
        for (name, text) in try Self.files(".mustache") {
            templates += 1
            for match in text.matches(of: /data-cli="([^"]*)"/) {
                #expect(!match.1.contains("{{"), "\(name): \(match.1)")
                // Each value is one that the page gives, or a field of the form.
                for value in match.1.matches(of: /[{?]([\w.]+)\}?/) {
                    let field = value.1
                    let isGiven = text.contains("data-word-\(field)=") || text.contains("name=\"\(field)\"")
                    // The fields of an effect's argument are made from its description.
                    let isDescribed = text.contains("{{> field}}") && field.hasPrefix("effect.")
                    #expect(
                        isGiven || isDescribed
                            || ["json", "limits", "effect", "template", "bundleFile", "reportFile"].contains(field),
                        "\(name): \(field)")
                }
            }
            for match in text.matches(
                of: /<pre[^>]*>(?:<code>)?((?:curl|entrupy-sim|\{\{(?:curl|command|verify|swift|scenarioStep))[^<]*)</)
            {
                for value in match.1.matches(of: /\{\{+([^}]*)\}/) {
                    #expect(quotedBefore.contains(String(value.1)), "\(name): \(match.1)")
                }
            }
        }
        #expect(templates > 20)
    }

    @Test func theScriptMakesCommandLinesInOnePlace() throws {
        for (name, text) in try Self.files(".js") {
            for line in text.split(separator: "\n") where line.contains(#/entrupy-sim [a-z]|\bcurl\s/#) {
                #expect(!line.contains("${") && !line.contains("\" +"), "\(name): \(line)")
            }
            #expect(text.matches(of: /'\\\\''/).count <= 1, "\(name) quotes in one function")
        }
    }

    // MARK: Who quotes

    /// The files that call each function. A new file is listed here with what it makes.
    @Test func theCallersOfEachQuotingFunctionAreKnown() throws {
        let shell = try sites(/\b(Shell\.[a-z]+)/)
        #expect(
            shell == [
                "Console/Frame.swift": ["Shell.option", "Shell.quoted"],
                "Console/Pages/DifferencePage.swift": ["Shell.operand"],
                "Console/Pages/ProblemPage.swift": ["Shell.operand"], "Console/StandalonePage.swift": ["Shell.operand"],
                "Console/Wording/Snippets.swift": ["Shell.option", "Shell.quoted", "Shell.remark"],
                "entrupy-sim/Client/ControlClient.swift": ["Shell.operand"],
                "entrupy-sim/Suggestions.swift": ["Shell.operand", "Shell.quoted"],
                "entrupy-sim/Client/ControlOptions.swift": ["Shell.option"],
                "entrupy-sim/Commands/DataCommands.swift": ["Shell.quoted"],
                "entrupy-sim/Commands/Doctor.swift": ["Shell.operand", "Shell.option", "Shell.quoted"],
                "entrupy-sim/Commands/ListenCommand.swift": ["Shell.operand"],
                "entrupy-sim/Commands/RunCommand.swift": ["Shell.quoted"],
                "entrupy-sim/Commands/SweepCommand.swift": ["Shell.quoted"],
                "entrupy-sim/Scenarios/KeptFolder.swift": ["Shell.quoted"],
                "entrupy-sim/Commands/ScenarioFromCommand.swift": ["Shell.operand", "Shell.option"],
                "entrupy-sim/Commands/ScenarioCommands.swift": ["Shell.operand", "Shell.option", "Shell.quoted"],
                "entrupy-sim/Commands/TrustCommands.swift": ["Shell.quoted"],
                "entrupy-sim/Serve.swift": ["Shell.option", "Shell.quoted"],
            ])
        #expect(Set(try sites(/\b(SwiftLiteral\.[a-z]+)/).keys) == ["Console/Wording/Snippets.swift"])
        #expect(Set(try sites(/\b(YAMLScalar\.[a-z]+)/).keys) == ["Console/Wording/Snippets.swift"])
        let yaml = try sites(/\b(Yams\.(?:serialize|dump)|YAMLEncoder)\b/)
        #expect(
            Set(yaml.keys) == ["Simulation/Seed/SeedDocument.swift", "entrupy-sim/Scenarios/ScenarioDraft.swift"],
            "the library writes seed data and scenarios")
    }

    /// An expectation is all the YAML that is put together from texts: a literal with a member of a list, and values in it.
    @Test func everyTextOfYAMLIsQuoted() throws {
        let found = try sites(/("[^"\n]*(?:\\n *-|- \{)[^"\n]*\\\([^"\n]*")/)
        #expect(Set(found.keys) == ["Console/Wording/Snippets.swift"])
        let values = (found["Console/Wording/Snippets.swift"] ?? []).flatMap { $0.matches(of: /\\\(([a-z.]+)\)/) }
        #expect(values.map { String($0.1) } == ["route", "method", "status", "delivered"])
        let snippets = try #require(try Self.files("Snippets.swift")["Console/Wording/Snippets.swift"])
        #expect(
            snippets.contains(
                "let (route, method) = (YAMLScalar.quoted(request.path), YAMLScalar.quoted(request.method))"))
    }

    /// Each language is written in one place.
    @Test func noFileEscapesByItself() throws {
        #expect(
            Set(try sites(/(&quot;|&lt;)/).keys) == [
                "Console/EscapedHTML.swift", "SimulationAPI/Markdown.swift",
                "entrupy-sim/Commands/JUnitReport.swift",
            ])
        #expect(Set(try sites(/('\\\\'')/).keys) == ["Console/Quoting/Shell.swift"])
        #expect(
            Set(try sites(/(addingPercentEncoding)/).keys) == [
                // The value of a cookie, and the clients' libraries, which do not share the server's modules.
                "Server/Pipeline/ControlKey.swift", "ClientTransport/Addresses.swift",
            ])
    }
}
