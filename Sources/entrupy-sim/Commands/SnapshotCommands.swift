import ArgumentParser
import SimulationAPI

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Save, restore, fork, export and import a namespace's whole state.",
        subcommands: [
            Save.command, Restore.command, Fork.command, List.command, Delete.command, Export.command, Import.command,
        ])

    struct Snapshot: ParsableArguments {
        @Argument(help: "The snapshot.") var name: String
    }

    struct Save: Endpoint {
        static let abstract = "Save the namespace's state; replaces a snapshot of the same name."
        @Argument(help: "The name: a letter or digit, then letters, digits, -, _ and .") var name: String

        func call() -> ControlCall {
            ControlCall(.PUT, "/_sim/snapshots/\(name)", takesLong: true).printing { (info: SnapshotInfo, terminal) in
                terminal.line("\(info.name) saved: \(info.summary)")
            }
        }

        /// Sends the request, and shows how much of the database is copied while that takes long.
        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await answer(call(), client, terminal, "saving", in: .bytes) { info, progress in
                if let saving = info.saving { progress.note(saving.bytes, of: saving.total_bytes) }
            }
            if answer.status == 200 { terminal.note("note: it replaced a snapshot of this name") }
        }
    }

    struct Restore: Endpoint {
        static let abstract = "Return the namespace to a snapshot, in place."
        @OptionGroup var snapshot: Snapshot

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/snapshots/\(snapshot.name)/restore", takesLong: true).showing("restoring")
                .printing { (info: NamespaceInfo, terminal) in
                    let items = Readable.count(info.counts.authentications, "item")
                    terminal.line("\(info.name) restored to \(snapshot.name): \(items), at \(info.clock.now)")
                }
        }
    }

    struct Fork: Endpoint {
        static let abstract = "Make a new namespace from a snapshot and print its URL."
        static let discussion = "The new namespace has the same sessions and keys, so the parent's tokens work in it."
        @OptionGroup var snapshot: Snapshot
        @Argument(help: "The new namespace: 1 to 63 of a-z, 0-9 and -.") var newNamespace: String
        @Option(help: "Delete the new namespace after this time without a request, for instance 30m. (default: never)")
        var ttl: DurationArgument?

        func call() -> ControlCall {
            ControlCall(
                .POST, "/_sim/snapshots/\(snapshot.name)/fork", body: ["namespace": newNamespace, "ttl": ttl],
                takesLong: true
            ).showing("forking").printing { (info: NamespaceInfo, terminal) in terminal.line(info.url) }
        }
    }

    struct List: Endpoint {
        static let abstract = "List a namespace's snapshots."
        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/snapshots").listing(
                \SnapshotList.snapshots, next: { $0.damaged?.first?.name },
                more: "some cannot be read, and --json says why", empty: "no snapshots",
                ["NAME", "ITEMS", "IMAGES", "SIZE", "CLOCK", "SAVED"]
            ) {
                [
                    $0.name, "\($0.counts.authentications)", "\($0.images)", $0.size, Readable.clock($0.clock),
                    Readable.time($0.created_at),
                ]
            }
        }
    }

    struct Delete: Endpoint {
        static let abstract = "Delete a snapshot."
        @OptionGroup var snapshot: Snapshot

        func call() -> ControlCall {
            ControlCall(.DELETE, "/_sim/snapshots/\(snapshot.name)", takesLong: true).saying("deleted \(snapshot.name)")
        }
    }

    struct Export: ControlAction {
        static let abstract = "Write a snapshot with its images to a file."
        @OptionGroup var snapshot: Snapshot
        @Option(name: [.short, .long], help: "The file, or - for standard output. (default: NAME.snapshot.tar)")
        var output: String?
        @OptionGroup var download: DownloadOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let file = output ?? "\(snapshot.name).snapshot.tar"
            try await client.saveArchive("/_sim/snapshots/\(snapshot.name)", to: file, download, terminal)
        }
    }

    struct Import: Endpoint {
        static let abstract = "Save an exported file as a snapshot, for \"restore\" and \"fork\"."
        @Argument(help: "The name for the snapshot.") var name: String
        @Argument(help: "The file.") var file: String

        func call() -> ControlCall {
            ControlCall(.PUT, "/_sim/snapshots/\(name)", body: .file(file), takesLong: true).showing("importing")
                .printing { (info: SnapshotInfo, terminal) in terminal.line("\(info.name) imported: \(info.summary)") }
        }
    }
}

extension SnapshotInfo {
    fileprivate var size: String {
        // A server may answer any numbers.
        let (sum, isTooLarge) = database_bytes.addingReportingOverflow(image_bytes)
        return SizeText.text(isTooLarge ? .max : sum)
    }

    fileprivate var summary: String { "\(Readable.count(counts.authentications, "item")), \(size), at \(clock.now)" }
}

struct WriteBundle: ControlAction {
    static let name = "bundle"
    static let abstract = "Write a namespace's whole state to one file, for a post-mortem."
    static let discussion = """
        The file holds database, images, journal, events, settings and seed. Keep it as a CI artefact; "entrupy-sim serve \
        --bundle FILE" opens it on any machine. Secrets are masked in the journal, but the database holds tokens and keys, so \
        treat the file as a secret. Only its owner can read it.
        """
    @Option(name: [.short, .long], help: "The file, or - for standard output. (default: NAMESPACE.bundle.tar)")
    var output: String?
    @OptionGroup var download: DownloadOptions

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let file = output ?? "\(client.options.named).bundle.tar"
        try await client.saveArchive("/_sim/bundle", to: file, download, terminal)
    }
}
