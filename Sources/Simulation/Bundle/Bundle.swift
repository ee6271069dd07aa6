import Foundation
import SimulationAPI
import Storage

/// The names of a bundle's files, besides those of a snapshot.
package enum BundleNames {
    package static let format = "entrupy-sim bundle"
    package static let journal = "journal.json"
    package static let har = "journal.har"
    package static let events = "events.ndjson"
    package static let settings = "settings.json"
    package static let seed = "seed.yaml"

    package static let all: Set = [journal, har, events, settings, seed]
    /// The name of the snapshot that opening a bundle creates.
    package static let snapshot = "bundle"
    /// The maximum size of a journal that is read, in bytes.
    package static let maxJournal = 500_000_000
}

/// The journal in a bundle, oldest request first.
struct BundledJournal: Decodable {
    let requests: [JournaledRequest]
    /// How far the journal had forgotten its requests; absent if it had not.
    let forgotten: Limit?

    struct Limit: Codable {
        /// As in ``Forgotten``; the time in epoch seconds.
        let at: Double
        let sequence: Int64

        init(_ forgotten: Forgotten) { (at, sequence) = (forgotten.at.epoch, forgotten.sequence) }

        /// `nil` if this program cannot have written it.
        var read: Forgotten? {
            guard let at = Instant(epoch: at), 1...JournaledRequest.maxSequence ~= sequence else { return nil }
            return Forgotten(at: at, sequence: sequence)
        }
    }
}

private struct BundledEvent: Encodable {
    let sequence: Int64
    let at: Double
    let kind: String
    let subject: String
    let data: JSONValue
    /// Absent if it is not known.
    let cause: String?
}

extension Namespace {
    /// `GET /_sim/bundle`: the whole namespace as one file, for later analysis: database, images, journal, events,
    /// settings and seed data [D bundle].
    ///
    /// - Parameter version: the program's version.
    package func bundle(version: String, _ head: RequestHead) async -> Completed<SnapshotDownload> {
        await runLongOperation(head) { [self] in try await environment.copyingImages { try await bundled(version) } }
    }

    private func bundled(_ version: String) async throws -> SnapshotDownload {
        let (copy, moment) = try await copied()
        let control = RequestHead.background
        let settings = try await answer(.success(ShowSettings()), control).result.get()
        let seed = try await answer(.success(ExportSeed()), control).result.get().yaml
        let har = try await answer(.success(ExportRequests(JournalQuery())), control).result.get()
        let journal = try await answer(.success(ExportRequests(JournalQuery(), as: .requests)), control).result.get()
        let secrets = try await run(control, .reads) { try $0.state.readSecrets($0.transaction) }.result.get()
        let (environment, name) = (environment, name)
        return try await environment.copying {
            let snapshot = try environment.snapshots.unnamed(copy, of: name) {
                try StoredJSON.encode(environment.describe($0, name: BundleNames.snapshot, namespace: name, moment))
            }
            defer { snapshot.discard() }
            let journal = try environment.file(of: journal)
            defer { unlink(journal) }
            let har = try environment.file(of: har)
            defer { unlink(har) }
            let events = try environment.snapshots.temporaryPath()
            defer { unlink(events) }
            try snapshot.read { try Self.write(events: $0, Secrets(secrets), to: events) }
            return try environment.pack(
                snapshot, as: BundleNames.format, version: version,
                more: [
                    .init(BundleNames.settings, WireJSON.encode(settings)),
                    .init(BundleNames.seed, Data(seed.utf8)),
                    .init(BundleNames.journal, opening: journal), .init(BundleNames.har, opening: har),
                    .init(BundleNames.events, opening: events),
                ])
        }
    }

    /// Writes the event log to a file, one object per line.
    private static func write(events transaction: Transaction, _ secrets: Secrets, to path: String) throws {
        let file = try PrivateFile.create(at: path)
        defer { try? file.close() }
        var last: Int64 = 0
        while true {
            let page = try transaction.events(after: last, limit: 1000)
            guard let end = page.last?.sequence else { return }
            last = end
            var lines = Data()
            for event in page.map({ secrets.masked($0) }) {
                lines += try WireJSON.encode(
                    BundledEvent(
                        sequence: event.sequence, at: event.at.epoch, kind: event.kind, subject: event.subject,
                        data: StoredJSON.decode(event.data), cause: event.cause?.id))
                lines.append(UInt8(ascii: "\n"))
            }
            try file.write(contentsOf: lines)
        }
    }
}

