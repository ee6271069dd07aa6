import NIOCore
import NIOHTTP1
import Outgoing

extension OutgoingClient {
    /// The whole answer to a request.
    ///
    /// - Parameter maxBytes: the most that the body may have.
    /// - Throws: what ``exchange(_:deadline:_:)`` does; ``OutgoingError/bodyTooLong(_:)`` if the body has more.
    package func fetch(
        _ request: OutgoingRequest, deadline: NIODeadline = .distantFuture, upTo maxBytes: Int = .max
    ) async throws -> (status: Int, headers: HTTPHeaders, body: ByteBuffer) {
        try await exchange(request, deadline: deadline) { answer in
            (answer.status, answer.headers, try await answer.body.collect(upTo: maxBytes))
        }
    }
}
