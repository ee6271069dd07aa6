import Foundation
import Hashes
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage

/// The members that name the format of a file, in every version of it.
struct FileKind: Decodable {
    let format: String
    let format_version: Int
    let version: String?
}

/// The reason why a file cannot be replayed.
package struct RecordingError: Error, CustomStringConvertible {
    package let description: String
}

/// A recording read from its file and checked.
///
/// Requests run concurrently, and each is written when it ends. So a killed server leaves gaps: jobs of requests that
/// were never written. The jobs before the first gap can be replayed exactly. A job after it may depend on what is
/// missing.
package struct Recording: Sendable {
    package let head: RecordingHead
    /// Sorted by the places of their first jobs.
    package let entries: [RecordedEntry]
    /// The number of requests in the file.
    package let requests: Int
    /// The first place that no job has. All jobs before it can be replayed exactly.
    package let end: Int
    /// Whether a place, a body or the rest of the last line is missing.
    package let isCut: Bool

    /// Reads a recording, on a thread that may block.
    ///
    /// - Throws: ``RecordingError`` naming the invalid line; `CancellationError`.
    package static func read(_ path: String) async throws -> Recording {
        let isCancelled = NIOLockedValueBox(false)
        return try await withTaskCancellationHandler {
            try await NIOThreadPool.singleton.runIfActive {
                try RecordingReader.read(path) {
                    if isCancelled.withLockedValue({ $0 }) { throw CancellationError() }
                }
            }
        } onCancel: {
            isCancelled.withLockedValue { $0 = true }
        }
    }
}

/// Reads the file of a recording.
private struct RecordingReader {
    private let path: String
    private let head: RecordingHead
    /// The decoded lines, with their line numbers.
    private var lines: [(number: Int, entry: RecordedEntry)] = []
    private var isCut = false

    /// The number of lines between two looks at whether the task was cancelled.
    private static let batch = 500

    static func read(_ path: String, checkCancellation: () throws -> Void) throws -> Recording {
        var parts = try bytes(path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let first = parts.removeFirst()
        var reader = RecordingReader(path: path, head: try head(Data(first), path))
        for (index, part) in zip(parts.indices, parts) where !part.isEmpty {
            // A process that is killed while it writes leaves an incomplete line, without a line end.
            try reader.add(Data(part), number: index + 1, isEnded: index + 1 < parts.endIndex)
            if index % batch == 0 { try checkCancellation() }
        }
        return try reader.recording()
    }

    private static func bytes(_ path: String) throws -> Data {
        func refusal(_ problem: String) -> RecordingError {
            RecordingError(description: "the recording \(path) cannot be read: \(problem)")
        }
        // Reading anything but a regular file could block.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(String(cString: strerror(errno))) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refusal("it is not a file")
        }
        do {
            return try file.readToEnd() ?? Data()
        } catch {
            throw refusal(error.localizedDescription)
        }
    }

    /// Reads the first line, the server's configuration.
    private static func head(_ line: Data, _ path: String) throws -> RecordingHead {
        func refusal(_ problem: String) -> RecordingError { RecordingError(description: "\(path):1: \(problem)") }
        guard let kind = try? WireJSON.decode(FileKind.self, from: line), kind.format == "entrupy-sim recording",
            kind.format_version >= 1
        else {
            throw refusal(
                "is not a recording of entrupy-sim, or its first line is incomplete; serve --record writes one")
        }
        guard kind.format_version <= RecordingHead.currentVersion else {
            throw refusal(
                "was written by a newer version of entrupy-sim: its format is version \(kind.format_version), this program knows up to \(RecordingHead.currentVersion)"
            )
        }
        guard let head = try? WireJSON.decode(RecordingHead.self, from: line), head.isPlausible else {
            throw refusal("is not as entrupy-sim writes it")
        }
        return head
    }

    private mutating func add(_ line: Data, number: Int, isEnded: Bool) throws {
        guard let entry = try? WireJSON.decode(RecordedEntry.self, from: line) else {
            guard isEnded else { return isCut = true }
            throw RecordingError(description: "\(path):\(number): is damaged: it is not as entrupy-sim writes it")
        }
        if let problem = entry.problem { throw RecordingError(description: "\(path):\(number): \(problem)") }
        lines.append((number, entry))
    }

    private mutating func recording() throws -> Recording {
        let requests = lines.count { $0.entry.request != nil }
        dropAnsweredHolds()
        try resolveBodies()
        let end = try findEnd()
        return Recording(
            head: head, entries: lines.map(\.entry).sorted { $0.place < $1.place }, requests: requests, end: end,
            isCut: isCut)
    }

