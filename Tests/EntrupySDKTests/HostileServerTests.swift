import ClientTransport
import EntrupySDK
import Foundation
import TestSupport
import Testing

@testable import EntrupySimTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The kit for tests and the SDK as clients of servers that never begin, never end, or lead elsewhere.
@Suite(.timeLimit(.minutes(10))) struct HostileServerTests {
    private func control(_ server: HostileServer, idle: TimeInterval = 0.3, bytes: Int = 1 << 20) -> ControlConnection {
        var control = ControlConnection(address: server.url, token: "ctl-secret")
        control.limits.head = 0.3
        control.limits.idle = idle
        control.limits.bytes = bytes
        return control
    }

    private func problem(_ body: () async throws -> Void) async throws -> String {
        let error = await #expect(throws: SimulatorError.self) { try await body() }
        return error?.description ?? ""
    }

    @Test func aServerThatNeverAnswersDidNotAnswerInTime() async throws {
        let server = try await HostileServer(.stall(""))
        let text = try await problem { try await control(server).send("GET", "/_sim/clock") }
        #expect(text == "\(server.url) did not answer within 300ms")
    }

    @Test func endlessInformationIsNoAnswer() async throws {
        let server = try await HostileServer(.endless(head: "", part: "HTTP/1.1 100 Continue\r\n\r\n"))
        // libcurl has a limit of its own, which may be reached first.
        let text = try await problem { try await control(server).send("GET", "/_sim/clock") }
        #expect(text.hasPrefix("the connection to") || text.contains("did not answer within 300ms"), "\(text)")
    }

    @Test func anAnswerThatStopsInTheMiddleIsNotWaitedFor() async throws {
        let server = try await HostileServer(.stall(HostileServer.head + "Content-Length: 10\r\n\r\n[1,"))
        let text = try await problem { try await control(server).send("GET", "/_sim/clock", timeout: 60) }
        #expect(text == "\(server.url) sent nothing for 300ms, and its answer is not complete")
    }

    @Test func anEndlessAnswerIsCut() async throws {
        let part = String(repeating: "1", count: 65_536)
        for head in [HostileServer.head, "HTTP/1.1 500 No\r\n"] {
            let server = try await HostileServer(.endless(head: head + "\r\n", part: part))
            let text = try await problem { try await control(server, idle: 30).send("GET", "/_sim/x", timeout: 30) }
            #expect(text == "the answer of \(server.url) is larger than 1 MB")
        }
    }

    /// URLSession on Linux would read all of it, and look at no limit before.
    @Test func aServerThatSendsWithoutAPauseIsCutAtTheLimit() async throws {
        let part = String(repeating: "1", count: 1 << 20)
        let server = try await HostileServer(.flood(head: HostileServer.head + "\r\n", part: part, bytes: 400 << 20))
        let text = try await problem { try await control(server, idle: 30).send("GET", "/_sim/x", timeout: 30) }
        #expect(text == "the answer of \(server.url) is larger than 1 MB")
        #expect(server.sentBytes < 40 << 20)
        server.stop()
    }

    @Test func aBundleThatFailsLeavesNoFile() async throws {
        let name = "hostile-\(UUID().uuidString)"
        let part = String(repeating: "1", count: 65_536)
        let endless = try await HostileServer(.endless(head: HostileServer.head + "\r\n", part: part))
        let half = try await HostileServer(.end(HostileServer.head + "Content-Length: 100000\r\n\r\nhalf"))
        for (server, wanted) in [(endless, "larger than 3.1 MB"), (half, "was lost before its answer was complete")] {
            let sim = SimulatedNamespace(name: name, address: server.url, token: nil)
            let text = try await problem { _ = try await sim.saveBundle(maxBytes: 3 << 20) }
            #expect(text.contains(wanted), "\(text)")
            let memory = try await problem { _ = try await sim.bundle(maxBytes: 3 << 20) }
            #expect(memory.contains(wanted), "\(memory)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        #expect(!left.contains { $0.hasPrefix(name) })
        let whole = try await HostileServer(.end(HostileServer.head + "Content-Length: 5\r\n\r\nbytes"))
        let path = try await SimulatedNamespace(name: name, address: whole.url, token: nil).saveBundle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "bytes")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func noRedirectIsFollowedAndTheTokenStays(status: Int) async throws {
        let other = try await HostileServer(.end(HostileServer.head + "Content-Length: 2\r\n\r\n{}"))
        let moved = try await HostileServer(
            .end("HTTP/1.1 \(status) Moved\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n"))
        for method in ["GET", "POST"] {
            let body = method == "POST" ? Data("{}".utf8) : nil
            let text = try await problem { try await control(moved).send(method, "/_sim/x", body, timeout: 30) }
            #expect(text.hasPrefix("\(moved.url) redirects to \(other.url)/, and redirects are not followed"))
        }
        #expect(moved.requests.count == 2 && other.requests.isEmpty)
        #expect(moved.requests.someAndAll { $0.contains("ctl-secret") })
    }

    /// Longer than the limit in all; each pause is a small part of it.
    @Test func anAnswerThatDripsIsReadToItsEnd() async throws {
        let parts = ["["] + Array(repeating: " ", count: 30) + ["]"]
        let isRead = try await HostileServer.withLongerTimes { factor in
            let server = try await HostileServer(
                .drip(
                    head: HostileServer.head + "Content-Length: 32\r\n\r\n", parts: parts,
                    pause: .milliseconds(Int64(60 * factor))))
            let answer = try? await control(server, idle: 1.5 * factor).send("GET", "/_sim/x", timeout: 300)
            return answer?.count == 32
        }
        #expect(isRead)
    }

    // MARK: The SDK

    /// The end of a login at a server.
    private func login(_ server: HostileServer, timeout: TimeInterval = 60) async throws -> (EntrupyErrorCode, String) {
        try await EntrupySimulation.isolated(baseURL: try #require(URL(string: server.url))) {
            EntrupySimulation.requestTimeout = timeout
            let app = TestApp(SimulatedNamespace(name: "none", address: server.url, token: nil))
            app.sdk.loginUser(withSignedRequest: "x")
            guard case .failed("login", let code, let text, _) = try await app.next() else {
                throw TestApp.Unexpected(app)
            }
            return (code, text)
        }
    }

    /// URLSession on Linux ends the process if a task is cancelled while it asks about a redirect.
    @Test func aRedirectThatIsCancelledMeanwhileIsOnlyCancelled() async throws {
        let moved = try await HostileServer(
            .end("HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
        let url = try #require(URL(string: moved.url))
        for round in 0..<100 {
            let request = BoundedRequest(URLRequest(url: url), RequestLimits())
            let asking = Task { try await request.answer() }
            for _ in 0..<round where moved.requests.count <= round { await Task.yield() }
            asking.cancel()
            await #expect(throws: (any Error).self) { _ = try await asking.value }
        }
    }

    @Test func theSDKFollowsNoRedirectEither() async throws {
        let other = try await HostileServer(.end(HostileServer.head + "Content-Length: 2\r\n\r\n{}"))
        let moved = try await HostileServer(
            .end("HTTP/1.1 307 Moved\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n"))
        let (code, text) = try await login(moved)
        #expect(code == .ErrorCodeUnknownError && text.contains("redirects to \(other.url)/"))
        #expect(other.requests.isEmpty)
    }

    @Test func theSDKReadsNoEndlessAnswerAndWaitsForNoSilentServer() async throws {
        let part = String(repeating: "1", count: 262_144)
        let endless = try await HostileServer(.endless(head: HostileServer.head + "\r\n", part: part))
        let (code, text) = try await login(endless, timeout: 300)
        #expect(code == .ErrorCodeUnknownError && text.contains("larger than 64 MB"))
        let silent = try await HostileServer(.stall(HostileServer.head + "Content-Length: 10\r\n\r\n[1,"))
        let late = try await login(silent, timeout: 0.3)
        #expect(late.0 == .ErrorCodeRequestTimeoutError && late.1.contains("did not answer within 300ms"))
    }
}
