import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct ConnectionTests {
    private static let health = "GET /_sim/health HTTP/1.1\r\nHost: localhost\r\n"

    private static let login = "POST /sdk/login HTTP/1.1\r\nHost: localhost\r\n"

    @Test(arguments: [
        ("hello\r\n\r\n", "its method is unknown"), ("GET / HTTP/3.7\r\n\r\n", "its version"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "it is HTTP/2"), (login + "Content-Length: x\r\n\r\n{}", "Content-Length"),
        (health + "X: " + String(repeating: "a", count: 66_000) + "\r\n\r\n", "at most 65536 bytes and 200 fields"),
        (health + String(repeating: "X: a\r\n", count: 201) + "\r\n", "at most 65536 bytes and 200 fields"),
        ("GET /_sim/health HTTP/1.1\r\n\r\n", "it has no Host"),
        (health + "Host: localhost\r\n\r\n", "more than one Host"),
        (health + "hOST: other\r\n\r\n", "more than one Host"),
        ("GET /_sim/health HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "more than one Host"),
        ("GET /_sim/health HTTP/1.1\r\nHost: a b\r\n\r\n", "its Host is not"),
        ("GET /_sim/health HTTP/1.1\r\nHost: a/b\r\n\r\n", "its Host is not"),
        ("GET /_sim/health HTTP/1.1\r\nHost: \u{e9}\r\n\r\n", "its Host is not"),
        (login + "Content-Length: 9223372036854775808\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 18446744073709551615\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 99999999999999999999999\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: +2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: -2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 2, 2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 2 2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 0x2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length:\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length"),
        (login + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "Content-Length"),
        (login + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding"),
        (login + "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding"),
        (login + "Transfer-Encoding: identity\r\n\r\n{}", "Transfer-Encoding"),
        (login + "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding"),
        (
            "POST /sdk/login HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "Transfer-Encoding"
        ),
    ])
    func aRequestThatHTTPForbidsGets400AndClosesTheConnection(sent: String, problem: String) async throws {
        // The request before the wrong one gets its answer; the one after it gets none.
        let answer = try await RawConnection.open(.shared).exchange(Self.health + "\r\n" + sent + Self.health + "\r\n")
        let statuses = answer.matches(of: /HTTP\/1.1 ([0-9]{3})/).map { String($0.1) }
        #expect(statuses == ["200", "400"], "\(answer)")
        let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
        let envelope = try WireJSON.decode(ErrorEnvelope.self, from: Data(body.utf8))
        #expect(envelope.code == "bad_request" && envelope.error.contains(problem), "\(envelope.error)")
    }

    /// This test would not end if the server waited for another request.
    @Test(arguments: [
        "GET /_sim/health HTTP/1.0\r\n\r\n", "GET /_sim/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        health + "Connection: Close\r\n\r\n", health + "Content-Length: 0\r\nConnection: close\r\n\r\n",
        "GET /_sim/health HTTP/1.1\r\nHost: [::1]:8642\r\nConnection: close\r\n\r\n",
        "GET /_sim/health HTTP/1.1\r\nHost: my_container:1\r\nConnection: close\r\n\r\n",
    ])
    func unusualButValidHTTPIsAnsweredAndTheConnectionClosed(request: String) async throws {
        let answer = try await RawConnection.open(.shared).exchange(request)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    /// The server ends its side after the answer. It must go on reading, since such a client reads only afterwards.
    @Test(.timeLimit(.minutes(15)), arguments: ["Connection: close\r\n", ""])
    func aClientThatSendsEverythingFirstGetsItsRefusal(header: String) async throws {
        let bytes = 512 * 65_536
        let answer = try await RawConnection.open(.shared).exchange(
            "POST /sdk/login HTTP/1.\(header.isEmpty ? 0 : 1)\r\nHost: localhost\r\n\(header)Content-Type: application/json\r\n"
                + "Content-Length: \(bytes)\r\n\r\n", thenBytes: bytes)
        #expect(
            answer.hasPrefix("HTTP/1.") && answer.contains(" 413 ") && answer.contains("payload_too_large"), "\(answer)"
        )
    }

    @Test func aChunkedBodyIsRead() async throws {
        let request =
            Self.login + "Transfer-Encoding: Chunked\r\nConnection: close\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"
        let answer = try await RawConnection.open(.shared).exchange(request)
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains("signed_authorization_request is missing"))
    }

    /// The simulator speaks no other protocol, so the connection goes on with HTTP/1.1 (RFC 9110, section 7.8). The client of one that does
    /// not would wait for ever.
    @Test(
        .timeLimit(.minutes(15)),
        arguments: [
            // Java's HttpClient, under Spring's RestClient.
            health + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n\r\n",
            health + "Connection: keep-alive, upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
            health + "Connection:\t UPGRADE ,x\r\nUpgrade: h2c\r\n\r\n",
            health + "Connection: x\r\nConnection: upgrade\r\nupgrade: a/1, b/2\r\n\r\n",
            health + "Upgrade: h2c\r\n\r\n", health + "Connection: Upgrade\r\n\r\n",
            health + "Connection: keep-upgrade, upgrade x, upgrade\t\r\nUpgrade: h2c\r\n\r\n",
            "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            login + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
            login
                + "Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
            "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n",
        ])
    func aRequestForAnotherProtocolDoesNotEndTheConnection(request: String) async throws {
        let isKnown = request.contains("GET /_sim")
        let last = Self.health + "Connection: close\r\n\r\n"
        // All at once, in two parts of which the first ends within a name, and byte by byte.
        let pipeline = request + Self.health + "\r\n" + request + request + last
        for size in [pipeline.utf8.count, pipeline.utf8.count / 2 + 7, 1] {
            let answer = try await RawConnection.open(.shared).exchange(pipeline, inPartsOf: size)
            let statuses = answer.matches(of: /HTTP\/1.1 ([0-9]{3})/).map { $0.1 == "200" }
            #expect(statuses == [isKnown, true, isKnown, isKnown, true], "\(size): \(answer)")
        }
    }

    @Test func aClientThatExpectsContinueReceivesIt() async throws {
        let request = Self.login + "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
        let answer = try await RawConnection.open(.shared).exchange(request) { $0.contains("\r\n\r\n") }
        #expect(answer == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    /// The answers to the earlier requests come first, and nothing is written between their bytes.
    @Test func continueIsSentAfterTheAnswersToEarlierRequests() async throws {
        let request = Self.login + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        let health = String(repeating: Self.health + "\r\n", count: 20)
        let answer = try await RawConnection.open(.shared).exchange(health + request) { $0.contains("100 Continue") }
        let statuses = answer.matches(of: /HTTP\/1.1 ([0-9]{3})/).map { String($0.1) }
        // A 408 follows if this machine takes 30 s to read the answer.
        #expect(Array(statuses.prefix(21)) == Array(repeating: "200", count: 20) + ["100"])
        #expect(answer.contains("\"status\":\"ok\"}HTTP/1.1 100 Continue\r\n\r\n"))
    }

    @Test(arguments: [
        "POST /sdk/login HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
        login + "Expect: 100-continue\r\nConnection: close\r\n\r\n",
        login + "Content-Length: 0\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        login + "Content-Length: 30000000\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
    ])
    func continueIsNotSentIfNoBodyShouldFollow(request: String) async throws {
        let answer = try await RawConnection.open(.shared).exchange(request)
        #expect(answer.hasPrefix("HTTP/1.1 4") && !answer.contains("100 Continue"), "\(answer)")
    }

    /// The limit is one of all addresses together, but for a connection that an address accepts while another reaches it.
    @Test(arguments: ["127.0.0.1", "::1"])
    func aConnectionBeyondTheLimitWaitsUntilAnotherCloses(address: String) async throws {
        guard hasAddress(address) else { return }
        let server = try await SimProcess(["--in-memory", "--max-connections", "1"])
        let first = try await RawConnection.open(server)
        // So many that the second connection would be answered before the last one, if the server served it.
        let count = 3000
        // The time is taken before the connection closes, because code after that may run late on a busy machine.
        let closing = Mutex(ContinuousClock.now)
        let waiting = Mutex<Task<(String, ContinuousClock.Instant), any Error>?>(nil)
        _ = try await first.exchange(String(repeating: Self.health + "\r\n", count: count)) { answer in
            closing.withLock { $0 = .now }
            // The server has accepted the first connection once it answers there. Two at once might both be accepted.
            waiting.withLock { task in
                task =
                    task
                    ?? Task {
                        let last = Self.health + "Connection: close\r\n\r\n"
                        // One that the other address was ready to accept before the limit was reached.
                        if address == "::1" { _ = try await RawConnection.open(server, at: address).exchange(last) }
                        let second = try await RawConnection.open(server, at: address)
                        let answer = try await second.exchange(last)
                        return (answer, .now)
                    }
            }
            return answer.matches(of: /HTTP\/1.1 200/).count == count
        }
        let (answer, answered) = try await #require(waiting.withLock { $0 }).value
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        #expect(answered > closing.withLock { $0 })
        server.stop()
    }

    /// This test would not end if the server kept the connection. The time limit does not check how soon it closes.
    @Test(.timeLimit(.minutes(10))) func anIdleConnectionGetsNoAnswerAndIsClosed() async throws {
        let server = try await SimProcess(["--in-memory", "--idle-timeout", "1"])
        let idle = try await RawConnection.open(server)
        // If the idle second ends before the client reads, the client gets a connection error.
        #expect((try? await idle.exchange("")) ?? "" == "")
        server.stop()
    }
}
