import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The routes that take an item's pictures and submit them.
struct CaptureController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("sdk/captures", use: start)
            .get("sdk/captures", use: list)
            .get("sdk/captures/{id}", use: show)
            .put("sdk/captures/{id}/images/{region_id}", use: upload)
            .post("sdk/captures/{id}/submit", use: submit)
            .post("sdk/captures/{id}/cancel", use: cancel)
            .get("images/{sha256}/original", use: image)
            .get("images/{sha256}/scale_micro", use: image)
    }

    @Sendable private func start(_ request: Request, _ context: SimContext) async -> Response {
        let started = await RequestReader(request, context, bodies: bodies).answer(.json) {
            try StartCapture(StartCaptureRequest($0.body))
        }
        return started.map { $0.encoded() }.encodedResponse(.created)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer { input in
            var query = input.query
            let status = query.word("status", Capture.Status.self)
            let limit = query.number("limit", in: ListCaptures.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return ListCaptures(status: status, limit: limit ?? ListCaptures.defaultLimit, cursor: cursor)
        }.response()
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in ShowCapture(reader.path("id")) }.response()
    }

    @Sendable private func upload(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.upload { image in
            UploadImage(captureID: reader.path("id"), regionID: reader.path("region_id"), image: image)
        }.response()
    }

    @Sendable private func submit(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in SubmitCapture(reader.path("id")) }.response()
    }

    @Sendable private func cancel(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in CancelCapture(reader.path("id")) }.response()
    }

    /// Serves an image [D images]. It needs no token. It may be cached forever: the URL contains the hash of the
    /// content.
    @Sendable private func image(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        let sha256 = reader.path("sha256")
        let found = await reader.answer { _ in FindImage(sha256: sha256) }
        guard case .success(let mediaType) = found.result else { return found.response { _ in Response(status: .ok) } }
        let environment = reader.namespace.environment
        do {
            let bytes = try await environment.threads.runIfActive { try environment.images.bytes(sha256: sha256) }
            guard let bytes else { throw PlatformError.notFound("the image's file is gone") }
            return Response(
                status: .ok,
                headers: [
                    .contentType: mediaType, .requestID: found.requestID,
                    .cacheControl: "public, max-age=31536000, immutable",
                ],
                body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        } catch {
            return ErrorAnswer.response(
                error as? PlatformError ?? .unavailable("\(error)"), requestID: found.requestID)
        }
    }
}
