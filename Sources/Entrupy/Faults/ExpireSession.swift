import Simulation

extension RequestEffect {
    static let expireSession = Self(
        "expire_session", "Ends the session of the request, and then handles it, which answers 401."
    ) { triggering, _ in
        if case .token(let token) = triggering.request.credential { try Sessions.expire(token: token, triggering.job) }
        return nil
    }
}
