import SimulationAPI

/// The page that says why another page cannot be shown, and what to do.
enum ProblemPage {
    static func part(_ error: any Error, _ request: ConsoleRequest) -> PagePart {
        var view: View = ["hasCommand": false, "hasDetails": false]
        var status = 500
        var title = "This page cannot be shown"
        switch error {
        case ConsoleProblem.noSuchPage:
            status = 404
            title = "There is no such page"
            view["message"] = "The console has no page at this address. The sections on the left lead to all of them."
        case ConsoleProblem.refused(let code, let envelope):
            status = code
            view["message"] = envelope?.error ?? "the control API answered \(code)"
            let details = (envelope?.details ?? []).map { ["field": $0.field, "problem": $0.problem] as View }
            view["details"] = details
            view["hasDetails"] = details.count > 1
            if envelope?.code == "unknown_namespace" {
                title = "The namespace \(request.namespace) does not exist"
                view["command"] =
                    "entrupy-sim namespace make\(Frame.serverOption(request)) \(Shell.operand(request.namespace))"
                view["hasCommand"] = true
            } else if code == 404, request.section == "requests" {
                title = "The journal has no such request"
                view["message"] =
                    "It may have forgotten the request: the journal keeps the newest ones, within the limits of the settings, and not across a restart. To keep more, change journal.entries and journal.bytes in Settings."
            } else if code == 404 {
                title = "Not found"
            }
        default: view["message"] = "\(error)"
        }
        view["problemTitle"] = title
        return PagePart(
            status: status, section: request.section, title: title, template: "problem", view: view)
    }
}
