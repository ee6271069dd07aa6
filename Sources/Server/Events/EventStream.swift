import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Simulation
import SimulationAPI

/// The server-sent events of one listener [D events]. Sends past events on request, then new events, until the client
/// or the namespace ends the stream.
struct EventStream: Sendable {
    let namespace: Namespace
    let topics: Set<FeedEntry.Topic>
    /// The sequence number after which the event log is replayed first. `nil` if it is not.
    let since: Int64?
    /// The last event that the listener received.
    let resume: (epoch: String, number: Int64)?
    let channel: any Channel

    /// The time between heartbeats on an idle stream. They reveal a lost listener, and tell a listener that the
    /// stream is alive.
    private static let heartbeat = TimeAmount.seconds(15)

    /// The size at which collected events are written, in bytes.
    private static let part = 65_536

    func run(_ writer: inout any ResponseBodyWriter) async throws {
        let channel = channel
        // A listener that reads nothing blocks only its own connection, which is then closed.
        let (start, signals, id) = namespace.feed.listen(to: topics, resume: resume) { channel.close(promise: nil) }
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
        let written = if let since { try await writePast(after: since, &writer) } else { Int64(0) }
        for entry in start.backlog {
            try await writer.write(ByteBuffer(string: Self.text(entry, start.epoch, namespace.name)))
        }
        // Written at once, so that the listener knows that it is connected, and where it can resume.
        try await writer.write(ByteBuffer(string: "id: \(start.epoch)-\(start.number)\nevent: open\ndata: {}\n\n"))
        for await _ in signals.cancelOnGracefulShutdown() {
            try await writeNew(id, start.epoch, after: written, &writer)
        }
        // The last events announce the end of the stream.
        try await writeNew(id, start.epoch, after: written, &writer)
    }

    /// Writes the new events, or a heartbeat if there are none.
    private func writeNew(
        _ id: Int, _ epoch: String, after written: Int64, _ writer: inout any ResponseBodyWriter
    ) async throws {
        guard let (entries, hasBeat) = namespace.feed.take(id) else { return }
        var text = hasBeat && entries.isEmpty ? ":\n\n" : ""
        for entry in entries {
            // Events from the time of the replay were already sent with it.
            if let sequence = entry.sequence, sequence <= written { continue }
            text += try Self.text(entry, epoch, namespace.name)
            guard text.utf8.count > Self.part else { continue }
            try await writer.write(ByteBuffer(string: text))
            text = ""
        }
        if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
    }

    /// Writes the event log up to now. Returns the last sequence number.
    private func writePast(after sequence: Int64, _ writer: inout any ResponseBodyWriter) async throws -> Int64 {
        var last = sequence
        while true {
            let page = await namespace.answer(.success(ReadLog(after: last)), .background)
            guard let changes = try? page.result.get(), let end = changes.last else { return last }
            for change in changes {
                let topic = FeedEntry.Topic(ofKind: change.kind)
                if topics.contains(topic) { try await write(topic.rawValue, change, &writer) }
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