extension Environment {
    /// Writes a journal to a temporary file and returns its path. The caller removes the file. Blocks.
    fileprivate func file(of journal: JournalExport) throws -> String {
        let path = try snapshots.temporaryPath()
        let file = try PrivateFile.create(at: path)
        defer { try? file.close() }
        do {
            while let piece = try journal.next() { try file.write(contentsOf: piece) }
        } catch {
            unlink(path)
            throw StorageError.unavailable("\(path) cannot be written: \(StorageError.reason(error))")
        }
        return path
    }
}

extension Namespaces {
    /// Creates the default namespace from a bundle or a snapshot's archive [D bundle]. Its clock is frozen at the
    /// saved moment, its journal is restored, and webhook attempts that were in flight are not made again. Also saves
    /// the contents as a snapshot, which can be restored later.
    ///
    /// - Throws: ``PlatformError`` if the file is not a valid bundle.
    package func open(bundle path: String) async throws {
        let name = Self.defaultName
        do {
            let (requests, forgotten) = try await environment.copying { [environment] in
                _ = try environment.unpack(ArchiveReader(path: path), as: BundleNames.snapshot, of: name)
                return try Self.journal(in: path)
            }
            guard let snapshot = try environment.snapshots.find(name, BundleNames.snapshot) else {
                throw PlatformError.bug("the bundle's snapshot is missing")
            }
            let made = try await fork(snapshot, as: name, ttl: nil, isFrozen: true)
            _ = await made.run(.background, .reads) { job in
                let journals = job.state.environment.journals
                journals.begin(name, after: forgotten)
                var last: Int64 = 0
                for request in requests {
                    var entry = JournalEntry(request, job)
                    // An entry keeps its number, unless an earlier one has it.
                    entry.sequence = max(last + 1, entry.sequence)
                    last = entry.sequence
                    journals.append(entry, to: name, job.settings.journal)
                }
                job.state.continueSequences(after: max(last, forgotten?.sequence ?? 0))
            }
        } catch {
            let refusal = PlatformError(carrying: error)
            let reason =
                switch error {
                case StorageError.foreign(let reason): reason
                case StorageError.invalidRow(let row): "world.sqlite, \(row)"
                case StorageError.newerSchema(_, let found, let known):
                    "it was written by a newer version of entrupy-sim: its schema is version \(found), this program knows up to \(known)"
                default: "\(refusal)"
                }
            let problem = "the bundle \(path) cannot be opened: \(reason)"
            if refusal.kind == .invalid { throw PlatformError.invalid(problem, []) }
            throw PlatformError.wrongState(problem)
        }
    }

    /// The requests in a bundle, and what its journal had forgotten; nothing for a snapshot's archive.
    private static func journal(in path: String) throws -> ([JournaledRequest], Forgotten?) {
        var reader = try ArchiveReader(path: path)
        while let entry = try reader.next() {
            guard entry.name == BundleNames.journal else { continue }
            guard entry.size <= BundleNames.maxJournal else { throw StorageError.foreign("journal.json is too large") }
            let journal: BundledJournal
            do {
                journal = try WireJSON.decode(BundledJournal.self, from: reader.all())
            } catch is DecodingError {
                throw StorageError.foreign("journal.json is not as entrupy-sim writes it")
            }
            for (index, request) in journal.requests.enumerated() {
                guard let problem = request.problem else { continue }
                throw StorageError.foreign("journal.json, request \(index): \(problem)")
            }
            let forgotten = journal.forgotten?.read
            if journal.forgotten != nil, forgotten == nil {
                throw StorageError.foreign(
                    "journal.json, forgotten: must have a time from 1970 to 9999 and a number of a request")
            }
            return (journal.requests, forgotten)
        }
        return ([], nil)
    }
}

extension JournaledRequest {
    /// The maximum length of a body in bytes, and of a duration in milliseconds. Sums of such values do not overflow.
    private static let maxBytes = 1_000_000_000_000
    /// The largest number of a request, far below those that JSON's numbers and additions allow.
    fileprivate static let maxSequence: Int64 = 1_000_000_000_000

