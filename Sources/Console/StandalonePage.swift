import SimulationAPI

/// A page without the frame: for problems that keep the console from being shown, and for the control token.
package enum StandalonePage {
    /// The page for an error that was found before the console.
    ///
    /// - Parameters:
    ///   - server: the server's URL, which commands name.
    ///   - namespace: the namespace that the request names.
    ///   - action: the path to which the control token is sent.
    ///   - isWrongToken: whether a wrong control token was sent.
    package static func html(
        status: Int, _ envelope: ErrorEnvelope?, server: String, namespace: String, action: String,
        isWrongToken: Bool = false
    ) -> String {
        var view = View(
            title: "The console cannot be shown", message: envelope?.error ?? "The server answered \(status).",
            details: (envelope?.details ?? []).map(\.problem).filter { envelope?.error.contains($0) != true },
            action: action)
        switch (status, envelope?.code) {
        case (401, _):
            view.title = "This server asks for its control token"
            view.message =
                isWrongToken
                ? "That was not the server's control token. Try again." : "Give it once to use the console."
            view.details = []
            view.asksForToken = true
            view.hasConsole = false
        case (_, "unknown_namespace"):
            view.title = "The namespace \(namespace) does not exist"
            view.message = "It was deleted, its time to live has expired, or it never existed."
            view.command = "entrupy-sim namespace make\(Frame.serverOption(server)) \(Shell.operand(namespace))"
        case (503, _): view.title = "The server is not ready yet"
        default: break
        }
        // The page tells of a problem; if it cannot be rendered, its text does.
        return (try? PageTemplates.render(view, "standalone")) ?? view.message
    }

    private struct View: Encodable {
        var title, message: String
        var details: [String]
        let action: String
        /// The command that makes the namespace.
        var command: String?
        var asksForToken = false
        var hasConsole = true
    }
}
