import Foundation
import TestSupport
import Testing

@testable import FourthlineSDK

/// The components' client and servers that never end or lead elsewhere.
@Suite(.timeLimit(.minutes(10))) struct HostileServerTests {
    private func problem(_ server: HostileServer) async throws -> String {
        let url = try #require(URL(string: server.url))
        return await FourthlineSimulation.isolated(baseURL: url) {
            let client = ComponentsClient(address: FourthlineSimulation.current.address)
            let error = await #expect(throws: WorkflowError.self) {
                _ = try await client.post("/components/sessions", as: [String: String].self)
            }
            return "\(String(describing: error))"
        }
    }

    @Test func noRedirectIsFollowed() async throws {
        let other = try await HostileServer(.end(HostileServer.head + "Content-Length: 2\r\n\r\n{}"))
        let moved = try await HostileServer(
            .end("HTTP/1.1 307 Moved\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n"))
        let text = try await problem(moved)
        #expect(text.contains("redirects to \(other.url)/") && other.requests.isEmpty, "\(text)")
    }

    @Test func anEndlessAnswerIsCut() async throws {
        let part = String(repeating: "1", count: 262_144)
        let server = try await HostileServer(.endless(head: HostileServer.head + "\r\n", part: part))
        let text = try await problem(server)
        #expect(text.contains("larger than 64 MB"), "\(text)")
    }

    @Test func halfAnAnswerIsNoAnswer() async throws {
        let server = try await HostileServer(.end(HostileServer.head + "Content-Length: 100\r\n\r\n{"))
        #expect(try await problem(server).contains("cannot be reached"))
    }
}
