import Simulation

extension RequestEffect {
    static let imageUploadError = Self(
        "image_upload_error", "Answers 422, as for a photo that cannot be used. Only uploads have it."
    ) { triggering, _ in
        .imageRejected("the image cannot be used (fault \(triggering.ruleID))")
    } note: { route, routes in
        routes.contains { $0.path.pattern.contains("/images/") && route.overlaps($0.path) }
            ? nil : "no image is uploaded to a route like \(route.pattern)"
    }
}