    /// Drops the lines of held requests that have another line, with their answer or a later one of the hold.
    private mutating func dropAnsweredHolds() {
        let answered = Set(lines.filter { $0.entry.request != nil }.map(\.entry.place))
        let last = Dictionary(
            lines.filter { $0.entry.isUnanswered }.map { ($0.entry.place, $0.number) }, uniquingKeysWith: max)
        lines = lines.filter { line in
            !line.entry.isUnanswered
                || !answered.contains(line.entry.place) && last[line.entry.place] == line.number
        }
    }

    /// Inserts bodies that have lines of their own into the requests that refer to them. Drops a request whose body
    /// is missing.
    private mutating func resolveBodies() throws {
        var blobs: [String: RecordedBytes] = [:]
        for blob in lines.compactMap(\.entry.blob) { blobs[Hex.string(SHA256.hash(data: blob.data))] = blob }
        lines = lines.compactMap { line in
            guard line.entry.blob == nil else { return nil }
            guard let hash = (line.entry.request ?? line.entry.held)?.body?.sha256 else { return line }
            guard let blob = blobs[hash] else {
                isCut = true
                return nil
            }
            var line = line
            line.entry.request?.body = blob
            line.entry.held?.body = blob
            return line
        }
    }

    /// The first place that no job has.
    private mutating func findEnd() throws -> Int {
        let places = lines.flatMap { line in line.entry.jobs.map { (place: $0.place, number: line.number) } }
            .sorted { ($0.place, $0.number) < ($1.place, $1.number) }
        for (one, other) in zip(places, places.dropFirst()) where one.place == other.place {
            throw RecordingError(
                description: "\(path):\(other.number): the place \(one.place) is already taken by line \(one.number)")
        }
        let end = zip(places.indices, places).first { $0 != $1.place }?.0 ?? places.count
        if end < places.count { isCut = true }
        return end
    }
}

// The contents of a file are not trusted: anything that no recorder writes is refused before it is used.

extension RecordingHead {
    /// Whether its numbers are possible for a server.
    fileprivate var isPlausible: Bool {
        (0..<1 << 53).contains(random_seed) && (0...Instant.end.microseconds).contains(started_at)
    }
}

extension RecordedEntry {
    /// The problem with the entry; `nil` if a recorder may have written it.
    fileprivate var problem: String? {
        let kinds = [
            request != nil, held != nil, outcome != nil, undelivered != nil, dropped != nil, ticked != nil,
            blob != nil,
        ].count { $0 }
        guard kinds == 1 else {
            return "is not as entrupy-sim writes it: it must have exactly one kind of content"
        }
        guard jobs.isEmpty == (blob != nil) else {
            return "is not as entrupy-sim writes it: " + (blob == nil ? "it has no jobs" : "a blob must have no jobs")
        }
        guard jobs.allSatisfy({ $0.place >= 0 }), zip(jobs, jobs.dropFirst()).allSatisfy({ $0.place < $1.place }) else {
            return "the places of its jobs must be at least 0, and increase"
        }
        guard jobs.allSatisfy({ (0...Instant.end.microseconds).contains($0.real) }) else {
            return "the times of its jobs must be from 1970 to 9999"
        }
        return request?.problem ?? held?.problem ?? outcome?.problem ?? blob?.problem
    }
}

extension RecordedRequest {
    fileprivate var problem: String? {
        guard method.isHTTPToken else { return "the method is not valid in HTTP" }
        guard !target.isEmpty, target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            return "the target is not valid in HTTP"
        }
        let fields = headers + (host.map { [["Host", $0]] } ?? [])
        guard fields.allSatisfy({ $0.count == 2 && $0[0].isHTTPToken && Self.isValue($0[1]) }) else {
            return "a header is not valid in HTTP"
        }
        guard inFlightCounts?.allSatisfy({ (0...1_000_000_000).contains($0) }) ?? true else {
            return "a count of webhooks must be 0 to 1000000000"
        }
        if let real {
            guard real.count == 2, real.allSatisfy({ (0...Instant.end.microseconds).contains($0) }), real[0] <= real[1]
            else { return "the real times of a request must be two, in order, from 1970 to 9999" }
        }
        return body?.problem ?? answer?.problem
    }

    /// RFC 9110, section 5.5.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7f }
    }
}

extension RecordedBytes {
    fileprivate var problem: String? {
        let isWhole = base64.map { Data(base64Encoded: $0) != nil } ?? true
        return isWhole && [text, base64, sha256].count { $0 != nil } == 1
            ? nil : "a body is not as entrupy-sim writes it"
    }
}

extension RecordedOutcome {
    fileprivate var problem: String? {
        guard (0...1e12).contains(milliseconds) else { return "an attempt's duration must be 0 to 1e12 ms" }
        guard status.map({ (100...999).contains($0) }) ?? true else { return "an attempt's status must be 100 to 999" }
        return nil
    }
}
