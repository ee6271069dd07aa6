/// Flags of `serve` that come from the environment: `ENTRUPY_SIM_PORT=9000` is `--port 9000`.
enum EnvironmentFlags {
    /// Names that take a value, and those that are on or off.
    private static let options = [
        "host", "port", "data-dir", "seed", "random-seed", "rate-limits", "public-url", "allowed-hosts", "log-level",
        "log-format", "durability", "max-connections", "idle-timeout",
        "webhook-targets", "control-token", "record", "bundle",
    ]
    private static let flags = [
        "in-memory", "control-open", "auto-create-namespaces", "ready-json", "exit-with-parent",
    ]

    /// The arguments with what the environment adds to them, where they name `serve` or no command at all.
    static func merged(_ arguments: [String], environment: [String: String]) -> [String] {
        guard arguments.first == "serve" || arguments.first?.hasPrefix("-") ?? true,
            !arguments.contains(where: {
                ["-h", "--help", "--version", "--generate-completion-script", "--experimental-dump-help"].contains($0)
            })
        else { return arguments }
        let isGiven = { (name: String) in arguments.contains { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") } }
        var added: [String] = []
        for name in options where !isGiven(name) {
            // Where the data goes is one question with two answers.
            if name == "data-dir", isGiven("in-memory") { continue }
            if name == "control-token", isGiven("control-open") { continue }
            if name == "record", isGiven("bundle") { continue }
            if name == "bundle", isGiven("record") { continue }
            if let value = environment[variable(name)], !value.isEmpty { added.append("--\(name)=\(value)") }
        }
        for name in flags where !isGiven(name) {
            if name == "in-memory", isGiven("data-dir") { continue }
            if name == "control-open", isGiven("control-token") { continue }
            switch environment[variable(name)]?.lowercased() {
            case nil, "", "0", "false", "no": break
            case "1", "true", "yes": added.append("--\(name)")
            // Refused where flags are read, by its name.
            case .some(let value): added.append("--\(name)=\(value)")
            }
        }
        return arguments + added
    }

    private static func variable(_ name: String) -> String {
        "ENTRUPY_SIM_" + name.uppercased().replacing("-", with: "_")
    }
}
