import SimulationAPI

/// Flags of `serve` that come from the environment: `ENTRUPY_SIM_PORT=8700` is `--port 8700`.
enum EnvironmentFlags {
    private static let prefix = "ENTRUPY_SIM_"
    /// Variables that clients of the server and programs that start it read.
    private static let sharedNames = [
        "BINARY", "URL", "SERVER", "TLS_URL", "TLS_AUTHORITY", "TOKEN", "API_TOKEN", "NAMESPACE", "CONTROL_TOKEN",
        "ARTIFACTS", "SWEEP",
    ].map { prefix + $0 }
    /// Options, which take a value. The flags below are on or off.
    private static let options = [
        "host", "port", "data-dir", "seed", "random-seed", "rate-limits", "public-url", "allowed-hosts", "log-level",
        "log-format", "durability", "max-connections", "idle-timeout",
        "webhook-targets", "webhook-ca", "control-token", "record", "bundle", "coverage-file", "tls-port", "tls-cert",
        "tls-key",
        "cors",
    ]
    /// Those that `replay --serve` does not have: the recording decides.
    private static let ofServeAlone: Set = [
        "data-dir", "seed", "random-seed", "rate-limits", "durability", "record", "bundle", "coverage-file",
        "in-memory", "auto-create-namespaces", "keep-audits",
    ]
    private static let flags = [
        "in-memory", "control-open", "auto-create-namespaces", "keep-audits", "ready-json", "exit-with-parent",
    ]
    /// Those that exclude each other, so one that is given disables the other's variable.
    private static let exclusive = [
        "data-dir": "in-memory", "in-memory": "data-dir", "control-token": "control-open",
        "control-open": "control-token", "record": "bundle", "bundle": "record",
    ]

    /// The error for a variable whose name looks like a misspelt one of ours, `nil` if there is none. A name that resembles none
    /// of ours belongs to another program. An empty variable counts as absent.
    static func problem(_ environment: [String: String]) -> Refusal? {
        let known = sharedNames + (options + flags).map { variable($0) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(prefix) && !value.isEmpty && !known.contains(name) {
            guard let near = NearestName.nearest(to: name, among: known, maxDistance: 2) else { continue }
            return Refusal(
                .usage, "the environment variable \(name) is not one of entrupy-sim", next: "did you mean \(near)?")
        }
        return nil
    }

    /// The arguments, and for `serve` and `replay --serve` also those from the environment.
    static func merged(_ arguments: [String], environment: [String: String]) -> [String] {
        let continues = arguments.first == "replay" && arguments.contains("--serve")
        guard continues || arguments.first == "serve", !EntrupySim.asksForHelp(arguments) else { return arguments }
        func isGiven(_ name: String) -> Bool { arguments.contains { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") } }
        func isOpen(_ name: String) -> Bool {
            !isGiven(name) && !(continues && ofServeAlone.contains(name)) && !(exclusive[name].map(isGiven) ?? false)
        }
        var added: [String] = []
        for name in options where isOpen(name) {
            let value = environment[variable(name)] ?? ""
            if !value.isEmpty, !isPortOfService(name, value) { added.append("--\(name)=\(value)") }
        }
        for name in flags where isOpen(name) {
            switch environment[variable(name)]?.lowercased() {
            case nil, "", "0", "false", "no": break
            case "1", "true", "yes": added.append("--\(name)")
            // A flag takes no value, so the parser rejects this and names the flag.
            case .some(let value): added.append("--\(name)=\(value)")
            }
        }
        return arguments + added
    }

    /// The sentence for the log about a variable that is not taken for a flag; `nil` if there is no such variable.
    static func notice(_ environment: [String: String]) -> String? {
        let name = variable("port")
        guard let value = environment[name], isPortOfService("port", value) else { return nil }
        return "\(name)=\(value) names a service, as Kubernetes does for one of that name; it is not taken for --port"
    }

    /// Whether the value of `ENTRUPY_SIM_PORT` is the address of a service named `entrupy-sim`, as Kubernetes and links of Docker set it.
    private static func isPortOfService(_ option: String, _ value: String) -> Bool {
        option == "port" && ["tcp://", "udp://", "sctp://"].contains { value.hasPrefix($0) }
    }

    private static func variable(_ name: String) -> String {
        prefix + name.uppercased().replacing("-", with: "_")
    }
}
