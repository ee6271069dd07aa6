import Foundation
import Testing

/// Rules that the compiler cannot check, checked in the sources.
@Suite struct SourceRulesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of code of a module that match, comments aside, each with its place. An exemption without a match fails: it is not
    /// needed any more.
    private func matches(_ pattern: some RegexComponent, in folder: String, except: Set<String> = []) throws -> [String]
    {
        let path = Self.root.appendingPathComponent("Sources/\(folder)").path
        var found: [String] = []
        // The exemption of another module is not this one's.
        var unneeded = except.filter { FileManager.default.fileExists(atPath: "\(path)/\($0)") }
        var files = 0
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init()
        where name.hasSuffix(".swift") {
            files += 1
            let exemption = except.first { name.hasPrefix($0) }
            let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where Self.code(line).contains(pattern) {
                if let exemption {
                    unneeded.remove(exemption)
                } else {
                    found.append("\(folder)/\(name):\(index + 1): \(line)")
                }
            }
        }
        #expect(files > 0, "\(folder) has no sources")
        #expect(
            unneeded == [], "\(folder) needs no exemption for \(unneeded.sorted().joined(separator: ", ")) any more")
        return found
    }

    /// A line without its comment: two slashes outside a string.
    private static func code(_ line: Substring) -> Substring {
        var isInString = false
        var last: Character = " "
        for index in line.indices {
            let character = line[index]
            if character == "\"", last != "\\" { isInString.toggle() }
            if character == "/", last == "/", !isInString { return line[..<line.index(before: index)] }
            last = character
        }
        return line
    }

    /// The modules that are the server's or a client's: these have a clock and chance. Others are C.
    private static let above: Set = [
        "Server", "HTTPS", "Outgoing", "Hashes", "Exploration", "entrupy-sim", "ClientTransport", "EntrupySDK",
        "FourthlineSDK",
        "EntrupySimTesting", "UIKitStandIns", "CHashes", "CLibraries", "CResources",
    ]

    private static let modulesBelow: [String] = {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)) ?? []
        return names.filter { !above.contains($0) && !$0.hasPrefix(".") }.sorted()
    }()

    /// Time and randomness are inputs: a job gets its time, and ids follow from the namespace's seed. The mailbox measures
    /// real time to end a batch.
    @Test(arguments: modulesBelow) func noModuleBelowTheServerReadsAClockOrUsesRandomness(module: String) throws {
        let pattern =
            #/\b(Date\(\)|Date\.now|UUID\(\)|gettimeofday|clock_gettime|DispatchTime|ContinuousClock|SuspendingClock|SystemRandomNumberGenerator|arc4random)|\.random(Element)?\(|\b(sleep|usleep|nanosleep)\(/#
        let found = try matches(pattern, in: module, except: ["Jobs/Mailbox.swift"])
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    @Test func theModulesBelowTheServerAreFound() {
        #expect(Self.modulesBelow.count >= 10 && Self.modulesBelow.contains("Simulation"))
    }

    /// Every rule of a platform that answers 403, 404 or 409 gives the journal the fact behind it. Rules of the control API alone
    /// need none: their requests are not in the journal.
    @Test(arguments: ["Entrupy", "AppComponents"]) func everyRefusalOfAPlatformHasAFact(module: String) throws {
        let control: Set = [
            "Control/ControlLists.swift", "Users/Users.swift", "Items/GenerateItems.swift",
            "Scenarios/ScenarioTarget.swift",
        ]
        let refusal =
            #/(\.(notFound|forbidden|wrongState|userDataConflict)|(canceled|clientRejected|configurationNotSupported|invalidWorkflowStatus|\bfailure)\.(error|decided))\(/#
        let path = Self.root.appendingPathComponent("Sources/\(module)").path
        var found: [String] = []
        var count = 0
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init()
        where name.hasSuffix(".swift") && !control.contains(name) {
            let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
            for match in text.matches(of: refusal) {
                count += 1
                let call = Self.call(text[match.range.upperBound...])
                // Errors of other statuses are named by the same variable.
                if !call.contains("because"), !call.contains("validation code") {
                    found.append("\(module)/\(name): \(match.0)\(call.prefix(80))")
                }
            }
        }
        #expect(count >= 12, "\(module) has no refusals")
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    /// The text up to the closing parenthesis of a call.
    private static func call(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    /// One table knows the status of an error.
    @Test func noStatusOfAnErrorIsWrittenOutsideTheTable() throws {
        let pattern =
            #/status: \.(badRequest|unauthorized|forbidden|notFound|methodNotAllowed|requestTimeout|conflict|gone|contentTooLarge|unsupportedMediaType|unprocessableContent|tooManyRequests|internalServerError|serviceUnavailable|gatewayTimeout)\b|(status|code): [45][0-9]{2}\b|HTTP\/1\.1 [45]/#
        let found = try matches(pattern, in: "Server", except: ["Errors/"])
        #expect(found == [], "\(found.joined(separator: "\n"))")
        for module in Self.modulesBelow { #expect(try matches(#/HTTPResponse|HTTPTypes/#, in: module) == []) }
    }

    /// A failure that is ignored needs a reason: a comment on the line, or above its statement. None is needed where a `guard` says
    /// what follows from it, and to close what is not used any more.
    @Test func everyIgnoredFailureHasAReason() throws {
        let path = Self.root.appendingPathComponent("Sources").path
        var found: [String] = []
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init()
        where name.hasSuffix(".swift") {
            let lines = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false)
            for index in lines.indices where Self.ignoresFailureWithoutReason(lines, index) {
                found.append("\(name):\(index + 1): \(lines[index])")
            }
        }
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    private static func ignoresFailureWithoutReason(_ lines: [Substring], _ index: Int) -> Bool {
        let code = code(lines[index])
        guard code.contains(#/\btry\?/#), code.count == lines[index].count,
            !code.contains(#/\btry\? (await )?(\w+[.?]+)*close\(\)/#)
        else { return false }
        // The statement begins where the line before does not go on, and a chain of conditions with its first one.
        var start = index
        while start > 0 {
            let before = Self.code(lines[start - 1])
            if lines[start].contains(#/^ *\} else if\b/#) {
                let indent = lines[start].prefix { $0 == " " }
                guard let first = lines[..<start].lastIndex(where: { $0.hasPrefix(indent + "if ") }) else { break }
                start = first
            } else if before.contains(#/([,(\[=]|\?\?|&&|\|\||\b(guard|if))\s*$/#)
                || lines[start].contains(#/^ *(\.|\?\?|&&)/#)
            {
                start -= 1
            } else {
                break
            }
        }
        let isExplained = start > 0 && lines[start - 1].contains(#/^ *\/\//#)
        return !isExplained && !lines[start].contains(#/^ *guard\b/#)
    }

    /// A template that is made otherwise escapes by characters, which lets some quotes through.
    @Test func everyTemplateEscapesByBytes() throws {
        for module in ["Console", "Server", "entrupy-sim"] {
            let found = try matches(#/MustacheTemplate\(/#, in: module, except: ["EscapedHTML.swift"])
            #expect(found == [], "\(found.joined(separator: "\n"))")
        }
    }

    /// What the command line prints comes from servers and files. `Terminal` makes it safe to print, and `TextLogHandler` the log.
    /// `OwnServer` connects the output of its child, and `SignalWatch` decides which group has the terminal: they print nothing.
    /// `StandardStreams` writes JSON, in which control characters are escaped.
    @Test func theCommandLinePrintsThroughTheTerminalAlone() throws {
        let pattern =
            #/(^|[^.\w])(print|debugPrint|dump|puts|fputs|putchar|putc|fputc|fwrite|printf|vprintf|fprintf|vfprintf|perror|NSLog)\(|STD(OUT|ERR)_FILENO|\b(stdout|stderr)\b|FileHandle\.standard(Output|Error)|StreamLogHandler|TextOutputStream|\/dev\/(std|fd|tty)|\\u\{1b\}|\\x1b|\\033/#
        let found = try matches(
            pattern, in: "entrupy-sim",
            except: [
                "Client/Terminal.swift", "TextLogHandler.swift", "Running/OwnServer.swift", "Running/SignalWatch.swift",
                "Agents/StandardStreams.swift",
            ])
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    /// SwiftPM does not refuse an import that the manifest does not name: it works if another target has built the module.
    @Test func everyModuleImportsOnlyWhatItsArrowsAllow() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        // A target's entry lasts until the next one begins.
        let entries = manifest.split(separator: #/\.(?:target|executableTarget|testTarget)\(\s*/#).dropFirst()
        let targets = try entries.map { entry in
            let names = entry.matches(of: #/"([A-Za-z-]+)"/#).map { String($0.1) }
            return (name: try #require(names.first), others: Set(names))
        }
        // What HTTPS=1 adds to targets of every build.
        let withHTTPS: [String: Set<String>] = ["entrupy-sim": ["HTTPS"], "EndToEndTests": ["HTTPSTestSupport"]]
        let own = Set(targets.map(\.name))
        #expect(own.isSuperset(of: ["Simulation", "EntrupyStorage", "ServerTests"]))
        // The fuzzer's dependencies depend on how it is built, and stand elsewhere in the manifest.
        for target in targets where target.name != "FuzzTests" && target.name != "fuzz" {
            let isOfTests = target.name.hasSuffix("Tests") || target.name.hasSuffix("TestSupport")
            let folder = isOfTests ? "Tests" : "Sources"
            let others = target.others.union(withHTTPS[target.name] ?? [])
            let path = Self.root.appendingPathComponent("\(folder)/\(target.name)").path
            for case let file as String in FileManager.default.enumerator(atPath: path) ?? .init()
            where file.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
                for line in text.split(separator: "\n") where line.contains("import ") {
                    let words = line.split(separator: " ")
                    guard words.count >= 2, words[words.count - 2] == "import" else { continue }
                    let module = String(words[words.count - 1])
                    #expect(
                        !own.contains(module) || others.contains(module),
                        "\(target.name)/\(file) imports \(module), which Package.swift does not allow")
                }
            }
        }
    }

    /// Where there is UIKit, a declaration of ours with the same name would shadow it or be ambiguous.
    @Test func noStandInIsDeclaredWhereThereIsUIKit() throws {
        let path = Self.root.appendingPathComponent("Sources/UIKitStandIns").path
        var declared: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let lines = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8).split(separator: "\n").map(
                Self.code)
            let outside = lines.filter { !$0.hasPrefix(" ") && !$0.isEmpty }
            // UIKit of watchOS has no controllers.
            let condition = "#if !canImport(UIKit)" + (name == "Controllers.swift" ? " || os(watchOS)" : "")
            let expected =
                name == "UIKit.swift" ? ["#if canImport(UIKit)", "#else", "#endif"] : [condition, "#endif"]
            #expect(outside == expected.map { Substring($0) }, "\(name)")
            let types = lines.compactMap { $0.firstMatch(of: #/class (UI\w+):/#)?.1 }
            #expect(types.isEmpty == (name == "UIKit.swift"))
            declared.formUnion(types.map(String.init))
        }
        #expect(declared.isSuperset(of: ["UIColor", "UIFont", "UIImage", "UIViewController"]))
        for sdk in ["EntrupySDK", "FourthlineSDK"] {
            #expect(try matches(#/\b(class|struct|enum|typealias) (UI\w+|OrcaColor)\b/#, in: sdk) == [])
        }
    }

    /// The compiler checks the imports, as far as the manifest is right. This test checks the names.
    @Test func theEngineUsesNoNamesOfAPlatform() throws {
        let pattern =
            #/\b(Capture|Flag|Retake|Certificate|Catalogue|SDK|Workflow|Component|Entrupy|Fourthline|Brand)([A-Z(.]|\b)/#
        let found = try matches(pattern, in: "Simulation")
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }
}
