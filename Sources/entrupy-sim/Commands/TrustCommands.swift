import ArgumentParser
import Console
import Foundation

#if HTTPS
    import HTTPS
#endif

struct AuthorityOptions: ParsableArguments {
    @Option(help: "The data directory of the server.") var dataDir = "entrupy-sim-data"
}

struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Put the local authority of --tls-port into the system's trust store.",
        discussion: """
            The authority is made if the data directory has none. It signs only for local names and private addresses. On macOS it goes
            into the login keychain, and into the iOS simulators that are running.
            """)

    @OptionGroup var options: AuthorityOptions

    func run() throws {
        #if HTTPS
            try Encryption.refusing { try trust() }
        #else
            throw Encryption.missing("trust")
        #endif
    }
}

struct UntrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrust", abstract: "Remove the local authority from the system's trust store.")

    @OptionGroup var options: AuthorityOptions
    @Flag(help: "Remove the authorities of all data directories, also of those that no longer exist.") var all = false

    func run() throws {
        #if HTTPS
            try Encryption.refusing { try untrust() }
        #else
            throw Encryption.missing("untrust")
        #endif
    }
}

#if HTTPS
    extension TrustCommand {
        fileprivate func trust() throws {
            #if !os(macOS)
                let store = try TrustStore.ofThisMachine()
                try store.checkRights()
            #endif
            let directory = URL(fileURLWithPath: options.dataDir).path
            let authority = try LocalAuthority.open(in: directory, for: Self.caller)
            if let warning = authority.warning { Terminal(isJSON: false).note("warning: \(warning)") }
            let file = LocalAuthority.certificatePath(in: directory)
            let word = Shell.quoted(file)
            #if os(macOS)
                let place = try Keychain.add(file)
            #else
                let place = try store.add(authority)
            #endif
            Terminal(isJSON: false).lines(
                """
                Trusted: \(place)
                SHA-256: \(try authority.fingerprint)

                Programs with a store of their own need the file too:
                  curl --cacert \(word)
                  export SSL_CERT_FILE=\(word) REQUESTS_CA_BUNDLE=\(word)    # Python
                  export NODE_EXTRA_CA_CERTS=\(word)    # Node
                Android, Java and Firefox: docs/https.md. Undo it with: entrupy-sim untrust
                """)
        }

        /// The user who called sudo, with their group; `nil` without sudo.
        private static var caller: (user: UInt32, group: UInt32)? {
            let environment = ProcessInfo.processInfo.environment
            guard geteuid() == 0, let user = environment["SUDO_UID"].flatMap({ UInt32($0) }),
                let group = environment["SUDO_GID"].flatMap({ UInt32($0) })
            else { return nil }
            return (user, group)
        }
    }

    extension UntrustCommand {
        fileprivate func untrust() throws {
            #if os(macOS)
                let removed = try Keychain.remove(all ? nil : try wanted.fingerprint)
            #else
                let store = try TrustStore.ofThisMachine()
                let removed = all ? store.installed : [try store.place(of: try wanted)].compactMap(\.self)
                if !removed.isEmpty { try store.remove(removed) }
            #endif
            let terminal = Terminal(isJSON: false)
            if removed.isEmpty { terminal.line("Nothing of entrupy-sim was trusted here.") }
            for path in removed { terminal.line("Removed: \(path)") }
        }

        /// The authority to take out, unless all are meant.
        private var wanted: LocalAuthority {
            get throws {
                do {
                    if let authority = try LocalAuthority.existing(in: options.dataDir) { return authority }
                } catch let problem as AuthorityProblem {
                    throw AuthorityProblem("\(problem.description). entrupy-sim untrust --all takes out the old one")
                }
                throw AuthorityProblem(
                    "\(options.dataDir) has no authority; name the data directory with --data-dir, or use --all")
            }
        }
    }
#endif

#if os(macOS) && HTTPS
    /// The login keychain, and the iOS simulators that are running.
    private enum Keychain {
        private static let path = NSHomeDirectory() + "/Library/Keychains/login.keychain-db"
        private static let name = "entrupy-sim local authority"

        static func add(_ file: String) throws -> String {
            let (status, output) = Command.run([
                "security", "add-trusted-cert", "-r", "trustRoot", "-p", "ssl", "-k", path, file,
            ])
            guard status == 0 else { throw AuthorityProblem("security add-trusted-cert failed: \(output)") }
            let (simulator, _) = Command.run(["xcrun", "simctl", "keychain", "booted", "add-root-cert", file])
            return simulator == 0 ? "\(path), and the running iOS simulator" : "\(path); no iOS simulator is running"
        }

        /// - Parameter fingerprint: the SHA-256 of the only one to remove; `nil` for all.
        static func remove(_ fingerprint: String?) throws -> [String] {
            let (_, list) = Command.run(["security", "find-certificate", "-a", "-Z", "-c", name, path])
            let hashes = list.split(separator: "\n").filter { $0.hasPrefix("SHA-256 hash: ") }.map { $0.dropFirst(14) }
            let wanted = hashes.filter { fingerprint == nil || $0.lowercased() == fingerprint }
            for hash in wanted {
                let (status, output) = Command.run(["security", "delete-certificate", "-Z", String(hash), "-t", path])
                guard status == 0 else { throw AuthorityProblem("security delete-certificate failed: \(output)") }
            }
            return wanted.map { "\(path): \($0)" }
        }
    }
#endif
