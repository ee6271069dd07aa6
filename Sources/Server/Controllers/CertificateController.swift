import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The pages of certificates, and the control route that transfers one [D certificates]. A certificate page needs no
/// token.
struct CertificateController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("certificates/{certificate_id}", use: show)
            .post("_sim/authentications/{entrupy_id}/certificate/transfer", use: transfer)
    }

    /// The formats of a certificate.
    private enum Format: String, CaseIterable {
        case page, sharable
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        var format = Format.page
        let completed = await reader.answer { input in
            var query = input.query
            format = query.word("format", Format.self) ?? .page
            try query.finish()
            return ShowCertificate(reader.path("certificate_id"))
        }
        return completed.response { facts in
            do {
                let page = CertificatePage(facts)
                let text = try format == .page ? page.html() : page.svg()
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: format == .page ? "text/html; charset=utf-8" : "image/svg+xml",
                        .requestID: completed.requestID,
                        // An item's text must never run as a script.
                        .contentSecurityPolicy: "default-src 'none'; img-src *; style-src 'unsafe-inline'",
                    ],
                    body: .init(byteBuffer: ByteBuffer(string: text)))
            } catch {
                return ErrorAnswer.response(
                    .bug("the certificate cannot be made: \(error)"), requestID: completed.requestID)
            }
        }
    }

    @Sendable private func transfer(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        return await reader.answer(.json) { input in
            var fields = FieldReader(input.body)
            fields.allowOnly("to")
            let email = fields.string("to")
            try fields.finish()
            return try TransferCertificate(reader.path("entrupy_id"), to: email)
        }.response()
    }
}
