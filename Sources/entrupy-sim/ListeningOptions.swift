import ArgumentParser
import Foundation
import Logging
import Server
import SimulationAPI

/// The options of a server that listens: where, for whom, and how it logs. For `serve`, and for `replay --serve`.
struct ListeningOptions: ParsableArguments {
    @Option(help: "The address to listen on. (default: both loopback addresses, 127.0.0.1 and ::1)") var host: String?
    @Option(help: "The port to listen on; 0 picks a free one.") var port = 8642
    @Option(
        help:
            "A port for HTTPS and HTTP/2 beside the plain one, usually 8643; 0 picks a free one. Clients must trust its authority: see \"entrupy-sim trust\". (default: no HTTPS)"
    )
    var tlsPort: Int?
    @Option(
        help:
            "A certificate in PEM for --tls-port, with those that lead to its authority. (default: one of the local authority)"
    ) var tlsCert: String?
    @Option(help: "The key of --tls-cert, in PEM.") var tlsKey: String?
    @Option(
        help:
            "The start of absolute URLs. (default: the address that was asked; in webhooks http://127.0.0.1:PORT)"
    )
    var publicUrl: String?
    @Option(
        help:
            "More host names that the server answers to, separated by commas; .example.com is that name and all below it. (default: none)"
    )
    var allowedHosts = ""
    @Option(
        help:
            "Origins whose web pages may use the platforms' routes, separated by commas, for instance http://localhost:3000; \"*\" for all. The control API stays closed to them. (default: none)"
    )
    var cors = ""
    @Option(
        help:
            "The token that control requests must send as X-Sim-Control-Token. (default: none on a loopback --host, else a random one, which is printed)"
    )
    var controlToken: String?
    @Flag(help: "Allow control requests without a token.") var controlOpen = false
    @Option(help: "\"local\": webhooks go only to loopback and private addresses; \"any\": to any address.")
    var webhookTargets = WebhookTargets.local
    @Option(
        help:
            "A file of certificates in PEM that receivers of webhooks may have or come from, beside the system's and those of SSL_CERT_FILE. (default: none)"
    )
    var webhookCa: String?
    @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = Logger.Level.notice
    @Option(help: "\"text\" or \"json\". The log is on standard error, with a line for each request at the level info.")
    var logFormat = LogFormat.text
    @Option(help: "The maximum number of open connections, if the limit of open files allows it; further ones wait.")
    var maxConnections = 10_000
    @Option(
        help:
            "The time without a byte after which a connection is closed, for instance 5m or a number of seconds; below 31s, an incomplete body gets no answer."
    )
    var idleTimeout = DurationArgument(argument: defaultIdleTimeout)
    private static let defaultIdleTimeout = "5m"
    @Flag(help: "When ready, print one line of JSON instead of the welcome: url, pid, API tokens, control token.")
    var readyJson = false
    @Flag(help: "Stop when standard input closes, so that no server outlives the program that started it.")
    var exitWithParent = false

    func validate() throws {
        try validateAddresses()
        try require(!(controlOpen && controlToken != nil), "--control-open and --control-token exclude each other")
        if let token = controlToken?.utf8 {
            try require(
                (1...500).contains(token.count) && token.allSatisfy { $0 > 0x20 && $0 < 0x7f },
                "--control-token must be 1 to 500 printable ASCII characters without spaces")
        }
        if let publicUrl, !isWebURL(publicUrl) {
            throw ValidationError("--public-url must be an http or https URL, got \(publicUrl)")
        }
    }

