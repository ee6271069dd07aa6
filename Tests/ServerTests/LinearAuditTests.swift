import Foundation
import Testing

@testable import Entrupy
@testable import Evidence
@testable import Server
@testable import Simulation

/// An audit takes time in proportion to the journal, whatever clients have sent.
@Suite struct LinearAuditTests {
    private struct Message: JournalHeaders, JournalBody {
        var pairs: [(name: String, value: String)]
        var text = ""
        var data: Data { Data(text.utf8) }
        var kept: JournalEntry.Message {
            JournalEntry.Message(length: text.utf8.count, kept: text.utf8.count, headers: self, body: self)
        }
    }

    /// A request of a journal.
    private struct Sent {
        var method = "GET"
        var path = "/v2/authentications/ABC"
        var query = ""
        var status = 200
        var token = "api-token"
        var text = ""
        var answer = "{}"
    }

    /// Journals that were expensive for some rule, by the number of a request in them.
    private static let kinds: [String: @Sendable (Int) -> Sent] = [
        "logins of one user": { number in
            Sent(
                method: "POST", path: "/sdk/login", token: "", text: #"{"signed_authorization_request":"r\#(number)"}"#,
                answer: #"{"token":"sdk_\#(number)","expiration_time":2000000000}"#)
        },
        "refusals": { Sent(query: "?n=\($0)", status: 429) },
        "refusals of one request": { _ in Sent(status: 429) },
        "refusals with many parameters": { number in
            Sent(query: "?" + (0..<40).map { "p\($0)=\(number)" }.joined(separator: "&"), status: 429)
        },
        "parameters that nobody reads": { number in
            Sent(query: "?" + (0..<40).map { "p\(number)_\($0)=1" }.joined(separator: "&"))
        },
        "encoded queries": { Sent(query: "?q=%25\($0)" + String(repeating: "%41", count: 100)) },
        "callers": { Sent(token: "token-\($0)") },
        "submits": { Sent(method: "POST", path: "/sdk/captures/cap_\($0 % 50)/submit", status: 409) },
        "pages": { Sent(path: "/sdk/items/search", query: "?cursor=c\($0 % 100)") },
    ]

    @Test(arguments: kinds.keys.sorted()) func audits(kind: String) async throws {
        let make = try #require(Self.kinds[kind])
        #if DEBUG
            let lengths = [300, 3000]
        #else
            let lengths = [1200, 12_000]
        #endif
        var materials: [Int: AuditMaterial] = [:]
        for length in lengths {
            materials[length] = try await Self.material(of: (1...length).map { make($0) })
        }
        let known = materials
        Growth.isLinear(kind, from: 1200, { known[$0] }) { material in
            let report = try #require(material).report(KnownMembers([]))
            #expect(report.rules.contains { $0.looked_at > 0 })
        }
    }

    private static func material(of requests: [Sent]) async throws -> AuditMaterial {
        let namespace = try await PipelineTests.namespaces().make("audited", NamespaceOptions())
        let start = namespace.environment.realTime()
        for (index, sent) in requests.enumerated() {
            let time = start + Span(microseconds: Int64(index) * 1000)
            let outcome = RequestOutcome(
                Int64(index) + 1, at: time, generation: namespace.outbox.generation,
                journal: .init(entries: 30_000, bytes: 64 << 20, bodyBytes: 10_000), secrets: [])
            var entry = JournalEntry(
                requestID: "r\(index)", method: sent.method, path: sent.path, query: sent.query, status: sent.status,
                milliseconds: 0.5, outcome: outcome,
                request: Message(
                    pairs: [("Authorization", "Token \(sent.token)"), ("Content-Type", "application/json")],
                    text: sent.text
                ).kept,
                response: Message(pairs: sent.status == 429 ? [("Retry-After", "1")] : [], text: sent.answer).kept)
            entry.times = RequestTimes(started: time, ended: time + Span(microseconds: 500))
            entry.connection = 1
            await namespace.append(entry)
        }
        let filter = AuditFilter(rule: nil, level: nil)
        return try await namespace.answer(.success(Audit(filter)), RequestHead(isControl: true)).result.get()
    }
}
