import Foundation
import SimulationAPI

/// The simulator that the tools work on: a given one, or one of this program's own, in memory, which the first tool starts.
actor AgentSimulator {
    private let url: String?
    private let controlToken: String?
    private var own: Task<OwnServer, any Error>?
    /// Whether an own server has ended, and the namespaces with it.
    private var hasLostCases = false

    /// - Parameter url: the URL of a server; `nil` for one of this program's own.
    init(url: String?, controlToken: String?) {
        self.url = url
        self.controlToken = controlToken
    }

    /// A client of a namespace.
    ///
    /// - Throws: ``Refusal`` if the own server does not start. Where it has ended, another is started.
    func client(_ namespace: String) async throws -> ControlClient {
        var words = ["--url", try await base(), "--namespace", namespace]
        if let controlToken { words += ["--control-token", controlToken] }
        return ControlClient(options: try ControlOptions.parse(words))
    }

    private func base() async throws -> String {
        if let url { return url }
        let starting = own ?? Task { try await OwnServer.start(recording: nil) }
        own = starting
        let server: OwnServer
        do {
            server = try await starting.value
        } catch {
            own = nil
            throw error
        }
        guard server.hasEnded else { return server.url }
        hasLostCases = true
        own = nil
        return try await base()
    }

    func stop() async {
        guard let own else { return }
        self.own = nil
        // A server that did not start needs no stop.
        await (try? own.value)?.stop()
    }

    /// The failure for a refusal of the simulator.
    ///
    /// - Parameter wayOut: what to do if the refusal is none of those that have a way out of their own.
    func failure(_ refusal: Refusal, wayOut: String) async -> ToolFailure {
        let problem = refusal.fullText
        if refusal.code == .noServer {
            await forgetOwnServerIfEnded()
            let next =
                url == nil
                ? "call start_case, which starts another simulator"
                : "start it: entrupy-sim serve; or name another with --url"
            return ToolFailure(problem, next)
        }
        guard refusal.isOfNoNamespace else { return ToolFailure(problem, Self.guess(refusal) + wayOut) }
        let names = await namespaces()
        let lost = hasLostCases ? "; the simulator has ended since it was started, and all cases with it" : ""
        return ToolFailure(
            refusal.message + lost,
            "start_case makes a namespace"
                + (names.isEmpty
                    ? "" : "; there are \(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")"))
    }

    /// Forgets the own server if it has ended, so that the next call starts another. The end of a killed one is noticed a moment after its
    /// connections are refused. One that lives keeps its cases, however busy it is.
    private func forgetOwnServerIfEnded() async {
        // One that did not start has nothing to forget.
        guard let starting = own, let server = try? await starting.value else { return }
        for _ in 0..<Self.looks where !server.hasEnded {
            // Throws only where the call is cancelled, which then has no use for the answer.
            try? await Task.sleep(for: .milliseconds(20))
        }
        guard server.hasEnded, own == starting else { return }
        hasLostCases = true
        own = nil
    }

    /// The number of looks at whether a server has ended, 20 ms apart.
    private static let looks = 25

    /// The guess of the refusal, and a space; empty if it has none. The rest of its advice is for people at the command line.
    static func guess(_ refusal: Refusal) -> String {
        guard let next = refusal.next, next.hasPrefix("did you mean "), let end = next.firstIndex(of: "?") else {
            return ""
        }
        return "\(next[...end]) "
    }

    private func namespaces() async -> [String] {
        // The names are a help: without them the failure still says what is wrong.
        let list: NamespaceList? = try? await client("default").get("/_sim/namespaces")
        return list?.namespaces.map(\.name) ?? []
    }
}
