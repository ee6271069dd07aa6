import Foundation
import Simulation
import SimulationAPI

/// A request of the journal, with what rules compare.
struct AuditedRequest: Sendable {
    let entry: JournalEntry
    /// The path without redundant slashes.
    let path: String
    let digests: RequestDigests
    let test: String?
    let client: Client

    /// The client of a request, as far as a server can tell it from others [D audit].
    struct Client: Hashable {
        /// The user of the session, or else the digest of the token; `nil` if the request has neither.
        let caller: String?
        /// The digest of the token: two devices of a user have a session each.
        var credential: String?
        /// The test and the User-Agent, compared byte by byte.
        let test, userAgent: TextKey?
        /// The caller for whom a proxy asks, as its header has it; `nil` if there is none.
        var origin: TextKey?
        /// The connection; `nil` where it had no other request, so that it tells nothing, and where it is not known.
        var connection: Int?

        /// The client, whatever connection it used.
        var onAnyConnection: Client {
            var client = self
            client.connection = nil
            return client
        }

        /// The user's program, whatever session it used.
        var inAnySession: Client {
            var client = self
            client.credential = nil
            return client
        }

        /// Whether requests of other clients can be told from its own: anonymous ones can on a connection only.
        var isKnown: Bool { caller != nil || connection != nil }
    }

    var caller: String? { client.caller }
    var sequence: Int64 { entry.sequence }
    /// The path with the query.
    var target: String { path + entry.query }

    /// The parts of the query between `&`. Whole queries are searched by their bytes: looking for characters takes ten times as long.
    var queryPairs: [Substring] { String(Substring(entry.query.utf8.dropFirst())).split(at: "&") }

    /// Whether a successful answer of the platform reached the client whole.
    var hasSucceeded: Bool { entry.isDelivered && (200...299).contains(entry.status ?? 0) && !isDamaged }

    /// Whether a fault made the answer, or made it unreadable.
    private var isDamaged: Bool {
        guard let fault = entry.outcome.fault else { return false }
        return fault.effect?.held?.decidesAnswer ?? !fault.proves.contains(.success)
    }

    /// Whether the server refused it for the moment, and the client knows.
    var isRefusedForNow: Bool { entry.isDelivered && (entry.status == 429 || entry.status == 503) }

    /// Whether the answer asks to wait in another form than a number of seconds, which only a fault's header has.
    var asksOtherwise: Bool { retryAfter == nil && entry.response.value(of: "retry-after") != nil }

    /// The time that the answer asks to wait; `nil` if it does not say.
    var retryAfter: Span? {
        entry.response.value(of: "retry-after").flatMap { Int64($0) }
            .flatMap { (0...86_400).contains($0) ? Span(microseconds: $0 * 1_000_000) : nil }
    }

    /// The caller in words, for behind a path; empty if nobody knows its name.
    var by: String { entry.outcome.username.map { " of \($0)" } ?? "" }

    /// The method and path with the caller, for messages.
    var summary: String { "\(entry.method) \(path)\(by)" }

    func isOne(of routes: [AuditRoute]) -> Bool { routes.contains { $0.matches(entry.method, path) } }

    /// Whether the request began after an answer of an earlier one; `nil` if that is not known.
    func began(after earlier: AuditedRequest) -> Bool? {
        guard let times = entry.times, let before = earlier.entry.times else { return nil }
        return times.started >= before.ended
    }
}

extension AuditMaterial {
    /// The requests of clients, oldest first. Those that a person sent again from the journal are left out.
    func requests() -> [AuditedRequest] {
        var masks = EntrySecrets(secrets)
        var usernames: [String: String] = [:]
        var requestsOfConnections: [Int: Int] = [:]
        let made = journal.filter { !$0.isResent }.map { entry in
            if let connection = entry.clientConnection { requestsOfConnections[connection, default: 0] += 1 }
            let digests = entry.digests(secretMembers, masks.of(entry))
            if let credential = digests.credential, let username = entry.outcome.username {
                usernames[credential] = username
            }
            return (entry: entry, digests: digests)
        }
        return made.map { entry, digests in
            AuditedRequest(
                entry: entry, path: RoutePath.plain(entry.path), digests: digests, test: entry.test,
                client: AuditedRequest.Client(
                    caller: entry.outcome.username ?? digests.credential.map { usernames[$0] ?? "token \($0)" },
                    credential: digests.credential, test: entry.test.map { TextKey($0) },
                    userAgent: entry.request.value(of: "user-agent").map { TextKey($0) },
                    origin: entry.isOfProxy ? entry.origin.map { TextKey($0) } : nil,
                    connection: entry.clientConnection.flatMap { requestsOfConnections[$0] ?? 0 > 1 ? $0 : nil }))
        }
    }
}

extension JournalEntry {
    /// The connection of the client; `nil` if it is not known, as behind a proxy, whose connections are for all.
    fileprivate var clientConnection: Int? { isOfProxy ? nil : connection }

    fileprivate var isOfProxy: Bool {
        request.headers.pairs.contains { ["via", "forwarded", "x-forwarded-for"].contains($0.name.lowercased()) }
    }

    /// The caller that a proxy names.
    fileprivate var origin: String? { request.value(of: "x-forwarded-for") ?? request.value(of: "forwarded") }
}
