import Entrupy
import EntrupyAPI
import Foundation
import Hummingbird
import Simulation

/// The routes that the SDK calls, for a user's app.
enum SDKRoutes {
    static func add(to routes: Routes) {
        routes.post("sdk/login") { try Login($0) }
        routes.post("login") { try Login($0) }
        routes.post("sdk/logout", body: .ignored) { _ in Logout() }
        routes.get("sdk/session") { _ in ShowSession() }
        routes.on(.get, "sdk/config", configuration)
        routes.on(.post, "sdk/captures", .json, { try StartCapture($0) }, render: started)
        routes.get("sdk/captures") { try ListCaptures($0) }
        routes.get("sdk/captures/{id}") { ByID<ShowCapture>($0.path("id")) }
        routes.on(.put, "sdk/captures/{id}/images/{region_id}", upload)
        routes.post("sdk/captures/{id}/submit", body: .ignored) { ByID<SubmitCapture>($0.path("id")) }
        routes.post("sdk/captures/{id}/cancel", body: .ignored) { ByID<CancelCapture>($0.path("id")) }
        routes.get("sdk/results/{entrupy_id}") { ShowResult($0.path("entrupy_id")) }
        routes.get("sdk/results/{entrupy_id}/market-edge") { ByID<ShowMarketEdge>($0.path("entrupy_id")) }
        routes.get("sdk/results/{entrupy_id}/flag") { ByID<ShowFlag>($0.path("entrupy_id")) }
        routes.on(.put, "sdk/results/{entrupy_id}/flag", .json, { try SetFlag($0) }) { $0.response() }
        routes.get("sdk/results/{entrupy_id}/support-messages") {
            ByID<ListSupportMessages<SDKUser>>($0.path("entrupy_id"))
        }
        routes.post("sdk/results/{entrupy_id}/support-messages", status: .created) { try AnswerSupport<SDKUser>($0) }
        routes.get("sdk/retakes") { _ in ListRetakes() }
        routes.post("sdk/results/{entrupy_id}/retake", body: .ignored, status: .created) {
            ByID<StartRetake>($0.path("entrupy_id"))
        }
        routes.post("sdk/search", body: .optionalJSON) { SearchSubmissions(try SearchRequest($0)) }
        routes.post("sdk/items/search", body: .optionalJSON) { SearchUserItems(try ItemSearchRequest($0)) }
        routes.on(.get, "images/{sha256}/original", image)
        routes.on(.get, "images/{sha256}/scale_micro", image)
    }

    /// The JSON of a new capture is encoded by hand, since this is a frequent answer.
    @Sendable private static func started(_ completed: Completed<StartedCapture>) -> Answer {
        completed.map { $0.encoded() }.encodedResponse(.created)
    }

    /// The configuration with its tag, or 304 if the client has it already [D config-tag].
    @Sendable private static func configuration(_ request: RequestReader) async -> Answer {
        let completed = await request.answer { try FetchConfiguration($0) }
        return completed.response { found in
            let tag = "W/\"\(found.tag)\""
            if request.headers.hasNoneMatch(found.tag) {
                return Response(status: .notModified, headers: [.eTag: tag, .requestID: completed.requestID])
            }
            var answer = JSONAnswer.response(
                encoded: found.encoded().bytes, status: .ok, requestID: completed.requestID)
            answer.headers[.eTag] = tag
            return answer
        }
    }

    @Sendable private static func upload(_ request: RequestReader) async -> Answer {
        await request.upload { (image: ReceivedImage) in
            UploadImage(captureID: request.path("id"), regionID: request.path("region_id"), image: image)
        }.response()
    }

    /// Serves an image [D images]. It needs no token. It may be cached forever: the URL contains the hash of the
    /// content.
    @Sendable static func image(_ request: RequestReader) async -> Answer {
        let sha256 = request.path("sha256")
        let found = await request.answer { _ in ByID<FindImage>(sha256) }
        return await found.response(awaiting: { mediaType throws(PlatformError) in
            try await request.file(
                sha256, mediaType, requestID: found.requestID, caching: "public, max-age=31536000, immutable")
        })
    }
}

extension RequestReader {
    /// Answers a file of the image store, or the part of it that `Range` asks for. A large one is read while it is sent.
    ///
    /// - Parameter caching: the value of `Cache-Control`.
    func file(
        _ sha256: String, _ mediaType: String, requestID: String, caching: String
    ) async throws(PlatformError) -> Response {
        let environment = namespace.environment
        do {
            let (method, fields) = (request.method, request.headers)
            let found = try await environment.threads.runIfActive { () -> (ResponseBody, Range<Int>?, size: Int)? in
                guard let image = try environment.images.open(sha256: sha256) else { return nil }
                let range = try ByteRange.of(method, fields, size: image.size)
                let part = range ?? 0..<image.size
                guard part.count <= ResponseBody.pieceBytes else {
                    let body = ResponseBody.pieces(size: part.count, on: environment.threads) {
                        try image.read(into: $0, at: part.lowerBound + $1)
                    }
                    return (body, range, image.size)
                }
                let bytes = try ByteBuffer(reading: part.count) { try image.read(into: $0, at: part.lowerBound) }
                return (ResponseBody(byteBuffer: bytes), range, image.size)
            }
            guard let (body, range, size) = found else {
                throw PlatformError.notFound(
                    "the image's file is gone",
                    because: "the namespace refers to the image \(sha256.excerpt), and the image store has no such file"
                )
            }
            var headers: HTTPFields = [
                .contentType: mediaType, .requestID: requestID, .cacheControl: caching, .acceptRanges: "bytes",
            ]
            // A part that is the whole is a part all the same: players that send `bytes=0-` ask whether ranges are answered.
            guard let part = range else { return Response(status: .ok, headers: headers, body: body) }
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
            return Response(status: .partialContent, headers: headers, body: body)
        } catch {
            throw error as? PlatformError ?? .unavailable("\(error)")
        }
    }
}
