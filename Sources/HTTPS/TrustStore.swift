import Foundation

/// The store of the authorities that this machine's programs trust.
package struct TrustStore: Sendable {
    /// A folder of authorities, and the program that makes the store from it.
    struct Layout: Sendable {
        let folder: String
        let update: [String]
        /// The program after something was taken out; `nil` for the same.
        var cleanup: [String]?
    }

    /// The layouts of Linux distributions: Debian and Ubuntu, Fedora, Arch, openSUSE.
    private static let layouts = [
        Layout(
            folder: "/usr/local/share/ca-certificates", update: ["update-ca-certificates"],
            // Without the option, links to what was taken out stay.
            cleanup: ["update-ca-certificates", "--fresh"]),
        Layout(folder: "/etc/pki/ca-trust/source/anchors", update: ["update-ca-trust", "extract"]),
        Layout(folder: "/etc/ca-certificates/trust-source/anchors", update: ["update-ca-trust", "extract"]),
        Layout(folder: "/etc/pki/trust/anchors", update: ["update-ca-certificates"]),
    ]

    /// The beginning of the names of all files that this program puts into a store.
    private static let prefix = "entrupy-sim-"

    /// The folder that stands for `/`.
    private let root: String
    private let layout: Layout
    /// Runs a program and returns its output; `nil` as status if there is no such program.
    private let run: @Sendable ([String]) -> (status: Int32?, output: String)

    /// The store of this machine.
    ///
    /// - Throws: ``AuthorityProblem`` if none is known.
    package static func ofThisMachine() throws -> TrustStore {
        try TrustStore(root: "") { Command.run($0) }
    }

    init(root: String, run: @escaping @Sendable ([String]) -> (status: Int32?, output: String)) throws {
        self.root = root
        self.run = run
        let found = Self.layouts.first { FileManager.default.fileExists(atPath: root + $0.folder) }
        guard let found else {
            throw AuthorityProblem(
                "no trust store is known here; on Debian and Ubuntu install ca-certificates, elsewhere give the certificate to your clients themselves"
            )
        }
        layout = found
    }

    private var folder: String { root + layout.folder }

    /// The paths of all authorities of entrupy-sim in the store.
    package var installed: [String] {
        // Without the folder nothing is installed.
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.begins(with: Self.prefix) }.sorted().map { "\(folder)/\($0)" }
    }

    private func path(_ authority: LocalAuthority) throws -> String {
        "\(folder)/\(Self.prefix)\(try authority.fingerprint.prefix(16)).crt"
    }

    /// Adds an authority. If that fails, nothing remains of it.
    ///
    /// - Returns: the path of the file in the store.
    /// - Throws: ``AuthorityProblem``.
    package func add(_ authority: LocalAuthority) throws -> String {
        let path = try path(authority)
        try checkRights()
        do {
            try Data(authority.pem.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        } catch {
            // The first failure is told; a second one would hide it.
            try? FileManager.default.removeItem(atPath: path)
            throw AuthorityProblem("\(path) cannot be written: \(error.localizedDescription)")
        }
        do {
            try update()
        } catch {
            // The first failure is told; a second one would hide it.
            try? FileManager.default.removeItem(atPath: path)
            // So is a failure of the store's own cleanup.
            try? update(layout.cleanup)
            throw error
        }
        return path
    }

    /// Takes files out of the store.
    ///
    /// - Throws: ``AuthorityProblem``.
    package func remove(_ paths: [String]) throws {
        try checkRights()
        for path in paths {
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                throw AuthorityProblem("\(path) cannot be removed: \(error.localizedDescription)")
            }
        }
        try update(layout.cleanup)
    }

    /// The path of an authority's file; `nil` if the store does not have it.
    package func place(of authority: LocalAuthority) throws -> String? {
        let path = try path(authority)
        return installed.contains(path) ? path : nil
    }

    /// Checks that this process may change the store.
    ///
    /// - Throws: ``AuthorityProblem``.
    package func checkRights() throws {
        guard access(folder, W_OK) == 0 else {
            throw AuthorityProblem("changing \(folder) needs the rights of root: sudo \"$(command -v entrupy-sim)\" …")
        }
    }

    private func update(_ other: [String]? = nil) throws {
        let command = other ?? layout.update
        let (status, output) = run(command)
        guard let status else {
            throw AuthorityProblem("there is no \(command[0]); install the package ca-certificates")
        }
        guard status == 0 else {
            throw AuthorityProblem("\(command.joined(separator: " ")) failed: \(output.prefix(500))")
        }
    }
}

/// Runs other programs.
package enum Command {
    /// Runs a program from the `PATH` to its end.
    ///
    /// - Returns: its exit status, `nil` if there is no such program; and what it printed.
    package static func run(_ words: [String]) -> (status: Int32?, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        // Administrators' programs are not on everyone's path.
        var environment = ProcessInfo.processInfo.environment
        environment["PATH", default: "/usr/bin:/bin"] += ":/usr/local/sbin:/usr/sbin:/sbin"
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return (nil, "\(error)")
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // 127 is env's answer for a program that does not exist.
        return (process.terminationStatus == 127 ? nil : process.terminationStatus, text)
    }
}
