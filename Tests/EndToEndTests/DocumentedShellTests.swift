import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Every shell block of the README, the docs and the recipes can be pasted into bash and into zsh as it is on a new Mac
/// (`zsh -f`, which takes `#` for a word and `?` for a pattern). Blocks are run in order, at a terminal, against a real server; three
/// documents beside each other, since each starts many programs.
@Suite struct DocumentedShellTests {
    private static let documents: [String] = {
        let files = FileManager.default
        let folders: [(name: String, end: String)] = [
            ("docs", ""), ("recipes", "/README.md"), ("Examples", "/README.md"),
        ]
        let inFolders = folders.flatMap { folder in
            // A folder that is missing makes the test of their number fail.
            let names = (try? files.contentsOfDirectory(atPath: TestWorld.root.path + "/" + folder.name)) ?? []
            return names.map { "\(folder.name)/\($0)\(folder.end)" }.sorted()
        }
        return (["README.md", "CONTRIBUTING.md", "SECURITY.md"] + inFolders).filter {
            $0.hasSuffix(".md") && files.fileExists(atPath: TestWorld.root.path + "/" + $0)
        }
    }()

    /// The documents whose blocks continue in the shell of the README.
    private static let walkThrough = ["docs/walk-through.md", "docs/backend.md", "docs/components.md"]

    /// The documents of each shell, dealt to three rows of shells.
    private static let rows: [[[String]]] = {
        let sessions = [walkThrough] + documents.filter { !walkThrough.contains($0) }.map { [$0] }
        return (0..<3).map { row in sessions.indices.filter { $0 % 3 == row }.map { sessions[$0] } }
    }()

    private static func read(_ document: String) throws -> DocumentBlocks {
        DocumentBlocks(
            document, try String(contentsOf: TestWorld.root.appendingPathComponent(document), encoding: .utf8))
    }

    private static func shellBlocks(_ documents: [String]) throws -> [DocumentBlock] {
        try documents.flatMap { try read($0).blocks }.filter(\.isShell)
    }

    @Test func theBlocksAreFound() throws {
        let all = try Self.documents.map { try Self.read($0) }
        let blocks = all.flatMap(\.blocks)
        #expect(Self.documents.count > 15 && blocks.count { $0.isShell && $0.notRun == nil } > 20)
        #expect(blocks.filter(\.language.isEmpty).map(\.place) == [], "a block names its language, or is \"text\"")
        #expect(
            all.flatMap(\.strayMarks) == [],
            "a mark \"not run: reason\" has a reason, and stands in the line before a shell block")
        let commands = blocks.filter {
            !$0.isShell && $0.text.contains(#/(?m)^\s*(\$ )?(curl|entrupy-sim|make) [a-z-]/#)
        }
        #expect(commands.filter { $0.language != "text" || $0.text.contains("curl ") }.map(\.place) == [])
    }

