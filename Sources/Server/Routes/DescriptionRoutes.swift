import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// The OpenAPI description, and an HTML page that shows it.
struct DescriptionRoutes: Sendable {
    private let page = DocsPageCache()

    /// - Parameter routes: routes with paths from the root.
    func add(to routes: Routes) {
        routes.on(.get, "openapi.yaml") {
            await $0.answer { _ in Acknowledge() }.file(
                Description.document, [.contentType: "application/yaml", .xContentTypeOptions: "nosniff"])
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
            let page = try await page.made()
            return completed.file(page.html, .page(loading: page.policy))
        } catch {
            return Answer(
                ErrorAnswer.response(.bug("the page cannot be made: \(error)"), requestID: completed.requestID))
        }
    }
}

/// Renders the page at the first request. Others that come meanwhile wait for it, and hold no thread.
private final class DocsPageCache: Sendable {
    private typealias Page = (html: ConstantDocument, policy: String)

    private let page = NIOLockedValueBox<Task<Page, any Error>?>(nil)

    /// The page, and what it may load.
    func made() async throws -> (html: ConstantDocument, policy: String) {
        let rendering = page.withLockedValue { page in
            if let page { return page }
            let rendering = Task.detached {
                let html = try DocsPage.html()
                return (ConstantDocument(ByteBuffer(string: html)), DocsPage.policy(of: html)) as Page
            }
            page = rendering
            return rendering
        }
        return try await rendering.value
    }
}

extension Completed<Void> {
    /// A document that is the same in every namespace, or the error envelope.
    ///
    /// - Parameter headers: those of the document. The request's id is added.
    fileprivate func file(_ document: ConstantDocument, _ headers: HTTPFields) -> Answer {
        var answer = response { _ in
            var headers = headers
            headers[.requestID] = requestID
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: document.plain))
        }
        if answer.response.status == .ok { answer.document = document }
        return answer
    }
}
