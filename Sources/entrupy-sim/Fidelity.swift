import ArgumentParser
import Server

/// `entrupy-sim fidelity`: every decision that is ours rather than the vendor's.
struct Fidelity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fidelity",
        abstract: "Print every decision that is ours rather than the vendor's, as docs/fidelity.md has it.")

    func run() {
        print(FidelityReport.markdown, terminator: "")
    }
}
