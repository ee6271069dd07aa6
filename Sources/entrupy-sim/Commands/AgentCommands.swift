import ArgumentParser
import Foundation
import NIOCore
import Server

struct AgentServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Serve tools to coding agents: the Model Context Protocol, by stdio or HTTP.",
        discussion: """
            entrupy-sim mcp
            entrupy-sim mcp --url http://127.0.0.1:8642
            entrupy-sim mcp --http 127.0.0.1:8700

            Without --http, messages come by standard input, a line each, and it ends with them. Without a server that --url or \
            ENTRUPY_SIM_URL names it has one of its own, in memory, which ends with it. docs/agents.md says how to add it to an agent.
            """)

    @Option(help: "The server that the tools work on. (default: ENTRUPY_SIM_URL, or a server of its own in memory)")
    var url: String?
    @Option(help: "The server's control token, if it requires one. (default: ENTRUPY_SIM_CONTROL_TOKEN)")
    var controlToken: String?
    @Option(
        help:
            "Listen here for HTTP, at /mcp, for instance 127.0.0.1:8700; port 0 takes a free one. Other machines need the control token. (default: stdio)"
    )
    var http: String?

    func validate() throws {
        if let url {
            try require(isWebURL(url), "--url must be an http or https URL such as http://127.0.0.1:8642, got \(url)")
        }
        if let http {
            try require(
                Self.address(http) != nil,
                "--http must be HOST:PORT such as 127.0.0.1:8700, got \(VisibleText.line(http))")
        }
    }

    /// The host and port of `HOST:PORT`; a host of IPv6 stands in brackets.
    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let parts = text.wholeMatch(of: #/(\[[0-9a-fA-F:.]+\]|[^:\[\]\/]+):([0-9]{1,5})/#),
            let port = Int(parts.2),
            port <= 65_535
        else { return nil }
        return (parts.1.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port)
    }

    func run() async throws {
        let token = controlToken ?? ControlOptions.environment("ENTRUPY_SIM_CONTROL_TOKEN")
        let simulator = AgentSimulator(url: url ?? ControlOptions.environment("ENTRUPY_SIM_URL"), controlToken: token)
        let server = ContextServer(tools: AgentTool.all, simulator: simulator)
        guard let address = http.flatMap(Self.address) else {
            await StandardStreams(server: server).run()
            return await simulator.stop()
        }
        do {
            try await serve(server, address, token)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    private func serve(_ server: ContextServer, _ address: (host: String, port: Int), _ token: String?) async throws {
        let isLocal = ContextHTTP.isLoopback(address.host.lowercased()) || address.host.hasPrefix("127.")
        guard isLocal || token != nil else {
            throw Refusal(
                .usage, "\(address.host) can be reached from other machines, which could do all that this program can",
                next:
                    "give a token with --control-token, which clients send as Authorization: Bearer; or listen on 127.0.0.1"
            )
        }
        let terminal = Terminal(isJSON: false)
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        let transport = ContextHTTP(
            server: server, host: address.host, port: address.port, token: isLocal ? nil : token)
        do {
            try await transport.run { terminal.line("http://\(host):\($0)/mcp") }
        } catch let error as IOError {
            throw Refusal(
                .no,
                "port \(address.port) of \(address.host) cannot be listened on: \(String(cString: strerror(error.errnoCode)))",
                next: "name another one with --http, or port 0 for a free one")
        }
    }
}

/// `entrupy-sim llms`: prints what `/_sim/llms.txt` answers.
struct AgentGuide: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "llms", abstract: "Print what a coding agent must know of this program: /_sim/llms.txt.")

    func run() { Terminal(isJSON: false).document(AgentText.bytes) }
}
