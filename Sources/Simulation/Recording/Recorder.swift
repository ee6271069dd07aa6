import Foundation
import Hashes
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage

/// The first line of a recording: the configuration that a replay starts the server with.
package struct RecordingHead: Codable, Sendable {
    package var format = "entrupy-sim recording"
    package var format_version = Self.currentVersion
    package var version: String
    package var random_seed: Int
    package var seed_name: String
    package var seed_text: String
    package var settings: JSONValue
    package var public_url: String
    /// Whether absolute URLs began with the address that was asked instead. Absent where `--public-url` decided.
    package var follows_requests: Bool?
    /// Whether namespaces are judged before they are deleted; absent where they are not.
    package var keeps_audits: Bool?
    package var auto_creates: Bool
    package var allows_any_target: Bool
    package var allowed_hosts: [String]
    package var control_token: String?
    /// The address the server listened on; absent where it is not known.
    package var address: ServerAddress?
    /// The real time at which the default namespace was created, in microseconds since 1970.
    package var started_at: Int64

    /// - Parameters:
    ///   - seed: the default seed data of a new namespace.
    ///   - started_at: the real time at which the default namespace is created.
    package init(
        version: String, random_seed: Int, seed: Seed, settings: JSONValue, public_url: String, auto_creates: Bool,
        allows_any_target: Bool, allowed_hosts: [String], control_token: String?, address: ServerAddress?,
        started_at: Instant
    ) {
        self.version = version
        self.random_seed = random_seed
        seed_name = seed.name
        seed_text = seed.text
        self.settings = settings
        self.public_url = public_url
        self.auto_creates = auto_creates
        self.allows_any_target = allows_any_target
        self.allowed_hosts = allowed_hosts
        self.control_token = control_token
        self.address = address
        self.started_at = started_at.microseconds
    }

    /// The format version that this program writes, and the highest it reads.
    package static let currentVersion = 1
}

/// A line of a recording: a request, one that is held, a webhook's outcome, an answer that was not delivered, scheduled work that ran by
/// itself, the deletion of an expired namespace, or a large body.
package struct RecordedEntry: Codable, Sendable {
    /// The place and time of each of its jobs.
    package var jobs: [JobToken.Turn]
    package var request: RecordedRequest?
    package var outcome: RecordedOutcome?
    /// An answer that did not reach its client.
    package var undelivered: RecordedLoss?
    package var dropped: String?
    /// A namespace whose scheduled work ran by itself.
    package var ticked: String?
    /// A request that was held, as it was when that began. Its entry with an answer begins with the same job; a killed server has
    /// none.
    package var held: RecordedRequest?
    /// A large body. Requests refer to it by its hash.
    package var blob: RecordedBytes?

    /// Whether the request was held when the server was killed, so that it has no answer.
    package var isUnanswered: Bool { held != nil }

    /// The place of its first job.
    package var place: Int { jobs.first?.place ?? 0 }
    /// The place of its last job.
    package var lastPlace: Int { jobs.last?.place ?? 0 }
}

