import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// The command line as a client of servers that never begin, never end, or lead elsewhere.
@Suite struct HostileServerTests {
    private func run(_ server: HostileServer, _ words: String...) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(words + ["--url", server.url, "--control-token", "ctl-secret"])
    }

    /// A request for long work.
    private static var advance: ControlCall { ControlCall(.POST, "/_sim/clock/advance", takesLong: true) }

    private func client(_ server: HostileServer, _ limits: ControlClient.Limits) throws -> ControlClient {
        var client = ControlClient(options: try ControlOptions.parse(["--url", server.url]))
        client.limits = limits
        return client
    }

    /// The message of the refusal that `body` throws.
    private func refusal(_ body: () async throws -> Void) async throws -> String {
        var message = ""
        let error = await #expect(throws: Refusal.self) { try await body() }
        if let error { message = error.message }
        return message
    }

    // MARK: Silence

    @Test func aSilentServerDidNotAnswerInTime() async throws {
        let server = try await HostileServer(.stall(""))
        let shown = try await run(server, "clock", "show", "--timeout", "0.3")
        #expect(shown.status == 69 && shown.output.contains("error: \(server.url) did not answer within 300ms\n"))
        let advanced = try await run(server, "clock", "advance", "1h", "--timeout", "0.3")
        #expect(advanced.status == 69 && advanced.output.contains("did not answer within 300ms\n"))
    }

    /// Without `--timeout`, a long operation may take long while its server shows that it lives.
    @Test func aLongOperationWaitsOnlyForAServerThatLives() async throws {
        let dead = try await HostileServer(.stall(""))
        let client = try client(dead, .init(silence: .milliseconds(200), work: .seconds(600)))
        let message = try await refusal { try await client.send(Self.advance) }
        #expect(message == "\(dead.url) did not answer within 200ms")
        let alive = try await HostileServer(.stall(""), answersPings: true)
        let isLate = try await HostileServer.withLongerTimes { factor in
            let patient = try self.client(alive, .init(silence: .seconds(2 * factor), work: .seconds(1.5 * factor)))
            let late = try await refusal { try await patient.send(Self.advance) }
            return late == "\(alive.url) did not answer within \(factor == 1 ? "1.5" : "\(Int(1.5 * factor))")s"
                && alive.requests.contains { $0.hasPrefix("GET /_sim/ping ") }
        }
        #expect(isLate)
    }

    @Test func endlessInformationIsNoAnswer() async throws {
        let server = try await HostileServer(.endless(head: "", part: "HTTP/1.1 100 Continue\r\n\r\n"))
        #expect(
            try await run(server, "clock", "show", "--timeout", "0.5").output.contains("did not answer within 500ms"))
    }

    @Test func anAnswerThatStopsInTheMiddleIsNotWaitedFor() async throws {
        let server = try await HostileServer(.stall(HostileServer.head + "Content-Length: 10\r\n\r\n[1,"))
        let folder = try TestFolder()
        defer { folder.remove() }
        let isNoticed = try await HostileServer.withLongerTimes { factor in
            let seconds = "\(factor)"
            let shown = try await run(server, "clock", "show", "--timeout", seconds)
            let download = try await run(server, "bundle", "-o", folder.file("a.tar"), "--timeout", seconds)
            return [shown, download].allSatisfy {
                $0.status == 69
                    && $0.output.contains(
                        "sent nothing for \(DurationText.text(seconds: factor)), and its answer is not complete")
            }
        }
        #expect(isNoticed)
        #expect(try folder.names == [])
    }

    /// Longer than the limit in all; each pause is a small part of it.
    @Test func anAnswerThatDripsIsReadToItsEnd() async throws {
        let parts = ["["] + Array(repeating: " ", count: 30) + ["]"]
        let isRead = try await HostileServer.withLongerTimes { factor in
            let server = try await HostileServer(
                .drip(
                    head: HostileServer.head + "Content-Length: 32\r\n\r\n", parts: parts,
                    pause: .milliseconds(Int64(60 * factor))))
            let client = try client(server, .init(silence: .seconds(1.5 * factor)))
            return (try? await client.send(ControlCall(.GET, "/_sim/clock")).bytes.count) == 32
        }
        #expect(isRead)
    }

    @Test func anEventStreamWithoutHeartbeatsIsNotWaitedFor() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        let server = try await HostileServer(.stall(head + "event: request\ndata: {}\n\n"))
        let isNoticed = try await HostileServer.withLongerTimes { factor in
            let client = try client(server, .init(silence: .seconds(factor)))
            let message = try await refusal { try await client.listen([]) { _, _ in true } }
            return message
                == "\(server.url) sent nothing for \(DurationText.text(seconds: factor)), and its answer is not complete"
        }
        #expect(isNoticed)
    }

    // MARK: Size

    @Test func anEndlessAnswerIsCutAt64MB() async throws {
        let part = String(repeating: "1", count: 65_536)
        let server = try await HostileServer(.endless(head: HostileServer.head + "\r\n", part: part))
        let list = try await run(server, "users", "list", "--json")
        #expect(list.status == 1 && list.output.contains("error: the answer of \(server.url) is larger than 64 MB\n"))
        let error = try await HostileServer(.endless(head: "HTTP/1.1 500 No\r\n\r\n", part: part))
        #expect(try await run(error, "clock", "show").output.contains("is larger than 64 MB"))
    }

    @Test func anEndlessEventIsCut() async throws {
        let part = String(repeating: "x", count: 4096)
        let server = try await HostileServer(
            .endless(head: HostileServer.head + "\r\nevent: request\ndata: ", part: part))
        let client = try client(server, .init(bytes: 1 << 20))
        let message = try await refusal { try await client.listen([]) { _, _ in true } }
        #expect(message == "an event of \(server.url) is larger than 1 MB")
    }

    @Test func aDownloadEndsAtItsLimitAndLeavesNothing() async throws {
        let part = String(repeating: "x", count: 65_536)
        let server = try await HostileServer(.endless(head: HostileServer.head + "\r\n", part: part))
        let folder = try TestFolder()
        defer { folder.remove() }
        for words in [["bundle"], ["snapshot", "export", "a"]] {
            let download = try await SimProcess.run(
                words + ["--url", server.url, "-o", folder.file("a.tar"), "--max-bytes", "1000000"])
            #expect(download.status == 1)
            #expect(download.output.contains("larger than 1 MB, the limit of --max-bytes"))
            #expect(try folder.names == [])
        }
        for words in [["requests", "list", "--har"], ["seed", "export"]] {
            let printed = try await SimProcess.run(words + ["--url", server.url, "--max-bytes", "1000000"])
            #expect(printed.status == 1 && printed.output.utf8.count < 1_100_000)
        }
        #expect(try await run(server, "bundle", "--max-bytes", "0").status == 64)
    }

    @Test(arguments: ["Content-Length: 100000\r\n\r\n[1", "Transfer-Encoding: chunked\r\n\r\n5\r\n[1"])
    func halfAnAnswerIsNoAnswerAndReplacesNoFile(rest: String) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let file = try folder.write("before", to: "a.tar")
        let server = try await HostileServer(.end(HostileServer.head + rest))
        let lost = "error: the connection to \(server.url) was lost before its answer was complete\n"
        for words in [["clock", "show"], ["bundle", "-o", file]] {
            let half = try await SimProcess.run(words + ["--url", server.url])
            #expect(half.status == 69 && half.output.contains(lost), "\(half.output)")
        }
        #expect(try folder.text(of: "a.tar") == "before")
        let whole = try await HostileServer(.end(HostileServer.head + "Content-Length: 5\r\n\r\nwhole"))
        #expect(try await run(whole, "bundle", "-o", file).status == 0)
        #expect(try folder.text(of: "a.tar") == "whole" && folder.names == ["a.tar"])
    }

    // MARK: Elsewhere

    @Test(arguments: [301, 302, 307, 308]) func noRedirectIsFollowedAndTheTokenStays(status: Int) async throws {
        let other = try await HostileServer(.end(HostileServer.head + "Content-Length: 2\r\n\r\n{}"))
        let moved = try await HostileServer(
            .end("HTTP/1.1 \(status) Moved\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n"))
        for words in [["clock", "show"], ["reset"], ["bundle", "-o", "-"], ["requests", "tail"]] {
            let answer = try await SimProcess.run(words + ["--url", moved.url, "--control-token", "ctl-secret"])
            #expect(answer.status == 69)
            #expect(answer.output.contains("\(moved.url) redirects to \(other.url)/, and redirects are not followed"))
        }
        #expect(moved.requests.count >= 4 && other.requests.isEmpty)
    }

    @Test func whatIsNotHTTPIsNamed() async throws {
        let server = try await HostileServer(.stall("SSH-2.0-OpenSSH_9.2\r\n"))
        let shown = try await run(server, "clock", "show", "--timeout", "20")
        #expect(shown.status == 69 && shown.output.contains("what listens at \(server.url) does not answer in HTTP\n"))
    }
}
