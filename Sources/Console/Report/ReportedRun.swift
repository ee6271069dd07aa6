import SimulationAPI

/// The command whose failure a report is about, as `entrupy-sim run` knows it.
package struct ReportedRun: Encodable, Sendable {
    /// The command and its arguments.
    let command: String
    /// The end of the command, for instance `exited with 3`.
    let ending: String
    /// Sentences about requests that did not come to the namespace; empty if some came.
    let missing: [String]

    package init(command: String, ending: String, missing: [String]) {
        self.command = command
        self.ending = ending
        self.missing = missing
    }
}
