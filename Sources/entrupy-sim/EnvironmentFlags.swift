/// Flags of `serve` that come from the environment: `ENTRUPY_SIM_PORT=9000` is `--port 9000`.
enum EnvironmentFlags {
    private static let prefix = "ENTRUPY_SIM_"
    /// Variables that clients of the server read, and programs that start it.
    private static let everybodys = ["BINARY", "URL", "NAMESPACE", "CONTROL_TOKEN"].map { prefix + $0 }
    /// Names that take a value, and those that are on or off.
    private static let options = [
        "host", "port", "data-dir", "seed", "random-seed", "rate-limits", "public-url", "allowed-hosts", "log-level",
        "log-format", "durability", "max-connections", "idle-timeout",
        "webhook-targets", "control-token", "record", "bundle",
    ]
    private static let flags = [
        "in-memory", "control-open", "auto-create-namespaces", "ready-json", "exit-with-parent",
    ]

    /// What is wrong with a variable that is nearly one of ours. One that is far from all is somebody else's; an empty one counts as
    /// absent.
    static func problem(_ environment: [String: String]) -> Refusal? {
        let known = everybodys + (options + flags).map { variable($0) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(prefix) && !value.isEmpty && !known.contains(name) {
            guard let near = Spelling.nearest(to: name, among: known) else { continue }
            return Refusal(
                .usage, "the environment variable \(name) is not one of entrupy-sim", next: "did you mean \(near)?")
        }
        return nil
    }

    /// The arguments with what the environment adds to them, where they name `serve`.
    static func merged(_ arguments: [String], environment: [String: String]) -> [String] {
        guard arguments.first == "serve", !EntrupySim.asksForHelp(arguments) else { return arguments }
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
        prefix + name.uppercased().replacing("-", with: "_")
    }
}
