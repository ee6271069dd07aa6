import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// The OpenAPI description, and an HTML page that shows it.
struct DescriptionRoutes: Sendable {
    private let page = DocsPageCache()

    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"

    /// - Parameter routes: routes with paths from the root.
    func add(to routes: Routes) {
        routes.on(.get, "openapi.yaml") {
            await $0.answer { _ in Acknowledge() }.file(Description.buffer, mediaType: "application/yaml")
        }
        routes.on(.get, "_sim/docs", docs)
    }

    @Sendable private func docs(_ request: RequestReader) async -> Answer {
        let completed = await request.answer { request in
            // A URL that contains a token works even if the server requires none.
            var query = request.query
            _ = query.given("token")
            try query.finish()
            return Acknowledge()
        }
        do {
            return completed.file(try page.html(), mediaType: "text/html; charset=utf-8", policy: Self.policy)
        } catch {
            return Answer(
                ErrorAnswer.response(.bug("the page cannot be made: \(error)"), requestID: completed.requestID))
        }
    }
}

/// Renders the page at the first request.
private final class DocsPageCache: Sendable {
    private let made = NIOLockedValueBox<ByteBuffer?>(nil)

    func html() throws -> ByteBuffer {
        try made.withLockedValue { made in
            if let made { return made }
            let page = ByteBuffer(string: try DocsPage.html())
            made = page
            return page
        }
    }
}

extension Completed<Void> {
    /// A file that is the same in every namespace, or the error envelope. All answers share its bytes.
    ///
    /// - Parameter policy: the value of `Content-Security-Policy`.
    fileprivate func file(_ bytes: ByteBuffer, mediaType: String, policy: String? = nil) -> Answer {
        response { _ in
            var headers: HTTPFields = [.contentType: mediaType, .requestID: requestID]
            headers[.contentSecurityPolicy] = policy
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: bytes))
        }
    }
}
