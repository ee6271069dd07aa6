import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Outgoing
import TestSupport
import Testing

/// Bodies that break off, have another length than they said, or do not end.
@Suite struct OutgoingBodyTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private struct Broken: Error {}

    /// A request whose body has these parts.
    private func request(
        _ server: RawServer, length: Int?, _ parts: [String], ends: @escaping @Sendable () throws -> Void = {}
    ) throws -> OutgoingRequest {
        let left = NIOLockedValueBox(parts[...])
        var request = try OutgoingRequest(.PUT, "http://127.0.0.1:\(server.port)/")
        request.body = .parts(length: length) {
            if let part = left.withLockedValue({ $0.popFirst() }) { return ByteBuffer(string: part) }
            try ends()
            return nil
        }
        return request
    }

    // MARK: Requests

    /// The server would wait for the rest, and the client for an answer.
    @Test(arguments: [9, nil]) func aBodyThatCannotBeMadeEndsTheExchangeWithItsError(length: Int?) async throws {
        let server = try await RawServer.start { _ in nil }
        defer { server.stop() }
        let request = try request(server, length: length, ["some"]) { throw Broken() }
        await #expect(throws: Broken.self) {
            _ = try await OutgoingClient().fetch(request, deadline: .now() + .seconds(60))
        }
    }

    @Test(arguments: [4, 6]) func aBodyOfAnotherLengthThanItSaidEndsTheExchange(length: Int) async throws {
        let server = try await RawServer.start { _ in nil }
        defer { server.stop() }
        let request = try request(server, length: length, ["he", "llo"])
        await #expect(throws: OutgoingError.wrongBodyLength) {
            _ = try await OutgoingClient().fetch(request, deadline: .now() + .seconds(60))
        }
        #expect(!server.received.hasSuffix("hello") || length > 5, "what is too much is not sent")
    }

    /// The body that nobody waits for any more ends with the exchange.
    @Test func anAnswerBeforeTheWholeRequestEndsItsBody() async throws {
        let server = try await RawServer.start { _ in "HTTP/1.1 413 X\r\nContent-Length: 4\r\n\r\nmuch" }
        defer { server.stop() }
        let part = ByteBuffer(repeating: 0, count: 65_536)
        var request = try OutgoingRequest(.PUT, "http://127.0.0.1:\(server.port)/")
        request.body = .parts(length: nil) {
            try Task.checkCancellation()
            return part
        }
        let answer = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5))
        #expect(answer.status == 413 && String(buffer: answer.body) == "much")
    }

    @Test(arguments: ["0", "65536", "99999999999", "-1", "x"]) func aPortThatThereIsNotIsRefused(port: String) {
        let url = "http://127.0.0.1:\(port)/"
        #expect(throws: OutgoingError.badURL(url)) { _ = try OutgoingRequest(.GET, url) }
    }

    // MARK: Answers

    @Test func anAnswerWithoutALengthEndsWithItsConnection() async throws {
        let server = try await RawServer.start(closes: true) { _ in "HTTP/1.0 200 OK\r\n\r\nabc" }
        defer { server.stop() }
        let request = try OutgoingRequest(.GET, "http://127.0.0.1:\(server.port)/")
        let answer = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5))
        #expect(String(buffer: answer.body) == "abc")
    }

    private static let start = "HTTP/1.1 200 OK\r\n"
    private static let chunked = start + "Transfer-Encoding: chunked\r\n\r\n"
    private static let endless: [(head: String, part: String)] = [
        ("", "HTTP/1.1 102 Processing\r\n\r\n"), (start, "X-A: b\r\n"), (start + "X-A: ", "x"),
        (start + "\r\n", "x"), (chunked, "1;a=b\r\nx\r\n"), (chunked + "0\r\n", "X-A: b\r\n"),
    ]

    @Test(arguments: endless) func anAnswerWithoutEndHasTooManyPieces(head: String, part: String) async throws {
        try await expectTooLong(head, part, .init(bytes: .max, pieces: 20))
    }

    @Test(arguments: endless) func anAnswerWithoutEndHasTooManyBytes(head: String, part: String) async throws {
        try await expectTooLong(head, String(repeating: part, count: 100), .init(bytes: 10_000, pieces: .max))
    }

    private func expectTooLong(_ head: String, _ part: String, _ limit: OutgoingClient.AnswerLimit) async throws {
        let server = try await HostileServer(.endless(head: head, part: part))
        defer { server.stop() }
        let request = try OutgoingRequest(.GET, server.url)
        let error = await #expect(throws: (any Error).self) {
            _ = try await OutgoingClient(answerLimit: limit).fetch(request, deadline: .now() + .minutes(5))
        }
        // Many fields are refused by the parser, when it comes first.
        guard error as? HTTPParserError != .headerOverflow || !part.hasPrefix("X-A") else { return }
        let found = try #require(error as? AnswerTooLong).limit
        #expect(found.bytes == limit.bytes && found.pieces == limit.pieces)
    }

    /// The parser has a limit of its own.
    @Test func aHeadWithoutEndIsRefusedWithoutALimit() async throws {
        let server = try await HostileServer(
            .endless(head: "HTTP/1.1 200 OK\r\n", part: String(repeating: "X-A: b\r\n", count: 1000)))
        defer { server.stop() }
        let request = try OutgoingRequest(.GET, server.url)
        await #expect(throws: HTTPParserError.headerOverflow) {
            _ = try await OutgoingClient().fetch(request, deadline: .now() + .minutes(5))
        }
    }
}