/// A complete request and its answer, unmasked.
package struct RecordedRequest: Codable, Sendable {
    package var method: String
    /// As received, with namespace and query.
    package var target: String
    package var host: String?
    /// Whether it came by HTTPS; absent if not.
    package var secure: Bool?
    /// Pairs of name and value.
    package var headers: [[String]]
    package var body: RecordedBytes?
    package var status: Int
    /// The headers of the answer, before any fault changed it.
    package var answer_headers: [[String]]
    /// `nil` if it is not compared.
    package var answer: RecordedBytes?
    /// The result of each wait for webhooks.
    package var waitResults: [Bool]?
    /// The counts of webhooks in flight, one for each time they were read.
    package var inFlightCounts: [Int]?
    /// The real times of the request that was journaled, started and ended, in microseconds since 1970. Absent for requests that are not
    /// journaled.
    package var real: [Int64]?
    /// Whether its body did not arrive, or is too large to be recorded.
    package var unrepeatable: Bool?
    /// Whether it is a read that was not begun, because its caller had gone.
    package var not_begun: Bool?

    private enum CodingKeys: String, CodingKey {
        case method, target, host, secure, headers, body, status, answer_headers, answer, real, unrepeatable, not_begun
        case waitResults = "waits"
        case inFlightCounts = "notes"
    }

    package init(
        method: String, target: String, host: String?, headers: [[String]], body: RecordedBytes?, status: Int,
        answer_headers: [[String]], answer: RecordedBytes?
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.headers = headers
        self.body = body
        self.status = status
        self.answer_headers = answer_headers
        self.answer = answer
    }

    /// The real times of the request that was journaled; `nil` if they are not recorded.
    var times: RequestTimes? {
        // The reader of recordings refuses other numbers of times.
        get {
            guard let real, real.count == 2 else { return nil }
            return RequestTimes(started: Instant(microseconds: real[0]), ended: Instant(microseconds: real[1]))
        }
        set { real = newValue.map { [$0.started.microseconds, $0.ended.microseconds] } }
    }
}

/// Bytes: as text if they are valid UTF-8, otherwise as base64.
package struct RecordedBytes: Codable, Sendable, Equatable {
    package var text: String?
    package var base64: String?
    /// The SHA-256 of a body that has a line of its own.
    package var sha256: String?

    package init(_ data: Data) {
        text = String(data: data, encoding: .utf8)
        base64 = text == nil ? data.base64EncodedString() : nil
    }

    package init(sha256: String) { self.sha256 = sha256 }

    package var data: Data {
        text.map { Data($0.utf8) } ?? base64.flatMap { Data(base64Encoded: $0) } ?? Data()
    }
}

/// An answer that did not reach its client.
package struct RecordedLoss: Codable, Sendable {
    package let namespace: String
    /// The number of the request in the journal; absent if the journal no longer had it.
    package let sequence: Int64?
}

/// The result of one webhook attempt.
package struct RecordedOutcome: Codable, Sendable {
    package let namespace: String
    package let delivery: String
    package let number: Int
    /// The time of the attempt on the namespace's clock, in microseconds. After a restore, an attempt of the same number may be in
    /// flight twice.
    package let at: Int64
    /// Whether the attempt belonged to a state that had been replaced, so that its outcome did not count.
    package let was_replaced: Bool
    package let status: Int?
    package let error: String?
    package let milliseconds: Double
    package let answer: String?

    /// - Parameter counted: whether the attempt belonged to the namespace's current state.
    package init(_ namespace: String, _ webhook: OutgoingWebhook, _ outcome: WebhookOutcome, counted: Bool) {
        self.namespace = namespace
        delivery = webhook.deliveryID
        number = webhook.number
        at = webhook.at.microseconds
        was_replaced = !counted
        status = outcome.status
        error = outcome.error
        milliseconds = outcome.milliseconds
        answer = outcome.answer
    }

    package var outcome: WebhookOutcome {
        WebhookOutcome(status: status, error: error, milliseconds: milliseconds, answer: answer)
    }
}

