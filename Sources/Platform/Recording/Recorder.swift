import Crypto
import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import Storage

/// The first line of a recording: what a server is to be started with.
package struct RecordingHead: Codable, Sendable {
    package var format = "entrupy-sim recording"
    package var format_version = 1
    package var version: String
    package var random_seed: Int
    package var seed_name: String
    package var seed_text: String
    package var settings: JSONValue
    package var public_url: String
    package var auto_creates: Bool
    package var allows_any_target: Bool
    package var allowed_hosts: [String]
    package var control_token: String?
    /// Where the server listened; absent in recordings of older versions.
    package var address: ServerAddress?
    /// Microseconds of real time that the default namespace was made at.
    package var started_at: Int64

    /// - Parameters:
    ///   - seed: what namespaces are made from where they are given none.
    ///   - started_at: the real time the default namespace is made at.
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

    /// Where the recorded server listened.
    package var ownAddress: ServerAddress { address ?? ServerAddress(publicURL: public_url) }

    /// What this program writes, and the highest it reads.
    package static let currentVersion = 1
}

/// A line of a recording: a request, a webhook's outcome, what happened by itself, or a namespace that went unused for too long.
package struct RecordedEntry: Codable, Sendable {
    /// Where and when each of its jobs ran.
    var jobs: [JobTicket.Turn]
    package var request: RecordedRequest?
    var outcome: RecordedOutcome?
    var dropped: String?
    /// A namespace in which what was due ran by itself.
    var ticked: String?
    /// A large body, which requests name by its hash.
    var blob: RecordedBytes?

    /// Its place in the order.
    package var place: Int { jobs.first?.place ?? 0 }
}

/// A request and its answer, whole and unmasked.
package struct RecordedRequest: Codable, Sendable {
    package var method: String
    /// With namespace and query, as it came.
    package var target: String
    package var host: String?
    /// Name and value.
    package var headers: [[String]]
    package var body: RecordedBytes?
    package var status: Int
    /// Of the answer, as it was before a fault spoilt it.
    package var answer_headers: [[String]]
    /// Nil where it is not compared.
    package var answer: RecordedBytes?
    /// What each wait for webhooks came to.
    package var waits: [Bool]?
    /// How many webhooks were under way, each time somebody looked.
    var notes: [Int]?
    /// Whether its body did not arrive, or is too large to be recorded.
    package var unrepeatable: Bool?

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
}

/// Bytes, as text where they are some.
package struct RecordedBytes: Codable, Sendable, Equatable {
    var text: String?
    var base64: String?
    /// The SHA-256 of a body that stands on a line of its own.
    var sha256: String?

    package init(_ data: Data) {
        text = String(data: data, encoding: .utf8)
        base64 = text == nil ? data.base64EncodedString() : nil
    }

    init(sha256: String) { self.sha256 = sha256 }

    package var data: Data {
        text.map { Data($0.utf8) } ?? base64.flatMap { Data(base64Encoded: $0) } ?? Data()
    }
}

/// What came of a webhook's attempt.
struct RecordedOutcome: Codable, Sendable {
    let namespace: String
    let delivery: String
    let number: Int
    let status: Int?
    let error: String?
    let milliseconds: Double
    let answer: String?

    init(_ namespace: String, _ webhook: OutgoingWebhook, _ outcome: WebhookOutcome) {
        self.namespace = namespace
        delivery = webhook.deliveryID
        number = webhook.number
        status = outcome.status
        error = outcome.error
        milliseconds = outcome.milliseconds
        answer = outcome.answer
    }

    var outcome: WebhookOutcome {
        WebhookOutcome(status: status, error: error, milliseconds: milliseconds, answer: answer)
    }
}

/// Writes down every request whole, unmasked, with the place and time of each of its jobs: `serve --record` [D].
package final class Recorder: Sendable {
    private let places = NIOLockedValueBox(0)
    /// `nil` before it begins, and after it could not be written.
    private let file = NIOLockedValueBox<FileHandle?>(nil)
    private let blobs = NIOLockedValueBox<Set<String>>([])
    /// From how many bytes a body that is no text stands on a line of its own, once.
    private static let largeBody = 2000
    package let path: String
    /// The real time the default namespace is made at.
    let startedAt: Instant

    /// Prepares a recording. Its file is made by ``begin(_:)``, so that a server that cannot start leaves none.
    ///
    /// - Throws: ``PlatformError`` if there is a file: it is not overwritten.
    package init(path: String, at startedAt: Instant) throws {
        self.path = path
        self.startedAt = startedAt
        var status = stat()
        if lstat(path, &status) == 0 { throw Self.isThere(path) }
    }

    private static func isThere(_ path: String) -> PlatformError {
        .wrongState("the recording \(path) is there already; name another file, or remove it")
    }

    /// Makes the file, and writes the first line.
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

    /// Removes the file, if this recording made it: the server does not start.
    package func discard() {
        file.withLockedValue { file in
            guard file != nil else { return }
            file = nil
            unlink(path)
        }
    }

    /// A ticket for something that is to be recorded.
    package func ticket() -> JobTicket { .recording(places) }

    /// Writes a request down, once.
    package func record(_ request: RecordedRequest, _ ticket: JobTicket, _ environment: Environment) {
        guard ticket.keepOnce() else { return }
        let (turns, waits, notes) = ticket.takenTurns(environment)
        var request = request
        request.notes = notes.isEmpty ? nil : notes
        request.waits = waits.isEmpty ? nil : waits
        if ticket.isUnrepeatable { request.unrepeatable = true }
        if let body = request.body, let size = body.base64?.utf8.count, size > Self.largeBody {
            let hash = Hex.string(SHA256.hash(data: body.data))
            // Under the lock, so that a body's line comes before every line that names it.
            blobs.withLockedValue { blobs in
                if blobs.insert(hash).inserted { save(RecordedEntry(jobs: [], blob: body)) }
            }
            request.body = RecordedBytes(sha256: hash)
        }
        save(RecordedEntry(jobs: turns, request: request))
    }

    func record(_ outcome: RecordedOutcome, _ ticket: JobTicket, _ environment: Environment) {
        save(RecordedEntry(jobs: ticket.takenTurns(environment).turns, outcome: outcome))
    }

    func record(ticked namespace: String, _ ticket: JobTicket, _ environment: Environment) {
        save(RecordedEntry(jobs: ticket.takenTurns(environment).turns, ticked: namespace))
    }

    func record(dropped namespace: String, _ ticket: JobTicket, _ environment: Environment) {
        save(RecordedEntry(jobs: ticket.takenTurns(environment).turns, dropped: namespace))
    }

    private func save(_ entry: RecordedEntry) {
        do {
            try write(entry)
        } catch {
            // Whatever came after this would be no use: what is recorded so far can be replayed.
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
