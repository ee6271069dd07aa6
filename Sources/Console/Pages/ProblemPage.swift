import SimulationAPI

/// The page that says why another page cannot be shown, and what to do.
enum ProblemPage {
    private struct View: Encodable, Sendable {
        var problemTitle: String
        let message: String
        /// The problems, if there are several.
        var details: Rows<ErrorDetail>?
        /// The command that makes the namespace.
        var command: String?
    }

    static func part(_ error: any Error, _ request: ConsoleRequest) -> PagePart {
        let (status, view) = problem(error, request)
        return PagePart(
            status: status, section: request.section, title: view.problemTitle, template: "problem", view: view)
    }

    private static func problem(_ error: any Error, _ request: ConsoleRequest) -> (status: Int, View) {
        let title = "This page cannot be shown"
        switch error {
        case ConsoleProblem.noSuchPage:
            let message = "The console has no page at this address. The sections in the menu lead to all of them."
            return (404, View(problemTitle: "There is no such page", message: message))
        case ConsoleProblem.refused(404, let envelope)
        where envelope?.code != "unknown_namespace" && request.section == "requests":
            let message =
                "It may have forgotten the request: the journal keeps the newest ones, within the limits of the settings, and not across a restart. To keep more, change journal.entries and journal.bytes in Settings."
            return (404, View(problemTitle: "The journal has no such request", message: message))
        case ConsoleProblem.refused(let status, let envelope):
            let details = envelope?.details ?? []
            var view = View(
                problemTitle: status == 404 ? "Not found" : title,
                message: envelope?.error ?? "the control API answered \(status)",
                details: details.count > 1 ? Rows(details) : nil)
            if envelope?.code == "unknown_namespace" {
                view.problemTitle = "The namespace \(request.namespace) does not exist"
                view.command =
                    "entrupy-sim namespace make\(Frame.serverOption(request)) \(Shell.operand(request.namespace))"
            }
            return (status, view)
        default: return (500, View(problemTitle: title, message: "\(error)"))
        }
    }
}
