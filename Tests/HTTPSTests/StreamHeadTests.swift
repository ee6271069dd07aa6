import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPS
@testable import Server

/// The heads of requests over HTTP/2.
@Suite struct StreamHeadTests {
    /// The status of a head that is refused; `nil` if the head goes on, and the authority that it has then.
    private static func read(_ authority: String?, hosts: [String]) throws -> (status: Int?, authority: String?) {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            StreamHeadHandler(limits: ConnectionLimits(), requestID: { "srv_1" }, maxBodyBytes: { _ in 0 }))
        var head = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/sdk/session")
        head.headerFields[values: try #require(HTTPField.Name("Host"))] = hosts
        try channel.writeInbound(HTTPRequestPart.head(head))
        if case .head(let response) = try channel.readOutbound(as: HTTPResponsePart.self) {
            return (response.status.code, nil)
        }
        guard case .head(let passed) = try channel.readInbound(as: HTTPRequestPart.self) else { return (nil, nil) }
        return (nil, passed.authority)
    }

    @Test func aHostBesideTheAuthorityMustBeTheSame() throws {
        #expect(try Self.read("localhost:1", hosts: []) == (nil, "localhost:1"))
        #expect(try Self.read("localhost:1", hosts: ["LOCALHOST:1"]) == (nil, "localhost:1"))
        #expect(try Self.read(nil, hosts: ["evil.example"]) == (nil, "evil.example"))
        #expect(try Self.read("localhost:1", hosts: ["evil.example"]).status == 400)
        #expect(try Self.read("localhost:1", hosts: ["localhost"]).status == 400)
        #expect(try Self.read("localhost:1", hosts: ["localhost:1", "evil.example"]).status == 400)
        #expect(try Self.read(nil, hosts: ["localhost", "localhost"]).status == 400)
        #expect(try Self.read("user@localhost", hosts: []).status == 400)
        #expect(try Self.read("", hosts: ["localhost"]).status == 400)
    }
}
