import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Server

/// Requests that a client sends before it has the answer to its last one. Connections with such take turns with others.
@Suite struct PipelinedTurnTests {
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/"))
    private static let answer = HTTPResponsePart.head(HTTPResponse(status: .ok))

    @Test func aConnectionKnowsWhetherItsNextRequestIsThere() throws {
        let handler = MalformedRequestHandler(limits: ConnectionLimits()) { "srv_1" }
        let channel = EmbeddedChannel(handler: handler)
        func receive() throws {
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        func send() throws -> Bool {
            let hasNext = handler.answers.expect(nil)
            try channel.writeOutbound(Self.answer)
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            return hasNext
        }
        // One after the other.
        for _ in 0..<3 {
            try receive()
            #expect(try !send())
        }
        // Three at once.
        for _ in 0..<3 { try receive() }
        #expect(try send())
        #expect(try send())
        #expect(try !send())
        _ = try channel.finish()
    }
}
