import ArgumentParser
import Console
import Foundation
import Logging
import Server
import SimulationAPI

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the simulator.",
        discussion: """
            Every flag can also be set in the environment: ENTRUPY_SIM_PORT=8700 is --port 8700.
            State is kept in SQLite databases in the data directory and survives a restart.
            """)

    @OptionGroup var listening: ListeningOptions
    @Option(help: "The directory for databases and images. (default: ./entrupy-sim-data)") var dataDir: String?
    @Flag(help: "Keep everything in memory; nothing survives a stop.") var inMemory = false
    @Option(
        help:
            "Open a bundle or an exported snapshot, with its clock frozen where it was; in memory unless --data-dir is given."
    )
    var bundle: String?
    @Option(
        help:
            "Write every complete request, including secrets, to a new file, for \"entrupy-sim replay\"."
    )
    var record: String?
    @Option(
        help:
            "The file that the coverage of documented answers and states is kept in. (default: coverage.json in the data directory; none with --in-memory)"
    )
    var coverageFile: String?
    @Option(help: "Seed data: a YAML or JSON file like seed-data/standard.yaml, \"standard\" or \"empty\".")
    var seed = "standard"
    @Option(help: "The seed for every id, token and key, 0 to 9007199254740991. (default: random)") var randomSeed: Int?
    @Option(help: "\"documented\", \"off\", or numbers as JSON, for instance '{\"api_per_second\": 50}'.")
    var rateLimits = "documented"
    @Option(help: "\"process\": acknowledged writes survive a crash; \"power-loss\": also a power cut, but slower.")
    var durability = ServerDurability.process
    @Flag(help: "If a request names a namespace that does not exist, make it.") var autoCreateNamespaces = false
    @Flag(help: "Judge namespaces before they are deleted, for GET /_sim/audits. It takes memory for each.")
    var keepAudits = false

    func validate() throws {
        try require(!(inMemory && dataDir != nil), "--in-memory and --data-dir exclude each other")
        try require(
            bundle == nil || record == nil,
            "--bundle and --record exclude each other: a recording begins with a fresh namespace")
        try require(coverageFile != "", "--coverage-file must be a file")
        if let randomSeed, !(0..<1 << 53).contains(randomSeed) {
            throw ValidationError("--random-seed must be 0 to 9007199254740991, got \(randomSeed)")
        }
        // The message says what would be right.
        try require(
            (try? limits()) != nil,
            "--rate-limits must be \"documented\", \"off\" or a JSON object of numbers, got \(rateLimits)")
    }

    func run() async throws {
        let logger = listening.prepare()
        let directory = inMemory ? nil : dataDir ?? (bundle == nil ? "entrupy-sim-data" : nil)
        let controlToken = listening.effectiveControlToken
        if let bundle { try InputFile.checkBundle(bundle) }
        do {
            let seed = try SeedFile.load(seed)
            // A bundle has tokens of its own.
            let tokens = bundle == nil ? SeedFile.tokens(seed) : [:]
            var configuration = ServerConfiguration(
                version: Release.version,
                namespaces: .init(
                    dataDirectory: directory, durability: durability, seed: seed,
                    randomSeed: randomSeed ?? Int.random(in: 0..<1 << 53),
                    settings: .object(["rate_limits": try limits()]), autoCreates: autoCreateNamespaces))
            configuration.namespaces.bundle = bundle
            configuration.recordsTo = record
            configuration.coverageFile = coverageFile
            configuration.keepsAudits = keepAudits
            try listening.apply(
                to: &configuration, controlToken: controlToken, dataDirectory: directory, logger: logger)
            let server = try SimServer(configuration, logger: logger)
            listening.watchParent()
            try await server.run { [listening] location in
                Welcome(
                    location: location, authority: server.authorityPath,
                    place: directory.map { "data in \($0)" } ?? "data in memory", tokens: tokens,
                    controlToken: controlToken
                ).show(asJSON: listening.readyJson)
                // The first requests of a client still are a start.
                Task {
                    try await Task.sleep(for: .seconds(2))
                    StartPages.release()
                }
            }
        } catch {
            throw await Stop.because(error)
        }
    }

    private func limits() throws -> JSONValue {
        guard rateLimits.hasPrefix("{") else {
            try require(["documented", "off"].contains(rateLimits), "unknown limits")
            return .string(rateLimits)
        }
        return try WireJSON.decode(JSONValue.self, from: Data(rateLimits.utf8))
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension WebhookTargets: ExpressibleByArgument {}

enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

extension ServerDurability: ExpressibleByArgument {}

/// Turns an error of the start into a message that says what to do.
enum Stop {
    static func because(_ error: any Error) async -> Refusal {
        if let refusal = error as? Refusal { return refusal }
        guard let error = error as? PortRefused else {
            let text = "\(error)"
            if text.contains("UnknownHost") { return wrongHost }
            return Refusal(StartProblem.isWrongInput(error) ? .usage : .no, text)
        }
        return switch error.reason {
        case .inUse:
            Refusal(
                .no, "port \(error.port)\(error.address.map { " of \($0)" } ?? "") is in use",
                next: await "\(whoListens(error)), or pick another port with \(error.option) (0: any free one)")
        case .needsRights:
            Refusal(
                .no, "port \(error.port) needs the rights of root",
                next: "pick a port from 1024 on with \(error.option), or start the server with sudo")
        case .foreignAddress: wrongHost
        }
    }

    /// Advice about the program that has a port: another simulator says what it is.
    private static func whoListens(_ refused: PortRefused) async -> String {
        let host = refused.address == "::1" ? "[::1]" : "127.0.0.1"
        let arguments = ["--url", "http://\(host):\(refused.port)", "-n", "default", "--timeout", "2s"]
        // Whoever does not answer as a simulator is another program.
        guard let options = try? ControlOptions.parse(arguments),
            let info: ServerInfo = try? await ControlClient(options: options).get("/_sim/info")
        else { return "stop the program that listens there" }
        let age = DurationText.text(seconds: info.uptime.rounded())
        let data = info.data_dir.map { "with its data in \($0)" } ?? "in memory"
        return "entrupy-sim \(info.version) listens there, up for \(age), \(data): use it, stop it"
    }

    private static var wrongHost: Refusal {
        Refusal(
            .usage, "--host is not an address of this machine",
            next: "127.0.0.1 serves only this machine, 0.0.0.0 every machine that can reach it")
    }
}

/// The text that `serve` prints when it accepts connections.
struct Welcome {
    let location: ServerLocation
    /// The path of the local authority's certificate; `nil` if there is no such file.
    let authority: String?
    let place: String
    /// API tokens by organization.
    let tokens: [String: [String]]
    /// The token that control requests must send, `nil` if they need none.
    let controlToken: String?

    /// Prints a text for people, or one line of JSON for programs.
    func show(asJSON isJSON: Bool) {
        guard isJSON else { return Terminal(isJSON: false).lines(text) }
        let line = JSONValue.object([
            "url": .string(location.url), "tls_url": location.tlsURL.map { .string($0) } ?? .null,
            "tls_authority": authority.map { .string($0) } ?? .null, "pid": .number(JSONNumber(Int(getpid()))),
            "tokens": .object(JSONObject(tokens.map { ($0.key, .array($0.value.map { .string($0) })) })),
            "control_token": controlToken.map { .string($0) } ?? .null,
        ])
        // Text and numbers can always be encoded.
        try? Terminal(isJSON: true).json(of: line)
    }

    private var url: String { location.url }

    /// A sentence about a debug build, which `make serve` starts with.
    private static var buildNote: String {
        #if DEBUG
            "This is a debug build; FAST=1 make serve makes one that answers several times as fast.\n"
        #else
            ""
        #endif
    }

    private var text: String {
        """
        entrupy-sim \(Release.version) is open on \(url) (\(VisibleText.line(place)))
        \(Self.buildNote)
        \(secureText)\(example.map { "The API token of \($0.organization): \($0.token)\n" } ?? "")\(controlToken.map { "The control API's token, sent as X-Sim-Control-Token: \($0)\n" } ?? "")
        See what happens in a browser:
          \(url)/_sim/console\(controlToken.map { "?token=\(URLPart.escaped($0))" } ?? "")
        Try it:
          curl \(Shell.quoted("\(url)/_sim/health"))\(example.map { calls(token: $0.token) } ?? "")

        Stop it with Ctrl-C.
        """
    }

    /// An organization and one of its API tokens, for the examples; `nil` if none is known.
    private var example: (organization: String, token: String)? {
        let known = tokens.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        return known.first.map { (VisibleText.line($0.key), VisibleText.line($0.value[0])) }
    }

    private func calls(token: String) -> String {
        """

          curl -H \(Shell.quoted("Authorization: Token \(token)")) -H 'Api-Version: 1.3' \(Shell.quoted("\(url)/v1/health"))
          curl -X POST -H \(Shell.quoted("Authorization: Token \(token)")) -H 'Content-Type: application/json' \\
            -d '{"sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": "example-user-id", "email": "user@entrupy-customer.com"}' \\
            \(Shell.quoted("\(url)/v2/integrations/authorize-user"))
        """
    }

    /// The HTTPS address and how to trust it, or nothing.
    private var secureText: String {
        guard let tlsURL = location.tlsURL else { return "" }
        let address = Shell.quoted("\(tlsURL)/_sim/health")
        let check = authority.map { "  curl \(Shell.option("--cacert", $0)) \(address)\n" } ?? ""
        return "HTTPS and HTTP/2 are on \(tlsURL)\n\(check)\n"
    }
}