    private func validateAddresses() throws {
        try require((0...65535).contains(port), "--port must be 0 to 65535, got \(port)")
        if let tlsPort {
            try require((0...65535).contains(tlsPort), "--tls-port must be 0 to 65535, got \(tlsPort)")
            try require(tlsPort == 0 || tlsPort != port, "--port and --tls-port must differ, got \(port) for both")
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
        try require((tlsCert == nil) == (tlsKey == nil), "--tls-cert and --tls-key belong together")
        try require(tlsCert == nil || tlsPort != nil, "--tls-cert needs --tls-port, for instance --tls-port 8643")
        try require(
            (1...1_000_000).contains(maxConnections), "--max-connections must be 1 to 1000000, got \(maxConnections)")
        try idleTimeout.check("--idle-timeout", from: "1s", to: "1d")
    }
}

extension ListeningOptions {
    /// The first option that was changed; `nil` if all have their defaults.
    var changed: String? {
        let options: [(String, Bool)] = [
            ("--host", host != nil), ("--port", port != 8642), ("--tls-port", tlsPort != nil),
            ("--tls-cert", tlsCert != nil), ("--public-url", publicUrl != nil),
            ("--allowed-hosts", !allowedHosts.isEmpty), ("--cors", !cors.isEmpty),
            ("--control-token", controlToken != nil), ("--control-open", controlOpen),
            ("--webhook-targets", webhookTargets != .local), ("--webhook-ca", webhookCa != nil),
            ("--log-level", logLevel != .notice),
            ("--log-format", logFormat != .text), ("--max-connections", maxConnections != 10_000),
            ("--idle-timeout", idleTimeout.description != Self.defaultIdleTimeout), ("--ready-json", readyJson),
            ("--exit-with-parent", exitWithParent),
        ]
        return options.first { $0.1 }?.0
    }

    /// - Returns: the server's logger.
    func prepare() -> Logger {
        var logger = Logger(label: "entrupy-sim") { MaskedLogHandler(TextLogHandler(label: $0, format: logFormat)) }
        logger.logLevel = logLevel
        if let notice = EnvironmentFlags.notice(ProcessInfo.processInfo.environment) { logger.warning("\(notice)") }
        // A file at the system's size limit must be an error like a full disk; the signal would end the process.
        signal(SIGXFSZ, SIG_IGN)
        return logger
    }

    /// The token that control requests must send: the given one, or a random one where other machines can reach the server. `nil`
    /// if they need none.
    var effectiveControlToken: String? {
        controlOpen ? nil : controlToken ?? (isThisMachine ? nil : Self.randomToken())
    }

    /// With `--exit-with-parent`: stops the server when standard input closes, whose other end the program that started it holds.
    func watchParent() {
        guard exitWithParent else { return }
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }

    /// Whether `--host` is a loopback address, which only this machine can reach.
    private var isThisMachine: Bool {
        guard let host, host != "localhost" else { return true }
        return host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// A new token from the system's random generator. It is a secret, so it must not follow from a random seed.
    private static func randomToken() -> String {
        "ctl-" + (0..<52).map { _ in String(Int.random(in: 0..<36), radix: 36) }.joined()
    }

    /// - Parameter dataDirectory: the directory of the local authority; `nil` for one that ends with the server.
    /// - Throws: ``Refusal`` if there can be no HTTPS port.
    func apply(
        to configuration: inout ServerConfiguration, controlToken: String?, dataDirectory: String?, logger: Logger
    ) throws {
        configuration.namespaces.allowsAnyTarget = webhookTargets == .any
        if let webhookCa { try Encryption.trust(webhookCa, option: "--webhook-ca") }
        configuration.host = host == "localhost" ? nil : host
        configuration.controlToken = controlToken
        configuration.port = port
        let files = tlsCert.flatMap { certificate in tlsKey.map { (certificate, $0) } }
        configuration.tls = try tlsPort.map {
            ($0, try Encryption.port(files: files, dataDirectory: dataDirectory, logger: logger))
        }
        configuration.connections.connections = min(maxConnections, OpenFiles.raiseLimit())
        configuration.connections.idle = idleTimeout.duration
        configuration.allowedHosts = allowedHostNames
        configuration.corsOrigins = corsOrigins
        configuration.publicURL = publicUrl.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }

    private var corsOrigins: [String] { Self.list(cors) }
    private var allowedHostNames: [String] { Self.list(allowedHosts) }

    /// The parts between commas, in lower case.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