/// Records every request in full, unmasked, with the place and time of each of its jobs: `serve --record`
/// [D recording].
package final class Recorder: Sendable {
    private let places = NIOLockedValueBox(0)
    /// `nil` before the recording begins, and after a write failed.
    private let file = NIOLockedValueBox<FileHandle?>(nil)
    private let blobs = NIOLockedValueBox<Set<String>>([])
    /// The size, in base64 characters, above which a binary body gets a line of its own. Each such body is written
    /// once.
    private static let largeBody = 2000
    package let path: String
    /// The real time at which the default namespace is created.
    package let startedAt: Instant

    /// Prepares a recording. ``begin(_:)`` creates the file, so that a server that cannot start leaves none.
    ///
    /// - Throws: ``PlatformError`` if the file exists: it is not overwritten.
    package init(path: String, at startedAt: Instant) throws {
        self.path = path
        self.startedAt = startedAt
        var status = stat()
        if lstat(path, &status) == 0 { throw Self.isThere(path) }
    }

    private static func isThere(_ path: String) -> PlatformError {
        .wrongState("the recording \(path) already exists; name another file, or remove it")
    }

    /// Creates the file and writes the first line.
    ///
    /// - Throws: ``PlatformError`` if it cannot be written.
    package func begin(_ head: RecordingHead) throws {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST
                ? Self.isThere(path)
                : PlatformError.invalid(
                    "the recording \(path) cannot be written: \(String(cString: strerror(errno)))", [])
        }
        file.withLockedValue { $0 = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
        do {
            try write(head)
        } catch {
            discard()
            throw PlatformError.unavailable("the recording \(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Removes the file if this recorder created it. Called when the server fails to start.
    package func discard() {
        file.withLockedValue { file in
            guard file != nil else { return }
            file = nil
            unlink(path)
        }
    }

    /// Makes the token of a request or another entry to be recorded.
    ///
    /// - Parameter held: writes a request that is held; `nil` if the token is not of a request.
    package func makeToken(
        _ clock: @escaping @Sendable () -> Instant, held: (@Sendable (JobToken) -> Void)? = nil
    ) -> JobToken { JobToken(places: places, clock: clock, held: held) }

    /// Records a request, on a thread that may block.
    ///
    /// - Parameter make: makes the request's entry, which may take long: bodies are encoded.
    package func record(_ token: JobToken, _ make: @escaping @Sendable () -> RecordedRequest) async {
        let taken = token.taken()
        await Self.offload { self.save(RecordedEntry(jobs: Array(taken.turns), request: self.complete(make(), taken))) }
    }

    /// Records a request that is held, with its jobs so far. Blocks.
    func recordHold(_ token: JobToken, _ request: RecordedRequest) {
        let taken = token.taken()
        save(RecordedEntry(jobs: Array(taken.turns), held: complete(request, taken)))
    }

    /// A request with what its token has observed. Gives a large body a line of its own, unless it has one.
    private func complete(_ request: RecordedRequest, _ taken: JobToken.State) -> RecordedRequest {
        var request = request
        request.inFlightCounts = taken.inFlightCounts.isEmpty ? nil : Array(taken.inFlightCounts)
        request.waitResults = taken.waitResults.isEmpty ? nil : Array(taken.waitResults)
        request.not_begun = taken.isAbandoned == true ? true : nil
        request.times = taken.times
        if let body = request.body, let size = body.base64?.utf8.count, size > Self.largeBody {
            let hash = Hex.string(SHA256.hash(data: body.data))
            // Under the lock, so that a body's line comes before every line that refers to it.
            blobs.withLockedValue { blobs in
                if blobs.insert(hash).inserted { save(RecordedEntry(jobs: [], blob: body)) }
            }
            request.body = RecordedBytes(sha256: hash)
        }
        return request
    }

    /// Records jobs that no request asked for, on a thread that may block.
    func record(_ entry: RecordedEntry) async {
        await Self.offload { self.save(entry) }
    }

    /// Runs `body` on a thread that may block, even if the task is cancelled: an entry that is missing ends the recording there.
    private static func offload(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            NIOThreadPool.singleton.submit { _ in
                body()
                continuation.resume()
            }
        }
    }

    private func save(_ entry: RecordedEntry) {
        do {
            try write(entry)
        } catch {
            // Recording stops here, because entries after a gap could not be replayed. Those before it can.
            let isFirst = file.withLockedValue { file in
                defer { file = nil }
                return file != nil
            }
            guard isFirst else { return }
            FileHandle.standardError.write(
                Data("the recording \(path) ends here: \(error.localizedDescription)\n".utf8))
        }
    }

    private func write(_ value: some Encodable) throws {
        let line = try WireJSON.encode(value) + Data("\n".utf8)
        try file.withLockedValue { try $0?.write(contentsOf: line) }
    }
}