    @Test func marksAreRead() {
        let found = DocumentBlocks(
            "a",
            """
            <!-- not run: a reason -->
            ```sh
            one
            <!-- not run: within a block -->
            ```
            <!-- not run: a blank line follows -->

            ~~~ bash
            two
            ~~~
            <!-- not run -->
            ```sh
            ```
            <!-- not run: another language -->
              ```json
              {}
              ```
            ```
            <!-- not run: the end -->
            ```
            <!-- not run: the end -->
            """)
        #expect(
            found.blocks.map(\.line) == [2, 8, 12, 15, 18]
                && found.blocks.map(\.isShell) == [true, true, true, false, false])
        #expect(found.blocks.map(\.notRun) == ["a reason", nil, "", "another language", nil])
        #expect(found.strayMarks == ["a:6", "a:11", "a:14", "a:21"])
    }

    @Test(
        .enabled(if: PasteShell.bash.isInstalled && hasPrograms, "needs bash, script, curl and python3"),
        arguments: rows)
    func bashRunsEveryBlock(row: [[String]]) async throws { for shell in row { try await run(shell, in: .bash) } }

    @Test(
        .enabled(
            if: PasteShell.isWanted && PasteShell.zsh.isInstalled && hasPrograms,
            "needs zsh, script, curl and python3: make test-shells runs these"),
        arguments: rows)
    func zshRunsEveryBlock(row: [[String]]) async throws { for shell in row { try await run(shell, in: .zsh) } }

    private static let hasPrograms = WalkThroughTests.isPossible

    /// Pastes the blocks of documents into one shell. A block that is marked is not run if it calls programs that change the machine
    /// or do not end; it is called with programs that only note their arguments. Any other marked block must fail.
    private func run(_ documents: [String], in shell: PasteShell) async throws {
        let blocks = try Self.shellBlocks(documents).filter { SimProcess.hasHTTPS || !$0.text.contains(":8643") }
        for block in blocks where block.notRun != nil { try await checkWords(block, in: shell) }
        let refused = try Self.refused(documents)
        var typed: [DocumentBlock] = []
        for block in blocks {
            let isTyped = block.notRun == nil ? true : try await Self.isHarmless(block)
            if isTyped { typed.append(block) }
        }
        guard !typed.isEmpty else { return }
        try await Process.withDirectory { path in
            let folder = URL(fileURLWithPath: path)
            let place = try await Place(folder)
            let lines = typed.enumerated().map { index, block in
                let text = place.adapted(block.text)
                let refusal = "export REFUSAL=\(refused.contains(block.place) ? "shown" : "")\n"
                let pasted = refusal + (block.notRun == nil ? text : "set +e; (set -e\n\(text)\n)")
                return "\(pasted)\nprintf '\\n@@ %s\\n' \"\(index):$?\"; set -e"
            }
            let typedText = "set -e\n" + lines.joined(separator: "\n")
            let terminal = try await shell.enter(typedText, in: folder, place.variables)
            let shown = String(String.UnicodeScalarView(terminal.unicodeScalars.filter { $0 != "\r" }))
            for (index, block) in typed.enumerated() {
                // The line that is typed has `%s` in this place. The terminal may show both on one line.
                let status = shown.firstMatch(of: try Regex("@@ \(index):([0-9]+)", as: (Substring, Substring).self))
                if block.notRun == nil {
                    #expect(status?.1 == "0", "\(block.place) fails in \(shell.name): \(shown.suffix(3000))")
                } else {
                    #expect(
                        status != nil && status?.1 != "0", "\(block.place) runs, so its mark \"not run\" is not needed")
                }
            }
            // Where no marked block may fail, every message of the shell itself is an error that a later command hid.
            if typed.allSatisfy({ $0.notRun == nil }) {
                #expect(!shown.contains("\(shell.name): "), "\(shown)")
            }
        }
    }

    /// The places of blocks after which the document shows the envelope of an error.
    private static func refused(_ documents: [String]) throws -> Set<String> {
        let all = try documents.flatMap { try read($0).blocks }
        return Set(
            zip(all, all.dropFirst()).filter { $1.language == "json" && $1.text.contains(#/"(code|errorCode)": /#) }
                .map(\.0.place))
    }

    // MARK: Blocks that are not run

    /// The programs of this suite's shells.
    private static let commands: Set = ["curl", "entrupy-sim"]
    /// The commands of `entrupy-sim` that serve until they are stopped, wait for events, or change the machine.
    private static let others: Set = ["serve", "trust", "untrust", "mcp", "run", "events", "wait", "listen", "tail"]

    /// Whether a block calls only programs that end by themselves and change nothing outside the server and the folder.
    private static func isHarmless(_ block: DocumentBlock) async throws -> Bool {
        let calls = try await words(block, in: .bash).calls
        return !calls.isEmpty
            && calls.allSatisfy { commands.contains($0[0]) && others.isDisjoint(with: $0.dropFirst().prefix(2)) }
    }

    /// Checks that a block makes the same calls in both shells: without comments, which zsh takes for words, and without patterns.
    private func checkWords(_ block: DocumentBlock, in shell: PasteShell) async throws {
        let outcome = try await Self.words(block, in: shell)
        #expect(!outcome.calls.isEmpty, "\(block.place) calls no program: \(outcome.shown)")
        #expect(!outcome.shown.contains("\(shell.name): "), "\(block.place): \(outcome.shown)")
        #expect(!outcome.calls.contains { $0.contains("#") }, "\(block.place): a comment belongs outside the block")
        if shell.name != "bash", PasteShell.bash.isInstalled {
            // Calls in the background come in any order.
            let (found, expected) = (Self.calls(outcome), Self.calls(try await Self.words(block, in: .bash)))
            #expect(found == expected, "\(block.place) makes other calls in \(shell.name)")
        }
    }

    /// The calls of a shell, without the name of the folder that it alone has.
    private static func calls(_ outcome: PasteShell.Outcome) -> Set<[String]> {
        Set(outcome.calls.map { $0.map { $0.replacing(#/\S*\/entrupy-sim-paste-[0-9A-F-]+/#, with: "FOLDER") } })
    }

    private static func words(_ block: DocumentBlock, in shell: PasteShell) async throws -> PasteShell.Outcome {
        let named = block.text.matches(of: #/(?m)^\s*([a-z][a-z0-9/_.-]*) /#).map { String($0.1) }
        // The folder of the programs has no folders to go to, and zsh does not leave before its jobs have ended.
        return try await shell.paste("cd() { :; }\n\(block.text)\nwait", programs: commands.union(named))
    }

    // MARK: The place where blocks are run

    /// A server, and a folder with the programs and files that the blocks name.
    private struct Place {
        let variables: [String: String]
        private let server: SimProcess
        private let secureURL: String
        private let receiverPort: Int

        init(_ folder: URL) async throws {
            let files = FileManager.default
            let programs = folder.appendingPathComponent("bin")
            try files.createDirectory(at: programs, withIntermediateDirectories: true)
            let data = folder.appendingPathComponent("entrupy-sim-data").path
            server = try await SimProcess(["--data-dir", data, "--ready-json"] + SimProcess.securePort)
            let ready = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
            secureURL = ready["tls_url"].text ?? ""
            let receiver = try await WebhookReceiver.open()
            receiverPort = try #require(URL(string: receiver.url)?.port)
            try await receiver.close()
            for name in ["demo", "recipes", "openapi", "seed-data"] {
                try files.createSymbolicLink(
                    at: folder.appendingPathComponent(name),
                    withDestinationURL: TestWorld.root.appendingPathComponent(name))
            }
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            // A refused request fails its command, unless the document shows the refusal.
            let curl = """
                #!/bin/sh
                PATH='\(path)'
                case "$REFUSAL$*" in
                shown* | *:\(receiverPort)/) exec curl "$@" ;;
                *) exec curl --fail-with-body "$@" ;;
                esac
                """
            for (name, program) in [("curl", curl), ("entrupy-sim", "#!/bin/sh\nexec '\(SimProcess.path)' \"$@\"\n")] {
                let file = programs.appendingPathComponent(name)
                try Data(program.utf8).write(to: file)
                try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
            }
            variables = ["PATH": "\(programs.path):\(path)", "ENTRUPY_SIM_URL": server.baseURL]
        }

        /// A block with the addresses of this place.
        func adapted(_ text: String) -> String {
            text.replacingOccurrences(of: "http://127.0.0.1:8642", with: server.baseURL)
                .replacingOccurrences(of: "https://localhost:8643", with: secureURL)
                .replacing(/\b9000\b/, with: "\(receiverPort)")
        }
    }
}
