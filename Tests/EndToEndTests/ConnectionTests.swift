import EntrupyAPI
import Foundation
import Synchronization
import Testing

@Suite struct ConnectionTests {
    private static let health = "GET /_sim/health HTTP/1.1\r\nHost: localhost\r\n"

    @Test(arguments: [
        ("hello\r\n\r\n", "its method is unknown"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "it is HTTP/2"),
        ("GET / HTTP/3.7\r\n\r\n", "its version"),
        ("POST /sdk/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n{}", "Content-Length"),
        (health + "X: " + String(repeating: "a", count: 66_000) + "\r\n\r\n", "at most 65536 bytes and 200 fields"),
        (health + String(repeating: "X: a\r\n", count: 201) + "\r\n", "at most 65536 bytes and 200 fields"),
    ])
    func whatIsNoHTTPIsToldSoAndTheConnectionClosed(sent: String, problem: String) async throws {
        let answer = try await RawConnection.open(.shared).exchange(sent)
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
        let envelope = try WireJSON.decode(ErrorEnvelope.self, from: Data(body.utf8))
        #expect(envelope.code == "bad_request" && envelope.error.contains(problem), "\(envelope.error)")
    }

    @Test func whatWasAskedBeforeIsAnsweredFirst() async throws {
        let answer = try await RawConnection.open(.shared).exchange(Self.health + "\r\nnonsense\r\n\r\n")
        let statuses = answer.matches(of: /HTTP\/1.1 ([0-9]{3})/).map { String($0.1) }
        #expect(statuses == ["200", "400"])
    }

    /// It would not end if the server waited for another request.
    @Test(arguments: [
        "GET /_sim/health HTTP/1.0\r\n\r\n", "GET /_sim/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        health + "Connection: Close\r\n\r\n",
    ])
    func aConnectionIsClosedAfterTheAnswerWhereTheClientExpectsIt(request: String) async throws {
        let answer = try await RawConnection.open(.shared).exchange(request)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func oneTooManyWaitsUntilAnotherIsClosed() async throws {
        let server = try SimProcess(["--in-memory", "--max-connections", "1"])
        let first = try await RawConnection.open(server)
        let second = try await RawConnection.open(server)
        async let waiting = Task {
            let answer = try await second.exchange(Self.health + "Connection: close\r\n\r\n")
            return (answer, ContinuousClock.now)
        }.value
        let count = 200
        // Looked at before the connection is closed: what comes after that may be late on a busy machine.
        let closing = Mutex(ContinuousClock.now)
        _ = try await first.exchange(String(repeating: Self.health + "\r\n", count: count)) { answer in
            closing.withLock { $0 = .now }
            return answer.matches(of: /HTTP\/1.1 200/).count == count
        }
        let (answer, answered) = try await waiting
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        #expect(answered > closing.withLock { $0 })
        server.stop()
    }

    /// It would not end if the server kept the connection; the limit says nothing about how soon it must close.
    @Test(.timeLimit(.minutes(10))) func aConnectionOnWhichNothingHappensIsClosed() async throws {
        let server = try SimProcess(["--in-memory", "--idle-timeout", "1"])
        let idle = try await RawConnection.open(server)
        // Where the second is over before it is listened to, that is an error of the connection.
        #expect((try? await idle.exchange("")) ?? "" == "")
        server.stop()
    }
}
