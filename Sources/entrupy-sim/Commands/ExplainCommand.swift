import ArgumentParser
import SimulationAPI

struct ExplainCommand: Endpoint {
    static let name = "explain"
    static let abstract = "Show why something happened: the chain of its causes, and what followed."
    static let discussion = """
        explain AAAA2222            an item, a capture, a session, a delivery or a request, by its id
        explain sequence:17         a request by its number in the journal
        explain event:40            an entry of the event log; due:7 and control:3 are due work and calls of the control API
        """
    @Argument(
        help: "The id of a request, item, capture, session or delivery, or sequence:N, event:N, due:N, control:N.")
    var id: String

    func call() -> ControlCall {
        ControlCall(.GET, "/_sim/explain/\(id)").printing { (explanation: Explanation, terminal) in
            terminal.table(
                ["TIME", "ID", "WHAT", "FROM"],
                explanation.steps.map { step in
                    [
                        Readable.time(step.at), step.id, step.text,
                        step.causes.isEmpty ? nil : step.causes.joined(separator: ", "),
                    ]
                }, empty: "nothing is known of it any more")
            for alternative in explanation.would_differ {
                terminal.line("would differ: \(alternative.text) (\(alternative.step))")
            }
            if explanation.forgotten {
                terminal.note(
                    "the chain is not whole: the journal has forgotten a request, or no cause was noted")
            }
        }
    }
}
