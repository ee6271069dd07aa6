import ArgumentParser
import Server

/// `entrupy-sim fidelity`: prints every decision of this project that the vendor's documents do not make.
struct Fidelity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fidelity",
        abstract: "Print docs/fidelity.md: every decision that is ours and not the vendor's.")

    func run() {
        print(FidelityReport.markdown, terminator: "")
    }
}
