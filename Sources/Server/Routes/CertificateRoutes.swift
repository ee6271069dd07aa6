import Entrupy
import Hummingbird
import Simulation

/// The pages of certificates [D certificates]. They need no token.
enum CertificateRoutes {
    static func add(to routes: Routes) {
        routes.on(.get, "certificates/{certificate_id}", show)
    }

    /// The formats of a certificate. The image is the same in both forms [D certificates].
    private enum Format: String, CaseIterable {
        case page, sharable, legacy
    }

    @Sendable private static func show(_ request: RequestReader) async -> Answer {
        var format = Format.page
        let completed = await request.answer { request in
            var query = request.query
            format = query.word("format", Format.self) ?? .page
            try query.finish()
            return ByID<ShowCertificate>(request.path("certificate_id"))
        }
        return completed.response { certificate in
            do {
                let text = try CertificatePage.text(certificate, isPicture: format != .page)
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: format == .page ? "text/html; charset=utf-8" : "image/svg+xml",
                        .requestID: completed.requestID,
                        // An item's text must never run as a script. Shops may show a certificate in a frame.
                        .contentSecurityPolicy:
                            "default-src 'none'; img-src *; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'",
                        .xContentTypeOptions: "nosniff", .referrerPolicy: "same-origin",
                    ],
                    body: .init(byteBuffer: ByteBuffer(string: text)))
            } catch {
                return ErrorAnswer.response(
                    .bug("the certificate cannot be made: \(error)"), requestID: completed.requestID)
            }
        }
    }
}
