import Simulation

/// The documented edges of App Components, beside the answers of the routes [D coverage].
enum ComponentEdges {
    /// The axis of the documented errors.
    static let errors = "components"

    static var axes: [DocumentedAxis] {
        [
            DocumentedAxis(
                errors, "Errors of App Components", WorkflowFailure.allCases.map { DocumentedEdge($0.rawValue) })
        ]
    }

    /// Answers of the Biometrics Component that only a fault gives: its own errors are not about documents.
    static let faultOnly = [
        "POST /components/sessions/{id}/biometrics 422", "POST /components/sessions/{id}/biometrics/finish 422",
    ]
}
