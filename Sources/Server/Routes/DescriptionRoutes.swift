import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import Simulation

/// The OpenAPI description, and an HTML page that shows it.
struct DescriptionRoutes: Sendable {
    private let page = DocsPageCache()

    /// - Parameter routes: routes of the control API, with paths from the root.
    func add(to routes: Routes) {
        routes.on(.get, "openapi.yaml") {
            await $0.answer { _ in Acknowledge() }.file(Description.bytes, mediaType: "application/yaml")
        }
        routes.on(.get, "_sim/docs", docs)
    }

    @Sendable private func docs(_ request: RequestReader) async -> Response {
        let completed = await request.answer { request in
            // A URL that contains a token works even if the server requires none.
            var query = request.query
            _ = query.given("token")
            try query.finish()
            return Acknowledge()
        }
        do {
            var response = completed.file(try page.html(), mediaType: "text/html; charset=utf-8")
            response.headers[.contentSecurityPolicy] =
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
            return response
        } catch {
            return ErrorAnswer.response(.bug("the page cannot be made: \(error)"), requestID: completed.requestID)
        }
    }
}

/// Renders the page at the first request.
private final class DocsPageCache: Sendable {
    private let made = NIOLockedValueBox<[UInt8]?>(nil)

    func html() throws -> [UInt8] {
        try made.withLockedValue { made in
            if let made { return made }
            let bytes = Array(try DocsPage.html().utf8)
            made = bytes
            return bytes
        }
    }
}

extension Completed<Void> {
    /// A file that is the same in every namespace, or the error envelope.
    fileprivate func file(_ bytes: [UInt8], mediaType: String) -> Response {
        response { _ in
            Response(
                status: .ok, headers: [.contentType: mediaType, .requestID: requestID],
                body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }
}
