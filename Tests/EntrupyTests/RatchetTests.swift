import Foundation
import Testing

/// Limits that may only be lowered: lengths of functions, files that nothing uses, exemptions that nothing needs.
@Suite struct RatchetTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The paths of all files below a folder, from the root.
    private static func files(_ folder: String) -> [String] {
        let path = root.appendingPathComponent(folder).path
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
                && !isFolder.boolValue && !name.contains("__pycache__") && !name.hasSuffix(".DS_Store")
        }.map { "\(folder)/\($0)" }.sorted()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    // MARK: End-to-end tests

    /// The most lines of tests that need HTTP, a process or a disk. A rule is tested on a bench, and routes and bodies in `ServerTests`.
    private static let maxEndToEndLines = 14_000

    @Test func whatNeedsNoServerIsNotTestedEndToEnd() throws {
        let files = Self.files("Tests/EndToEndTests").filter { $0.hasSuffix(".swift") }
        #expect(files.count > 50)
        let lines = try files.reduce(0) { try $0 + Self.text($1).utf8.count { $0 == UInt8(ascii: "\n") } }
        #expect(lines <= Self.maxEndToEndLines)
    }

    // MARK: The way of a submit

    /// The most files that steer a submit. `make test-way` compares the table with what runs.
    private static let maxSteering = 38

    @Test func fewFilesSteerASubmit() throws {
        let parts = try Self.text("docs/architecture.md").components(separatedBy: "\n## ")
        let part = try #require(parts.first { $0.hasPrefix("The way of a submit\n") })
        let files = part.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
            .map { $0.components(separatedBy: "`")[1] }
        #expect((30...Self.maxSteering).contains(files.count))
        #expect(Set(files).count == files.count)
        #expect(Set(files).subtracting(Self.files("Sources").map { String($0.dropFirst("Sources/".count)) }) == [])
    }

    // MARK: Functions

    /// The most lines of a function, from its declaration to its closing brace.
    private static let maxLines = 70
    /// The most lines of a function that is not in ``long``.
    private static let maxNewLines = 50

    /// The functions that were longer when the limit came. None may be added.
    private static let long: Set = [
        "Console/Timeline/TimelineChart.swift init", "Entrupy/Items/GenerateItems.swift perform",
        "Server/Wire/BodyReader.swift receive",
    ]

    /// Whether a line has a word of a declaration. The expression below would take a minute for all lines, in a debug build.
    private static func mayDeclare(_ line: String) -> Bool {
        line.withCString { text in
            strstr(text, "func ") != nil || strstr(text, "init") != nil || strstr(text, "subscript") != nil
                || strstr(text, "var ") != nil
        }
    }

    /// The functions with a body on lines of its own, each with its number of lines.
    static func functions(in text: String) -> [(name: String, lines: Int)] {
        let lines = text.components(separatedBy: "\n")
        var found: [(String, Int)] = []
        for (start, line) in lines.enumerated() where mayDeclare(line) {
            guard
                let match = line.firstMatch(
                    of:
                        #/^( *)(?:@\w+(?:\([^)]*\))? |[a-z]+(?:\([a-z]+\))? )*(func [^ (<]+|init(?=[?!(<])|deinit|subscript(?=[(<])|var \w+(?=: [^=]*\{$))/#
                )
            else { continue }
            let indent = match.1
            // The body begins where the declaration ends, which all lines but the last one of its parameters are deeper than.
            var opening = start
            while opening < lines.count, !lines[opening].hasSuffix("{") {
                let next = opening + 1
                guard next < lines.count,
                    lines[next].hasPrefix("\(indent) ") || lines[next].hasPrefix("\(indent))")
                        || lines[next].hasPrefix("\(indent)where ")
                else { break }
                opening = next
            }
            guard opening < lines.count, lines[opening].hasSuffix("{") else { continue }
            let closing = "\(indent)}"
            guard let end = lines[opening...].firstIndex(where: { $0 == closing }) else { continue }
            found.append((String(match.2.split(separator: " ").last ?? match.2), end - start + 1))
        }
        return found
    }

    @Test func noFunctionIsLong() throws {
        var all = 0
        var tooLong: [String] = []
        var needed: Set<String> = []
        for file in Self.files("Sources") where file.hasSuffix(".swift") {
            for function in Self.functions(in: try Self.text(file)) {
                all += 1
                guard function.lines > Self.maxNewLines else { continue }
                let name = "\(file.dropFirst("Sources/".count)) \(function.name)"
                needed.insert(name)
                if function.lines > Self.maxLines || !Self.long.contains(name) {
                    tooLong.append("\(name) has \(function.lines) lines")
                }
            }
        }
        #expect(all > 3_000, "\(all) functions were found")
        #expect(tooLong == [], "\(tooLong.joined(separator: "\n"))")
        let unneeded = Self.long.subtracting(needed)
        #expect(unneeded == [], "these need no exemption any more: \(unneeded.sorted().joined(separator: ", "))")
    }

    @Test func theLengthOfAFunctionIsCounted() {
        let text = """
            struct A {
                init(
                    _ one: Int,
                    two: Int
                ) {
                    self.one = one
                }

                func required()
                private static func small() { 1 }
                var computed: Int {
                    1
                }
                var stored = [
                    1
                ]
                @discardableResult package func long<T>(_ value: T) throws -> T
                where T: Sendable {
                    if value {
                    }
                    return value
                }
                subscript(_ index: Int) -> Int {
                    index
                }
            }
            """
        let found = Self.functions(in: text)
        #expect(found.map(\.name) == ["init", "computed", "long", "subscript"])
        #expect(found.map(\.lines) == [6, 3, 6, 3])
    }

    // MARK: Expectations

    /// The lines of a file that expect something of all elements of a list, which may be empty.
    private static func expectsAllOfNothing(_ text: String) -> [String] {
        var depth: Int?
        return text.components(separatedBy: "\n").filter { line in
            let indent = line.prefix { $0 == " " }.count
            if line.contains("#expect(") || line.contains("#require(") {
                depth = indent
            } else if let outer = depth, indent <= outer {
                depth = nil
            }
            return depth != nil && line.contains(".allSatisfy")
        }
    }

    /// Such a test cannot fail where the list is empty by mistake: `someAndAll` can.
    @Test func noTestExpectsSomethingOfNothing() throws {
        let found = try Self.files("Tests").filter { $0.hasSuffix("Tests.swift") }.flatMap { path in
            try Self.expectsAllOfNothing(Self.text(path)).map { "\(path): \($0)" }
        }
        #expect(found == [], "\(found.joined(separator: "\n"))")
        let text = "#" + "expect(\n    list.allSatisfy { $0 })\nlist.allSatisfy { $0 }"
        #expect(Self.expectsAllOfNothing(text).count == 1)
    }

    // MARK: Files

    /// Targets, as Package.swift has them.
    private static func targets() throws -> Set<String> {
        let manifest = try text("Package.swift")
        var targets: Set<String> = []
        for entry in manifest.split(
            separator: #/\.(?:target|executableTarget|systemLibrary|testTarget)\(\s*/#
        ).dropFirst() {
            if let name = entry.firstMatch(of: #/name: "([A-Za-z-]+)"/#)?.1 { targets.insert(String(name)) }
        }
        return targets
    }

    /// SwiftPM only warns of a file in a target that it does not read.
    @Test func everyFileOfATargetIsRead() throws {
        let targets = try Self.targets()
        #expect(targets.isSuperset(of: ["Server", "CLibraries", "ServerTests"]))
        let resources = Set(
            try Self.text("Sources/CResources/Generated/resources.c").matches(of: #/#embed "\.\./\.\./\.\./([^"]+)"/#)
                .map {
                    String($0.1)
                })
        #expect(resources.count >= 80)
        for file in Self.files("Sources") {
            let module = String(file.dropFirst("Sources/".count).prefix { $0 != "/" })
            #expect(targets.contains(module), "\(file) is in no target of Package.swift")
            let isCode = [".swift", ".c", ".h", ".modulemap"].contains { file.hasSuffix($0) }
            #expect(
                isCode || resources.contains(file) || file.contains(".docc/"), "\(file) is read by no target")
        }
        // They are found by their folder, so a new one needs no other line.
        for folder in ["seed-data/scenarios", "seed-data/component-scenarios"] {
            for file in Self.files(folder) { #expect(resources.contains(file), "\(file) is not in the program") }
        }
    }

    /// A program or folder that no command names is forgotten.
    @Test(arguments: ["scripts", "packaging", "Benchmarks", "Tests"]) func everyProgramIsNamedByACommand(folder: String)
        throws
    {
        let targets = try Self.targets()
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent(folder).path
        ).filter { !$0.hasPrefix(".") && $0 != "__pycache__" }
        #expect(names.count >= 5)
        let readers =
            [
                "Makefile", ".ci/run", "action.yml", "finish/action.yml", "Dockerfile", "Package.swift",
                "CONTRIBUTING.md",
            ]
            + [".github/workflows", "scripts", "packaging", "Benchmarks", "docs"].flatMap(Self.files)
            + Self.files("Tests").filter { $0.hasSuffix(".py") || $0.hasSuffix("TestSupport.swift") }
        let texts = readers.compactMap { path in
            // Pictures are no text.
            (try? Self.text(path)).map { (path, $0) }
        }
        for name in names where folder != "Tests" || !targets.contains(name) {
            let path = "\(folder)/\(name)"
            let base = name.replacing(#/\.(py|in|sh)$/#, with: "")
            #expect(
                texts.contains {
                    $0.0 != path && !$0.0.hasPrefix("\(path)/")
                        && [path, " \(base) ", " \(name) "].contains(where: $0.1.contains)
                        || $0.0 != path && $0.1.contains("/\(name)")
                        || $0.0 != path && $0.0.hasPrefix("\(folder)/") && $0.1.contains("import \(base)")
                }, "\(path) is named by no command")
        }
    }
}
