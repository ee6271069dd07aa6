import HTTPTypes
import Hummingbird
import NIOCore
import Simulation

/// The OpenAPI description, an HTML page that shows it, and the text for coding agents.
struct DescriptionRoutes: Sendable {
    private typealias Page = (html: ConstantDocument, policy: String)

    // Each is made at its first request. Others that come meanwhile wait for it, and hold no thread.
    private static let json = Task.detached { try Description.json() }
    private static let openPage = page(needsControlToken: false)
    private static let closedPage = page(needsControlToken: true)

    let needsControlToken: Bool

    private static func page(needsControlToken: Bool) -> Task<Page, any Error> {
        Task.detached {
            let html = try DocsPage.html(needsControlToken: needsControlToken)
            return (ConstantDocument(ByteBuffer(string: html)), DocsPage.policy(of: html))
        }
    }

    func add(to routes: Routes) {
        routes.on(.get, "openapi.yaml") {
            await $0.acknowledge { _ in }.file {
                (Description.document, [.contentType: "application/yaml", .xContentTypeOptions: "nosniff"])
            }
        }
        routes.on(.get, "openapi.json") { request in
            let completed = await request.acknowledge { _ in }
            return await file(completed, Self.json) {
                ($0, [.contentType: "application/json", .xContentTypeOptions: "nosniff"])
            }
        }
        for (path, document) in [
            ("_sim/llms.txt", AgentText.document), ("_sim/fidelity.md", FidelityText.document),
        ] {
            routes.on(.get, path) {
                await $0.acknowledge { _ in }.file {
                    (document, [.contentType: "text/plain; charset=utf-8", .xContentTypeOptions: "nosniff"])
                }
            }
        }
        routes.on(.get, "_sim/docs") { request in
            let completed = await request.acknowledge { request in
                // A URL that contains a token works even if the server requires none.
                var query = request.query
                _ = query.given("token")
                try query.finish()
            }
            return await file(completed, needsControlToken ? Self.closedPage : Self.openPage) {
                ($0.html, .page(loading: $0.policy))
            }
        }
    }

    private func file<Made: Sendable>(
        _ completed: Completed<Void>, _ source: Task<Made, any Error>,
        _ parts: (Made) -> (ConstantDocument, HTTPFields)
    ) async -> Answer {
        do {
            let made = try await source.value
            return completed.file { parts(made) }
        } catch {
            return Answer(
                ErrorAnswer.response(.bug("the document cannot be made: \(error)"), requestID: completed.requestID))
        }
    }
}

extension Completed {
    /// A document that is the same in every namespace, or the error envelope.
    ///
    /// - Parameter parts: the document and its headers, to which the request's id is added.
    func file(_ parts: (Output) -> (ConstantDocument, HTTPFields)) -> Answer {
        var document: ConstantDocument?
        var answer = response { output in
            var (made, headers) = parts(output)
            document = made
            headers[.requestID] = requestID
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: made.plain))
        }
        answer.document = document
        return answer
    }
}
