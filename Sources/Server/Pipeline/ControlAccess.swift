import HTTPTypes
import Simulation
import SimulationAPI

/// Decides who may use the control API.
struct ControlAccess: Sendable {
    let hosts: HostGuard
    let key: ControlKey
    /// The proof that pages of the console send with a change.
    let csrfToken: String

    /// The error for a control request that is refused; `nil` if it is allowed.
    ///
    /// - Parameter path: the path without the namespace.
    func refusal(_ request: HTTPRequest, _ path: String) -> PlatformError? {
        hosts.refusal(request, isControl: true)?.error ?? key.refusal(request, path) ?? proofRefusal(request)
    }

    /// A page of another run of the server may show another state than the one that it would change [D console-proof].
    private func proofRefusal(_ request: HTTPRequest) -> PlatformError? {
        guard let shown = request.headerFields[.csrfToken], !shown.isIdentical(to: csrfToken) else { return nil }
        return .forbidden(
            "this console page is of another run of the server; reload it",
            [ErrorDetail("X-Sim-Console", "must be the proof of a page of this run")])
    }
}

extension HTTPField.Name {
    /// The proof that a change comes from a page of the console [D console-proof].
    static let csrfToken = HTTPField.Name("X-Sim-Console")!
}
