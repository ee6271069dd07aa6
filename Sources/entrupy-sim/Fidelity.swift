import ArgumentParser

/// `entrupy-sim fidelity`: prints the decisions that the vendor's documents leave open.
struct Fidelity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fidelity",
        abstract: "Print docs/fidelity.md: every decision that is ours and not the vendor's.")

    func run() {
        print(String(decoding: PackageResources.fidelity_md, as: UTF8.self), terminator: "")
    }
}
