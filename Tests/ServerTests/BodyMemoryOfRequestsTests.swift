import HTTPTypes
import NIOCore
import Testing

@testable import Server
@testable import Simulation

/// The number of values in a body, and the memory of bodies whose requests wait [D body-sizes].
@Suite struct BodyMemoryOfRequestsTests {
    private static func search(values: Int) -> String {
        // The list, the object and the number before it count too.
        #"{"limit":25,"x":[\#(Array(repeating: "0", count: values - 3).joined(separator: ","))]}"#
    }

    @Test func aBodyHasAtMostFiftyThousandValues() async throws {
        let held = try await HeldServer.open()
        let path = "/v2/integrations/authorize-user"
        let token: HTTPFields = [.authorization: "Token demo-api-token"]
        let most = try await held.ask(.post, path, Self.search(values: 50_000), headers: token)
        #expect(most.status == 400 && !most.text.contains("values"), "it is read: \(most.text)")
        let more = try await held.ask(.post, path, Self.search(values: 50_001), headers: token)
        #expect(more.status == 400 && more.text.contains("more than 50000 values"), "\(more.text)")
        #expect(more.text.contains("x[49997]"), "\(more.text)")
        let control = try await held.ask(.post, "/_sim/authentications", Self.search(values: 50_001))
        #expect(control.status == 400 && control.text.contains("more than 50000 values"), "\(control.text)")
    }

    @Test(arguments: ["/sdk/search", "/_sim/authentications"])
    func requestsThatWaitKeepTheirMemory(path: String) async throws {
        let held = try await HeldServer.open()
        let body = Self.search(values: 1000)
        let expected = 1000 * 128 + body.utf8.count
        let replies = try await held.holding {
            let tasks = [try await held.begin(.post, path, body), try await held.begin(.post, path, body)]
            #expect(try held.namespace.bodies.usedBytes == 2 * expected)
            return tasks
        }.replies
        #expect(replies.map(\.status) == (path.hasPrefix("/sdk") ? [401, 401] : [400, 400]))
        #expect(try held.namespace.bodies.usedBytes == 0)
    }

    /// A hold counts it [D hold].
    @Test func aBodyCountsWhatIsReadOfIt() throws {
        let received = ReceivedBody()
        let text = ByteBuffer(string: Self.search(values: 1000))
        received.set(ReceivedBytes(sent: text, content: .success(text)))
        #expect(received.keptBytes == text.readableBytes)
        received.keep(try BodyMemory().take(values: 1000, text: text.readableBytes))
        #expect(received.keptBytes == 1000 * 128 + 2 * text.readableBytes)
    }
}