    /// The problem with a request that was read back; `nil` if this program may have written it.
    fileprivate var problem: String? {
        if Instant(epoch: at) == nil { return "at must be a time from 1970 to 9999, got \(at)" }
        if let sequence, !(1...Self.maxSequence).contains(sequence) {
            return "sequence must be from 1 to \(Self.maxSequence), got \(sequence)"
        }
        if status == nil, delivered { return "status must be from 100 to 999 where delivered is true, got null" }
        if let status, !(100...999).contains(status) { return "status must be from 100 to 999, got \(status)" }
        if !(0...Double(Self.maxBytes)).contains(duration_ms) {
            return "duration_ms must be from 0 to \(Self.maxBytes), got \(duration_ms)"
        }
        guard [started_real, ended_real].allSatisfy({ $0.map { Instant(epoch: $0) != nil } ?? true }),
            (started_real == nil) == (ended_real == nil), started_real ?? 0 <= ended_real ?? 0
        else {
            return "started_real and ended_real must be times from 1970 to 9999, in this order, or both null"
        }
        for (name, message) in [("request", request), ("response", response)] {
            guard let message, !(0...Self.maxBytes).contains(message.bytes) else { continue }
            return "\(name).bytes must be from 0 to \(Self.maxBytes), got \(message.bytes)"
        }
        return nil
    }
}

extension JournalEntry {
    /// The greatest number of an event that can be asked for.
    private static let maxSequence: Int64 = 9_007_199_254_740_991

    /// Creates an entry from a request that was read back. Masked texts stay masked.
    fileprivate init(_ request: JournaledRequest, _ job: JobContext) {
        var outcome = RequestOutcome(
            request.sequence ?? 0, at: Instant(epoch: request.at) ?? job.now,
            moved: request.moved.flatMap { Instant(epoch: $0) }.map { Span(microseconds: $0.microseconds) } ?? .zero,
            generation: job.state.generation, journal: job.settings.journal, secrets: [])
        outcome.change { outcome in
            outcome.username = request.username
            // A file from outside may have any numbers.
            outcome.changes = request.changes.flatMap { changes in
                let (after, through) = (changes.after, changes.through)
                return after >= 0 && after <= through && through <= Self.maxSequence ? (after, through) : nil
            }
            outcome.fault = request.decided_by.fault.map { id in
                // A size that cannot be known only makes the journal's estimate of its memory a little smaller.
                let bytes = request.effect.flatMap { try? WireJSON.encode($0).count } ?? 0
                let proves = job.state.environment.platforms.proof(of: request.effect)
                return TriggeredFault(id: id, effect: nil, proves: proves, document: request.effect, bytes: bytes)
            }
            outcome.limits = request.decided_by.limits
            outcome.outcomeID = request.decided_by.outcome
            outcome.because = request.because
            outcome.facts = request.decided_by.facts ?? []
            outcome.state = request.decided_by.state
            outcome.trace = request.trace.flatMap { TraceContext(stored: "\($0)-00") }
        }
        self.init(
            requestID: request.id, method: request.method, path: request.path,
            query: request.query.map { "?\($0)" } ?? "", status: request.status,
            isDelivered: request.delivered, milliseconds: request.duration_ms, outcome: outcome,
            request: Message(request.request), response: Message(request.response))
        if let started = request.started_real.flatMap({ Instant(epoch: $0) }),
            let ended = request.ended_real.flatMap({ Instant(epoch: $0) })
        {
            times = RequestTimes(started: started, ended: ended)
        }
        isMasked = true
        storedDigests = request.digests
        connection = request.connection
        isResent = request.resent ?? false
    }
}

extension JournalEntry.Message {
    private struct Stored: JournalHeaders, JournalBody {
        let pairs: [(name: String, value: String)]
        let data: Data
    }

    fileprivate init(_ message: JournaledMessage?) {
        let length = message?.bytes ?? 0
        // A bundle does not hold bodies that are not text. One invalid byte represents them.
        let body = message?.body.map { Data($0.utf8) } ?? Data(length > 0 ? [0xff] : [])
        let headers = (message?.headers ?? []).compactMap { $0.count == 2 ? (name: $0[0], value: $0[1]) : nil }
        let stored = Stored(pairs: headers, data: body)
        self.init(
            length: length, kept: message?.truncated == true ? max(0, min(body.count, length - 1)) : length,
            headers: stored, body: stored)
    }
}
