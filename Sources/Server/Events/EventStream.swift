import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Simulation
import SimulationAPI

/// The server-sent events of one listener [D events]. Sends past events on request, then new events, until the client
/// or the namespace ends the stream.
struct EventStream: Sendable {
    /// The parameters of a stream.
    struct Query: Sendable {
        var topics: Set<FeedEntry.Topic>
        /// The sequence number after which the event log is replayed first. `nil` if it is not.
        var since: Int64?
        /// The event that ends the stream; `nil` if the listener ends it.
        var until: EventCondition?
        /// The last event that a reconnecting listener received.
        var resume: (epoch: String, number: Int64)?
    }

    let namespace: Namespace
    let query: Query
    let channel: any Channel

    /// The time between heartbeats on an idle stream. They reveal a lost listener, and tell a listener that the
    /// stream is alive.
    private static let heartbeat = TimeAmount.seconds(15)

    /// The size at which collected events are written, in bytes.
    private static let part = 65_536

    func run(_ writer: inout any ResponseBodyWriter) async throws {
        let (channel, until, since, resume) = (channel, query.until, query.since, query.resume)
        // A listener that reads nothing blocks only its own connection, which is then closed.
        let heard = query.topics.union(until.map { [$0.topic] } ?? [])
        let (start, signals, id) = namespace.feed.listen(to: heard, resume: resume) { channel.close(promise: nil) }
        let feed = namespace.feed
        defer { feed.leave(id) }
        channel.closeFuture.whenComplete { _ in feed.leave(id) }
        let timer = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.heartbeat, delay: Self.heartbeat) { _ in
            feed.heartbeat(id)
        }
        defer { timer.cancel() }

        try await writer.write(ByteBuffer(string: "retry: 1000\n: events of \(namespace.name)\n\n"))
        // The event has no id. A listener that is cut off before the next event resumes from its old position and
        // gets all of it.
        if let gap = start.gap { try await write("gap", gap, &writer) }
        // A test that waits must not miss what happened before its request arrived: the whole log counts.
        let isWaiting = until != nil && since == nil && resume == nil
        var written: Int64 = 0
        if let first = since ?? (isWaiting ? 0 : nil) {
            guard let last = try await writePast(after: first, isSilent: isWaiting, &writer) else { return }
            written = last
        }
        if try await write(start.backlog, start.epoch, after: .min, &writer) { return }
        // Written at once, so that the listener knows that it is connected, and where it can resume.
        try await writer.write(ByteBuffer(string: "id: \(start.epoch)-\(start.number)\nevent: open\ndata: {}\n\n"))
        for await _ in signals.cancelOnGracefulShutdown() {
            if try await writeNew(id, start.epoch, after: written, &writer) { return }
        }
        // The last events announce the end of the stream.
        _ = try await writeNew(id, start.epoch, after: written, &writer)
    }

    /// Writes the new events, or a heartbeat if there are none. Returns whether one of them ends the stream.
    private func writeNew(
        _ id: Int, _ epoch: String, after written: Int64, _ writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        guard let (entries, needsHeartbeat) = namespace.feed.take(id) else { return false }
        if needsHeartbeat, entries.isEmpty { try await writer.write(ByteBuffer(string: ":\n\n")) }
        return try await write(entries, epoch, after: written, &writer)
    }

    /// Writes events that the feed has. Returns whether one of them ends the stream.
    private func write(
        _ entries: [FeedEntry], _ epoch: String, after written: Int64, _ writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        var text = ""
        for entry in entries {
            // Events from the time of the replay were already sent with it.
            if let sequence = entry.sequence, sequence <= written { continue }
            let isEnd = try query.until?.isMet(by: entry) ?? false
            if isEnd || entry.topic.map(query.topics.contains) ?? true {
                text += try Self.text(entry, epoch, namespace.name)
            }
            if isEnd {
                try await writer.write(ByteBuffer(string: text))
                return true
            }
            guard text.utf8.count > Self.part else { continue }
            try await writer.write(ByteBuffer(string: text))
            text = ""
        }
        if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
        return false
    }

    /// Writes the event log up to now.
    ///
    /// - Parameter isSilent: whether only the event that ends the stream is written.
    /// - Returns: the last sequence number; `nil` if an event ends the stream.
    private func writePast(
        after sequence: Int64, isSilent: Bool, _ writer: inout any ResponseBodyWriter
    ) async throws -> Int64? {
        var last = sequence
        while true {
            let page = await namespace.readLog(after: last)
            guard let changes = try? page.result.get(), let end = changes.last else { return last }
            for change in changes {
                let topic = FeedEntry.Topic(ofKind: change.kind)
                let isEnd = query.until?.isMet(by: change) ?? false
                if isEnd || (query.topics.contains(topic) && !isSilent) {
                    try await write(topic.rawValue, change, &writer)
                }
                if isEnd { return nil }
            }
            last = end.sequence
        }
    }

    private static func text(_ entry: FeedEntry, _ epoch: String, _ namespace: String) throws -> String {
        "id: \(epoch)-\(entry.number)\nevent: \(entry.name)\ndata: \(try entry.data(namespace: namespace))\n\n"
    }

    /// Writes an event without an id.
    private func write(
        _ name: String, _ data: some Encodable, _ writer: inout any ResponseBodyWriter
    ) async throws {
        let text = String(decoding: try WireJSON.encode(data), as: UTF8.self)
        try await writer.write(
            ByteBuffer(string: "event: \(name)\ndata: \(text)\n\n"))
    }
}
