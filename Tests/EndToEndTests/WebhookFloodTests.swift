import SimulationAPI
import TestSupport
import Testing

/// Receivers that send without end. Each costs its own attempt and little processor time.
@Suite(.serialized) struct WebhookFloodTests {
    /// A server of its own: the test measures its CPU time.
    private static let server = Task { try await SimProcess(["--in-memory", "--rate-limits", "off"]) }

    private let server: SimProcess

    init() async throws {
        server = try await Self.server.value
    }

    struct Flood: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reply: HostileServer.Reply
        /// The status before the flood; `nil` if the answer's head does not end.
        let status: Int?
        /// Any of these.
        let errors: [String?]

        fileprivate init(
            _ name: String, _ reply: HostileServer.Reply, status: Int? = nil, errors: [String?] = [tooLong]
        ) {
            testDescription = name
            self.reply = reply
            self.status = status
            self.errors = errors
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let tooLong =
        "the receiver sent more than 65536 bytes, or more than 1000 pieces, and its answer did not end"
    private static let tooManyFields = "the receiver's answer has too many header fields"
    /// More than any bound of the server.
    private static let bytes = Array(repeating: "x", count: 100_000)

    static let floods = [
        Flood("informational answers", .endless(head: "", part: "HTTP/1.1 100 Continue\r\n\r\n")),
        Flood("short informational answers", .endless(head: "", part: repeated("HTTP/1.1 100\r\n\r\n"))),
        Flood("empty lines before the head", .endless(head: "", part: repeated("\r\n"))),
        Flood("header lines", .endless(head: ok, part: repeated("X-A: b\r\n")), errors: [tooManyFields]),
        Flood("a header line", .endless(head: ok + "X-A: ", part: repeated("x"))),
        Flood("a header line, byte by byte", .drip(head: ok + "X-A: ", parts: bytes, pause: .microseconds(200))),
        Flood("extensions of a chunk", .endless(head: chunked + "4;a=", part: repeated("x")), status: 200),
        Flood("extensions of chunks", .endless(head: chunked, part: "1;\(repeated("x"))\r\nx\r\n"), status: 200),
        Flood(
            "extensions of a chunk, byte by byte",
            .drip(head: chunked + "4;a=", parts: bytes, pause: .microseconds(200)), status: 200),
        Flood("a chunk's size", .endless(head: chunked, part: repeated("0")), status: 200),
        Flood(
            "trailers", .endless(head: chunked + "4\r\nseen\r\n0\r\n", part: repeated("X-A: b\r\n")), status: 200,
            errors: [tooManyFields]),
        Flood("a trailer", .endless(head: chunked + "4\r\nseen\r\n0\r\nX-A: ", part: repeated("x")), status: 200),
        // Their first 1000 bytes are an answer.
        Flood("a body", .endless(head: ok + "\r\n", part: repeated("x")), status: 200, errors: [nil]),
        Flood("chunks of a byte", .endless(head: chunked, part: repeated("1\r\nx\r\n")), status: 200, errors: [nil]),
        // They may come in as many pieces as are read.
        Flood(
            "a body, byte by byte", .drip(head: ok + "\r\n", parts: bytes, pause: .microseconds(200)), status: 200,
            errors: [nil, tooLong]),
    ]

    private static func repeated(_ text: String) -> String { String(repeating: text, count: 100) }

    /// The largest allowed CPU time of an attempt, in seconds.
    private static let most = 0.1
    /// The largest allowed multiple of an attempt that is answered at once. It counts where that is more, as in a build with a
    /// sanitizer.
    private static let mostTimes = 25.0

    @Test(arguments: floods) func aFloodCostsItsOwnAttemptAndLittleTime(flood: Flood) async throws {
        let receiver = try await HostileServer(flood.reply)
        defer { receiver.stop() }
        let found = try await attempts(at: receiver.url)
        for delivery in found.deliveries {
            #expect(delivery["status"].text == (flood.status == nil ? "failed" : "delivered"), "the status decides")
            #expect(delivery["attempts"].items.count == 1)
            #expect(delivery["attempts.0.status"].integer == flood.status)
            #expect(flood.errors.contains(delivery["attempts.0.error"].text), "\(delivery)")
        }

        let plain = try await HostileServer(.end(Self.ok + "Content-Length: 4\r\n\r\nseen"))
        defer { plain.stop() }
        let bound = max(Self.most, try await attempts(at: plain.url).cost * Self.mostTimes)
        var cost = found.cost
        // A busy machine makes everything dearer for a while.
        for _ in 0..<3 where cost > bound { cost = min(cost, try await attempts(at: receiver.url).cost) }
        #expect(cost <= bound, "an attempt took \(cost) s of CPU time")
    }

    /// Makes attempts at a receiver, while another namespace's deliveries arrive.
    ///
    /// - Returns: the deliveries, and the CPU time of one attempt in seconds.
    private func attempts(at url: String) async throws -> (cost: Double, deliveries: [JSONValue]) {
        let count = 4
        let world = try await TestWorld.withoutLimits(in: server)
        // The bounds end an attempt, and not the time.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "300s", "retries": []]])
        try await world.subscribe(url: url, ["events": ["session.updated"]])
        let made = try await world.send("POST", "/_sim/authentications", ["count": .number(JSONNumber(count))])
        let neighbour = try await TestWorld.withoutLimits(in: server)
        let healthy = try await WebhookReceiver.open()
        try await neighbour.subscribe(healthy, ["events": ["session.completed"]])

        let before = try server.processorTime()
        for item in made["entrupy_ids"].items {
            _ = try await world.send(
                "POST", "/_sim/webhooks/trigger", ["event": "session.updated", "entrupy_id": item])
        }
        _ = try await neighbour.generatedItem()
        try await neighbour.settleWebhooks()
        #expect(try await neighbour.webhookDeliveries().map { $0["status"].text } == ["delivered"])
        try await world.settleWebhooks()
        let cost = (try server.processorTime() - before) / Double(count)
        let deliveries = try await world.webhookDeliveries()
        try #require(deliveries.count == count)
        try await healthy.close()
        return (cost, deliveries)
    }
}
