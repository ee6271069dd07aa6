import Simulation

extension PlatformEffect {
    /// Expires the caller's session, then handles the request.
    private static let expireSession = Self(name: "expire_session") { request, _, _, job in
        if case .token(let token) = request.credential { try Sessions.expire(token: token, job) }
        return nil
    }

    /// Answers 422.
    private static let imageUploadError = Self(name: "image_upload_error") { _, _, ruleID, _ in
        .imageRejected("the image cannot be used (fault \(ruleID))")
    } note: { route, routes in
        routes.contains { $0.path.pattern.contains("/images/") && route.overlaps($0.path) }
            ? nil : "no image is uploaded to a route like \(route.pattern)"
    }

    /// Entrupy's effects.
    static let ofEntrupy = [expireSession, imageUploadError]
}
