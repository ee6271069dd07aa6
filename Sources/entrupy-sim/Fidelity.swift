import ArgumentParser
import Foundation

/// `entrupy-sim fidelity`: prints the decisions that the vendor's documents leave open.
struct Fidelity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fidelity",
        abstract: "Print docs/fidelity.md: every decision that is ours and not the vendor's.")

    func run() {
        Terminal(isJSON: false).document(Data(PackageResources.fidelity_md))
    }
}
