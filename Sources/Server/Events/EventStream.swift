import EntrupyAPI
import Foundation
import Hummingbird
import NIOCore
import Platform
import ServiceLifecycle

/// One listener's server-sent events: the past if it wants that, then what happens, until one of the two sides goes.
struct EventStream: Sendable {
    let namespace: Namespace
    let topics: Set<FeedEntry.Topic>
    /// Where the event log is told from before what happens now; nil: it is not.
    let since: Int64?
    /// The last event it heard.
    let resume: (epoch: String, number: Int64)?
    let channel: any Channel

    /// How often something is written where nothing happens, so that a listener that is gone is noticed, and one that is there
    /// is not thought to be gone.
    private static let beat = TimeAmount.seconds(15)

    /// How much is written at once, in bytes.
    private static let part = 65_536

    func run(_ writer: inout any ResponseBodyWriter) async throws {
        let channel = channel
        // One that takes nothing holds up its own connection alone, which then ends.
        let (start, signals, id) = namespace.feed.listen(to: topics, resume: resume) { channel.close(promise: nil) }
        let feed = namespace.feed
        defer { feed.leave(id) }
        channel.closeFuture.whenComplete { _ in feed.leave(id) }
        let timer = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.beat, delay: Self.beat) { _ in
            feed.beat(id)
        }
        defer { timer.cancel() }

        try await writer.write(ByteBuffer(string: "retry: 1000\n: events of \(namespace.name)\n\n"))
        // Without an id: whoever is cut off before the next event comes back for all of it.
        if let gap = start.gap { try await write("gap", gap, &writer) }
        let told = if let since { try await tellPast(after: since, &writer) } else { Int64(0) }
        for entry in start.backlog {
            try await writer.write(ByteBuffer(string: Self.text(entry, start.epoch, namespace.name)))
        }
        // Written at once, so that a listener knows that it is heard, and where it may come back to.
        try await writer.write(ByteBuffer(string: "id: \(start.epoch)-\(start.number)\nevent: open\ndata: {}\n\n"))
        for await _ in signals.cancelOnGracefulShutdown() {
            try await tellNew(id, start.epoch, after: told, &writer)
        }
        // The last thing that is told is that there will be nothing more.
        try await tellNew(id, start.epoch, after: told, &writer)
    }

    /// Tells what there is to take.
    private func tellNew(
        _ id: Int, _ epoch: String, after told: Int64, _ writer: inout any ResponseBodyWriter
    ) async throws {
        guard let (entries, hasBeat) = namespace.feed.take(id) else { return }
        var text = hasBeat && entries.isEmpty ? ":\n\n" : ""
        for entry in entries {
            // What happened while the past was told was told with it.
            if let sequence = entry.sequence, sequence <= told { continue }
            text += try Self.text(entry, epoch, namespace.name)
            guard text.utf8.count > Self.part else { continue }
            try await writer.write(ByteBuffer(string: text))
            text = ""
        }
        if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
    }

    /// Tells the event log up to now, and answers how far that was.
    private func tellPast(after sequence: Int64, _ writer: inout any ResponseBodyWriter) async throws -> Int64 {
        var last = sequence
        while true {
            let page = await namespace.answer(.success(ReadLog(after: last)), RequestHead(isControl: true))
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
