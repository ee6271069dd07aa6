import ArgumentParser
import Console
import Foundation
import Logging
import Server
import SimulationAPI

/// `entrupy-sim serve`: runs the simulator.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the simulator.",
        discussion: """
            Every flag can also be set in the environment: ENTRUPY_SIM_PORT=9000 is --port 9000.
            State is kept in SQLite databases in the data directory and survives a restart.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port = 8642

    @Option(
        help:
            "A port for HTTPS and HTTP/2 beside the plain one, usually 8643; 0 picks a free one. Clients must trust its authority: see \"entrupy-sim trust\"."
    )
    var tlsPort: Int?

    @Option(help: "A certificate in PEM for --tls-port, with those that lead to its authority.")
    var tlsCert: String?

    @Option(help: "The key of --tls-cert, in PEM.")
    var tlsKey: String?

    @Option(help: "The directory for databases and images.")
    var dataDir: String?

    @Flag(help: "Keep everything in memory; nothing survives a stop.")
    var inMemory = false

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

    @Option(help: "Seed data: a YAML or JSON file like seed-data/standard.yaml, \"standard\" or \"empty\".")
    var seed = "standard"

    @Option(help: "The seed for every id, token and key, 0 to 9007199254740991; random if absent.")
    var randomSeed: Int?

    @Option(help: "\"documented\", \"off\", or numbers as JSON, for instance '{\"api_per_second\": 50}'.")
    var rateLimits = "documented"

    @Option(help: "The start of absolute URLs; http://127.0.0.1:PORT if absent.")
    var publicUrl: String?

    @Option(
        help:
            "More host names that the server answers to, separated by commas; .example.com is that name and all below it."
    )
    var allowedHosts = ""

    @Option(
        help:
            "Origins whose web pages may use the platforms' routes, separated by commas, for instance http://localhost:3000; \"*\" for all. The control API stays closed to them."
    )
    var cors = ""

    @Option(
        help:
            "The token that control requests must send as X-Sim-Control-Token; if absent and --host is not a loopback address, a random one is printed."
    )
    var controlToken: String?

    @Flag(help: "Allow control requests without a token.")
    var controlOpen = false

    @Option(help: "\"local\": webhooks go only to loopback and private addresses; \"any\": to any address.")
    var webhookTargets = WebhookTargets.local

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.notice

    @Option(help: "\"text\" or \"json\". The log is on standard error, with a line for each request at the level info.")
    var logFormat = LogFormat.text

    @Option(help: "The maximum number of open connections, if the limit of open files allows it; further ones wait.")
    var maxConnections = 10_000

    @Option(
        help:
            "Seconds without a byte after which a connection is closed; below 31, an incomplete body gets no answer."
    )
    var idleTimeout = 300

    @Option(help: "\"process\": acknowledged writes survive a crash; \"power-loss\": also a power cut, but slower.")
    var durability = ServeDurability.process

    @Flag(help: "If a request names a namespace that does not exist, make it.")
    var autoCreateNamespaces = false

    @Flag(help: "When ready, print one line of JSON instead of the welcome: url, pid, API tokens, control token.")
    var readyJson = false

    @Flag(help: "Stop when standard input closes, so that no server outlives the program that started it.")
    var exitWithParent = false

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be 0 to 65535, got \(port)") }
        if let tlsPort {
            guard (0...65535).contains(tlsPort) else {
                throw ValidationError("--tls-port must be 0 to 65535, got \(tlsPort)")
            }
            guard tlsPort == 0 || tlsPort != port else {
                throw ValidationError("--port and --tls-port must differ, got \(port) for both")
            }
        }
        for origin in corsOrigins where origin != "*" {
            let url = URL(string: origin)
            guard let url, url.scheme != nil, url.host != nil, url.path.isEmpty, url.query == nil else {
                throw ValidationError(
                    "--cors must be origins like http://localhost:3000 without a path, or \"*\", got \(origin)")
            }
        }
        for name in allowedHostNames where !AllowedHosts.isPattern(name) {
            throw ValidationError(
                "--allowed-hosts must be names like sim.example.com, or .example.com for all below it, without a scheme or port, got \(name)"
            )
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key belong together")
        }
        guard tlsCert == nil || tlsPort != nil else {
            throw ValidationError("--tls-cert needs --tls-port, for instance --tls-port 8643")
        }
        guard (1...1_000_000).contains(maxConnections) else {
            throw ValidationError("--max-connections must be 1 to 1000000, got \(maxConnections)")
        }
        guard (1...86_400).contains(idleTimeout) else {
            throw ValidationError("--idle-timeout must be 1 to 86400 seconds, got \(idleTimeout)")
        }
        guard !(inMemory && dataDir != nil) else {
            throw ValidationError("--in-memory and --data-dir exclude each other")
        }
        guard bundle == nil || record == nil else {
            throw ValidationError("--bundle and --record exclude each other: a recording begins with a fresh namespace")
        }
        if let randomSeed, !(0..<1 << 53).contains(randomSeed) {
            throw ValidationError("--random-seed must be 0 to 9007199254740991, got \(randomSeed)")
        }
        guard !(controlOpen && controlToken != nil) else {
            throw ValidationError("--control-open and --control-token exclude each other")
        }
        if let controlToken,
            !(1...500).contains(controlToken.utf8.count)
                || !controlToken.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        {
            throw ValidationError("--control-token must be 1 to 500 printable ASCII characters without spaces")
        }
        if let publicUrl {
            let url = URL(string: publicUrl)
            guard let url, ["http", "https"].contains(url.scheme), url.host != nil, url.query == nil else {
                throw ValidationError("--public-url must be an http or https URL, got \(publicUrl)")
            }
        }
        // The message says what would be right.
        if (try? limits()) == nil {
            throw ValidationError(
                "--rate-limits must be \"documented\", \"off\" or a JSON object of numbers, got \(rateLimits)")
        }
    }

    func run() async throws {
        var logger = Logger(label: "entrupy-sim") { label in
            switch logFormat {
            case .text: MaskedLogHandler(TextLogHandler(label: label))
            case .json: MaskedLogHandler(JSONLogHandler())
            }
        }
        logger.logLevel = logLevel
        // A file at the system's size limit must be an error like a full disk; the signal would end the process.
        signal(SIGXFSZ, SIG_IGN)
        let possibleConnections = OpenFiles.raiseLimit()
        let directory = inMemory ? nil : dataDir ?? (bundle == nil ? "entrupy-sim-data" : nil)
        let controlToken =
            controlOpen ? nil : controlToken ?? (Address.isThisMachine(host) ? nil : ControlToken.makeRandom())
        let server: SimServer
        let tokens: [String: [String]]
        if let bundle { try InputFile.check(bundle, "bundle") }
        do {
            let seed = try SeedFile.load(seed)
            // A bundle has tokens of its own.
            tokens = bundle == nil ? SeedFile.tokens(seed) : [:]
            var configuration = ServerConfiguration(
                version: Release.version,
                namespaces: .init(
                    dataDirectory: directory, durability: durability.storage, seed: seed,
                    randomSeed: randomSeed ?? Int.random(in: 0..<1 << 53),
                    settings: .object(["rate_limits": try limits()]), autoCreates: autoCreateNamespaces))
            configuration.namespaces.bundle = bundle
            configuration.recordsTo = record
            configuration.namespaces.allowsAnyTarget = webhookTargets == .any
            configuration.host = host
            configuration.controlToken = controlToken
            configuration.port = port
            configuration.tls = tlsPort.map { ($0, certificates(directory)) }
            configuration.connections.connections = min(maxConnections, possibleConnections)
            configuration.connections.idle = .seconds(idleTimeout)
            configuration.allowedHosts = allowedHostNames
            configuration.corsOrigins = corsOrigins
            configuration.publicURL = publicUrl.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            server = try SimServer(configuration, logger: logger)
        } catch {
            throw Stop.because(error)
        }
        if exitWithParent { Parent.whenGone { kill(getpid(), SIGTERM) } }
        do {
            try await server.run { location in
                let welcome = Welcome(
                    location: location, authority: server.authorityPath,
                    place: directory.map { "data in \($0)" } ?? "data in memory", tokens: tokens,
                    controlToken: controlToken)
                readyJson ? welcome.showJSON() : welcome.show()
            }
        } catch {
            throw Stop.because(error)
        }
    }

    private var corsOrigins: [String] { Self.list(cors) }
    private var allowedHostNames: [String] { Self.list(allowedHosts) }

    /// The parts between commas, in lower case.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }

    private func certificates(_ directory: String?) -> CertificateSource {
        if let tlsCert, let tlsKey { return .files(certificate: tlsCert, key: tlsKey) }
        return .localAuthority(dataDirectory: directory)
    }

    private func limits() throws -> JSONValue {
        guard rateLimits.hasPrefix("{") else {
            guard ["documented", "off"].contains(rateLimits) else { throw ValidationError("unknown limits") }
            return .string(rateLimits)
        }
        return try WireJSON.decode(JSONValue.self, from: Data(rateLimits.utf8))
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The address in `--host`.
enum Address {
    /// Whether `host` is a loopback address, which only this machine can reach.
    static func isThisMachine(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}

/// The token of the control API.
enum ControlToken {
    /// A new token from the system's random generator. It is a secret, so it must not follow from a random seed.
    static func makeRandom() -> String {
        var generator = SystemRandomNumberGenerator()
        return "ctl-"
            + (0..<4).map { _ in
                let digits = String(generator.next() as UInt64, radix: 36)
                return String(repeating: "0", count: 13 - digits.count) + digits
            }.joined()
    }
}

/// The values of `--webhook-targets`.
enum WebhookTargets: String, ExpressibleByArgument, CaseIterable {
    case local, any
}

/// The values of `--log-format`.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

/// The program that started this one and holds the other end of standard input.
enum Parent {
    /// Calls `stop` on a thread of its own when standard input closes.
    static func whenGone(_ stop: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            stop()
        }
    }
}

/// The values of `--durability`.
enum ServeDurability: String, ExpressibleByArgument, CaseIterable {
    case process
    case powerLoss = "power-loss"

    var storage: ServerDurability {
        switch self {
        case .process: .process
        case .powerLoss: .powerLoss
        }
    }
}

/// Turns an error of the start into a message that says what to do.
enum Stop {
    static func because(_ error: any Error) -> Refusal {
        if let error = error as? PortInUse {
            return Refusal(
                .no, "port \(error.port) is in use",
                next:
                    "stop the program that listens there, or pick another port with \(error.option) (0: any free one)")
        }
        let text = "\(error)"
        if text.contains("UnknownHost") {
            return Refusal(
                .usage, "--host is not an address of this machine",
                next: "127.0.0.1 serves only this machine, 0.0.0.0 every machine that can reach it")
        }
        return Refusal(StartProblem.isWrongInput(error) ? .usage : .no, text)
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

    func show() {
        Terminal(isJSON: false).lines(text)
    }

    /// Prints one line of JSON, for programs.
    func showJSON() {
        let line = JSONValue.object([
            "url": .string(location.url), "tls_url": location.tlsURL.map { .string($0) } ?? .null,
            "tls_authority": authority.map { .string($0) } ?? .null, "pid": .number(JSONNumber(Int(getpid()))),
            "tokens": .object(JSONObject(tokens.map { ($0.key, .array($0.value.map { .string($0) })) })),
            "control_token": controlToken.map { .string($0) } ?? .null,
        ])
        guard let data = try? WireJSON.encode(line) else { return }
        Terminal(isJSON: true).json(data)
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

    /// Two calls of a back end.
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
