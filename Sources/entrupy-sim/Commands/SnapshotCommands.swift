import ArgumentParser
import Foundation
import SimulationAPI

/// `entrupy-sim snapshot`.
struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Save, restore, fork, export and import a namespace's whole state.",
        subcommands: [Save.self, Restore.self, Fork.self, List.self, Delete.self, Export.self, Import.self])

    private static func path(_ name: String) -> String { "/_sim/snapshots/\(ControlClient.escaped(name))" }

    private static func show(_ answer: ControlClient.Answer, _ terminal: Terminal, _ verb: String) throws {
        try terminal.show(answer) {
            let info = try answer.decoded(SnapshotInfo.self)
            let size = Readable.bytes(info.database_bytes + info.image_bytes)
            terminal.line(
                "\(info.name) \(verb): \(Readable.count(info.counts.authentications, "item")), \(size), at \(info.clock.now)"
            )
        }
    }

    struct Save: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "save", abstract: "Save the namespace's state; replaces a snapshot of the same name.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The name: a letter or digit, then letters, digits, -, _ and .")
        var name: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try SnapshotCommand.show(try await client.send("PUT", path(name), takesLong: true), terminal, "saved")
        }
    }

    struct Restore: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Return the namespace to a snapshot, in place.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The snapshot.")
        var name: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("POST", path(name) + "/restore", takesLong: true)
            try terminal.show(answer) {
                let info = try answer.decoded(NamespaceInfo.self)
                terminal.line(
                    "\(info.name) restored to \(name): \(Readable.count(info.counts.authentications, "item")), at \(info.clock.now)"
                )
            }
        }
    }

    struct Fork: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "fork", abstract: "Make a new namespace from a snapshot and print its URL.",
            discussion: "The new namespace has the same sessions and keys, so the parent's tokens work in it.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The snapshot.")
        var name: String

        @Argument(help: "The new namespace: 1 to 63 of a-z, 0-9 and -.")
        var newNamespace: String

        @Option(help: "Delete the new namespace after this time without a request, for instance 30m.")
        var ttl: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = ["namespace": .string(newNamespace)]
            body["ttl"] = ttl.map { .string($0) }
            let answer = try await client.send("POST", path(name) + "/fork", .object(body), takesLong: true)
            try terminal.show(answer) { terminal.line(try answer.decoded(NamespaceInfo.self).url) }
        }
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List a namespace's snapshots.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/snapshots")
            try terminal.show(answer) {
                let rows = try answer.decoded(SnapshotList.self).snapshots.map { info in
                    [
                        info.name, "\(info.counts.authentications)", "\(info.images)",
                        Readable.bytes(info.database_bytes + info.image_bytes),
                        "\(info.clock.now.prefix(19))Z \(info.clock.mode)", Readable.time(info.created_at),
                    ]
                }
                terminal.table(["NAME", "ITEMS", "IMAGES", "SIZE", "CLOCK", "SAVED"], rows, empty: "no snapshots")
            }
        }
    }

    struct Delete: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete a snapshot.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The snapshot.")
        var name: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("DELETE", path(name), takesLong: true)
            terminal.show(answer) { terminal.line("deleted \(name)") }
        }
    }

    struct Export: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Write a snapshot with its images to a file.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The snapshot.")
        var name: String

        @Option(name: [.short, .long], help: "The file, or - for standard output; NAME.snapshot.tar if absent.")
        var output: String?

        @OptionGroup var download: DownloadOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let file = output ?? "\(name).snapshot.tar"
            try await Download.archive(client, path(name), to: file, download, terminal)
        }
    }

    struct Import: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Save an exported file as a snapshot, for \"restore\" and \"fork\".")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The name for the snapshot.")
        var name: String

        @Argument(help: "The file.")
        var file: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.upload("PUT", path(name), file: file, type: "application/octet-stream")
            try SnapshotCommand.show(answer, terminal, "imported")
        }
    }
}

/// `entrupy-sim bundle`.
struct BundleCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle", abstract: "Write a namespace's whole state to one file, for a post-mortem.",
        discussion: """
            The file holds database, images, journal, events, settings and seed. Keep it as a CI artefact; "entrupy-sim serve \
            --bundle FILE" opens it on any machine. Secrets are masked in the journal, but the database holds tokens and keys, so \
            treat the file as a secret. Only its owner can read it.
            """)

    @OptionGroup var control: ControlOptions

    @Option(name: [.short, .long], help: "The file, or - for standard output; NAMESPACE.bundle.tar if absent.")
    var output: String?

    @OptionGroup var download: DownloadOptions

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let file = output ?? "\(control.named).bundle.tar"
        try await Download.archive(client, "/_sim/bundle", to: file, download, terminal)
    }
}
