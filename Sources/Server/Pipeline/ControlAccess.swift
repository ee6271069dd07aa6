import HTTPTypes
import Simulation

/// Decides who may use the control API.
struct ControlAccess: Sendable {
    let hosts: HostGuard
    let key: ControlKey

    /// The error for a control request that is refused; `nil` if it is allowed.
    ///
    /// - Parameter path: the path without the namespace.
    func refusal(_ request: HTTPRequest, _ path: String) -> PlatformError? {
        hosts.refusal(request) ?? key.refusal(request, path)
    }
}
