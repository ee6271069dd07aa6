import Foundation
import HTTPSTestSupport
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import Testing

@testable import HTTPS
@testable import Server
@testable import Simulation

/// The requests of one connection that wait for a namespace, over real connections [D http2-bounds].
@Suite(.serialized) struct ConnectionBoundTests {
    private static func port() throws -> ServerCertificates {
        try ServerCertificates(
            .localAuthority(dataDirectory: nil), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func connect(_ held: HeldServer, _ port: Int) async throws -> HTTP2Connection {
        let authority = try #require(held.server.configuration.tls?.secure.authority)
        let certificate = try NIOSSLCertificate(bytes: Array(authority.utf8), format: .pem)
        return try await HTTP2Connection.open(port: port, trusting: .certificates([certificate]))
    }

    /// A stream that was reset counts until its request is done: its job waits in line all the same.
    @Test func atMost100StreamsAreInProgressWhetherOrNotTheyWereReset() throws {
        let loop = EmbeddedEventLoop()
        let admission = StreamAdmission(on: loop, WaitingAnswers(), idleTime: .hours(1)) {}
        let read = NIOLockedValueBox(0)
        let tickets = (0..<180).map { _ in StreamTicket(admission) }
        for ticket in tickets { ticket.admit { read.withLockedValue { $0 += 1 } } }
        // Requests whose answers are late no longer count for bytes.
        loop.advanceTime(by: .seconds(60))
        #expect(read.withLockedValue { $0 } == 100)
        for ticket in tickets[..<50] { ticket.end() }
        loop.advanceTime(by: .seconds(60))
        #expect(read.withLockedValue { $0 } == 100, "they are not done")
        for ticket in tickets[..<50] { admission.finished(ticket) }
        loop.advanceTime(by: .seconds(60))
        #expect(read.withLockedValue { $0 } == 150)
        // Streams that end before they are read are never read.
        for ticket in tickets[150...] { ticket.end() }
        for ticket in tickets[50..<150] { admission.finished(ticket) }
        loop.advanceTime(by: .seconds(60))
        #expect(read.withLockedValue { $0 } == 150)
    }

    /// Answers may be late because the server is busy: it must not begin thousands of requests then.
    @Test func aBusyServerBeginsFewRequestsMoreAndAnIdleOneSoon() throws {
        let loop = EmbeddedEventLoop()
        func reads(connections: Int, after time: TimeAmount) -> Int {
            let all = WaitingAnswers()
            let read = NIOLockedValueBox(0)
            for _ in 0..<connections {
                let admission = StreamAdmission(on: loop, all, idleTime: .hours(1)) {}
                for _ in 0..<100 { StreamTicket(admission).admit { read.withLockedValue { $0 += 1 } } }
            }
            loop.advanceTime(by: time)
            defer { loop.advanceTime(by: .seconds(60)) }
            return read.withLockedValue { $0 }
        }
        // Eight expected answers fill a connection.
        #expect(reads(connections: 40, after: .zero) == 40 * 8)
        #expect(reads(connections: 40, after: .seconds(1)) < 500)
        #expect(reads(connections: 40, after: .seconds(60)) == 40 * 100)
        #expect(reads(connections: 1, after: .milliseconds(200)) == 16)
        #expect(reads(connections: 1, after: .seconds(3)) == 100)
    }

    @Test(.timeLimit(.minutes(15))) func streamsThatAreResetLeaveAtMost100JobsInLine() async throws {
        try await HeldServer.listening(with: try Self.port()) { held, _, port in
            let connection = try await Self.connect(held, port)
            let before = try held.namespace.mailbox.lastPlace
            let last = try await held.holding {
                var streams: [UInt32] = []
                for _ in 0..<100 { streams.append(try await connection.begin("GET", "/sdk/session")) }
                await held.wait { held.waiting == 100 }
                for stream in streams { try await connection.reset(stream) }
                // The library ends a connection with more than 200 resets in half a minute.
                for _ in 0..<90 { try await connection.reset(try await connection.begin("GET", "/sdk/session")) }
                let last = try await connection.begin("GET", "/sdk/session")
                try await connection.roundTrip()
                return last
            }
            #expect(try await connection.answer(last).status == 401)
            // The gate, those that were in line before they were reset, and the last one.
            #expect(try held.namespace.mailbox.lastPlace - before == 1 + 100 + 1)
            #expect(held.server.namespaces.environment.journals.entries(of: "default").count == 1)
            try await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(15))) func aStreamThatIsResetLosesItsReadAndKeepsItsWrite() async throws {
        try await HeldServer.listening(with: try Self.port()) { held, _, port in
            let connection = try await Self.connect(held, port)
            try await held.holding {
                let streams = [
                    try await connection.begin("GET", "/sdk/session"),
                    try await connection.begin(
                        "PATCH", "/_sim/settings", [("content-type", "application/json")],
                        body: Array(#"{"journal": {"entries": 77}}"#.utf8)),
                ]
                await held.wait { held.waiting == 2 }
                for stream in streams { try await connection.reset(stream) }
                try await connection.roundTrip()
            }
            #expect(try await held.ask(.get, "/_sim/settings").text.contains("\"entries\":77"))
            #expect(held.server.namespaces.environment.journals.entries(of: "default").isEmpty)
            try await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(15))) func aPipelinedRequestWaitsForTheAnswerBeforeIt() async throws {
        let count = 150
        try await HeldServer.listening(with: try Self.port()) { held, port, _ in
            func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
                try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: "127.0.0.1", port: port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                        }
                    }
            }
            let request = "GET /sdk/session HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let other = try await connect()
            try await connect().executeThenClose { inbound, outbound in
                try await other.executeThenClose { _, otherOutbound in
                    try await held.holding {
                        try await outbound.write(ByteBuffer(string: String(repeating: request, count: count)))
                        await held.wait { held.waiting == 1 }
                        // It comes after all of them.
                        try await otherOutbound.write(ByteBuffer(string: request))
                        await held.wait { held.waiting > 1 }
                        #expect(held.waiting == 2)
                    }
                    var text = ""
                    for try await part in inbound {
                        text += String(buffer: part)
                        if text.components(separatedBy: "HTTP/1.1 ").count == count + 1 { break }
                    }
                }
            }
            await held.wait { held.server.namespaces.environment.journals.entries(of: "default").count == count + 1 }
        }
    }
}
