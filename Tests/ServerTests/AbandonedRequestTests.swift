import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import SimulationAPI
import Testing

@testable import Server
@testable import Simulation

/// Requests whose caller goes before the answer: a read that has not begun is not begun, a write is made [D shared-reads].
@Suite(.serialized) struct AbandonedRequestTests {
    /// The server of all tests of the suite, which run one after another.
    private static let shared = Task { try await HeldServer.open() }

    private static let token = "demo-api-token"
    private static let partner: HTTPFields = [.authorization: "Token \(token)"]

    /// Makes a request, and lets its caller go while the request waits.
    private func abandon(
        _ held: HeldServer, _ method: HTTPRequest.Method, _ path: String, _ body: String = "",
        headers: HTTPFields = [:], holding names: [String] = ["default"]
    ) async throws -> HeldServer.Reply {
        let caller = HeldServer.Caller()
        let task = try await held.holding(names) {
            let task = try await held.begin(method, path, body, headers: headers, as: caller)
            caller.leave()
            return task
        }
        return try await task.value
    }

    private func journaled(_ held: HeldServer) throws -> [String] {
        held.server.namespaces.environment.journals.entries(of: "default").map { "\($0.method) \($0.path)" }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/sdk/session", ""), (.head, "/sdk/session", ""), (.get, "/nowhere", ""),
        // It reads, although its method is not for that.
        (.post, "/v2/search/authentications", "{}"),
    ])
    func aReadWhoseCallerHasGoneIsNotBegun(method: HTTPRequest.Method, path: String, body: String) async throws {
        let held = try await Self.shared.value.reset()
        let reply = try await abandon(held, method, path, body, headers: Self.partner)
        #expect(reply.status == 503)
        #expect(try journaled(held) == [])
        #expect(try await held.ask(method, path, body, headers: Self.partner).status != 503)
        #expect(try journaled(held) == ["\(method) \(path)"])
    }

    /// A request, and another that shows whether it was made.
    struct Write: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        var body = ""
        let shownAt: String
        /// The status of the request that shows it.
        var status = 200
        /// A part of the answer.
        var text = ""
        var testDescription: String { "\(method) \(path)" }
    }

    private static let writes = [
        Write(
            method: .patch, path: "/_sim/settings", body: #"{"journal": {"entries": 77}}"#, shownAt: "/_sim/settings",
            text: "\"entries\":77"),
        Write(method: .post, path: "/_sim/clock/freeze", shownAt: "/_sim/clock", text: "frozen"),
        Write(method: .delete, path: "/_sim/namespaces/pr-1", shownAt: "/ns/pr-1/_sim/clock", status: 404),
        Write(method: .delete, path: "/_sim/namespaces?prefix=pr-", shownAt: "/ns/pr-1/_sim/clock", status: 404),
        Write(method: .put, path: "/_sim/snapshots/saved", shownAt: "/_sim/snapshots", text: "saved"),
        Write(method: .delete, path: "/_sim/snapshots/old", shownAt: "/_sim/snapshots/old", status: 404),
        Write(method: .post, path: "/_sim/reset", shownAt: "/_sim/faults", text: #""faults":[]"#),
        Write(
            method: .post, path: "/_sim/clock/advance", body: #"{"to": "2030-01-01T00:00:00Z"}"#,
            shownAt: "/_sim/clock",
            text: "2030-01-01"),
        Write(
            method: .post, path: "/v2/integrations/authorize-user",
            body:
                #"{"sdk_authorization_request": "r", "unique_user_id": "gone-user", "email": "gone@example.com", "first_name": "G"}"#,
            shownAt: "/_sim/users", text: "gone@example.com"),
    ]

    @Test(arguments: writes) func aWriteWhoseCallerHasGoneIsMade(write: Write) async throws {
        let held = try await Self.shared.value.reset()
        _ = try await held.ask(.put, "/_sim/namespaces/pr-1", "{}")
        _ = try await held.ask(.put, "/_sim/snapshots/old")
        _ = try await held.ask(
            .post, "/_sim/faults", #"{"match": {"route": "/nowhere"}, "effect": {"status": 503}}"#)
        let isShown = { (reply: HeldServer.Reply) in
            reply.status == write.status && (write.text.isEmpty || reply.text.contains(write.text))
        }
        #expect(!isShown(try await held.ask(.get, write.shownAt)))
        let reply = try await abandon(
            held, write.method, write.path, write.body, headers: write.path.hasPrefix("/_sim") ? [:] : Self.partner)
        #expect(reply.status < 300, "\(reply.text)")
        let shown = try await held.ask(.get, write.shownAt)
        #expect(isShown(shown), "\(shown.status) \(shown.text)")
    }

    /// What is sent again may itself be a read.
    @Test func aRequestIsSentAgainAlthoughTheCallerHasGone() async throws {
        let held = try await Self.shared.value.reset()
        let first = try await held.ask(.get, "/sdk/session")
        let id = try #require(first.requestID)
        let reply = try await abandon(held, .post, "/_sim/requests/\(id)/resend")
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try journaled(held) == ["GET /sdk/session", "GET /sdk/session"])
    }

    // MARK: Recordings

    /// Records the requests of `body`, and returns the entries after they were replayed without a difference.
    private func recorded(
        _ body: (HeldServer) async throws -> Void
    ) async throws -> [RecordedRequest] {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("abandoned-\(UUID()).recording").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let held = try await HeldServer.open(recordsTo: path)
        try await body(held)
        let requests = try await RecordingReader.read(path).entries.compactMap(\.request)
        let report = try await ReplayServer.run(
            ReplayPlan(path: path, version: "test", log: { _ in SwiftLogNoOpLogHandler() }))
        #expect(report.difference == nil, "\(report)")
        #expect(report.incomplete == nil && report.requests == requests.count, "\(report)")
        return requests
    }

    private static func shown(_ request: RecordedRequest) -> String {
        "\(request.method) \(request.target) \(request.status)\(request.not_begun == true ? ", not begun" : "")"
    }

    @Test func aRecordingNotesReadsThatWereNotBegunAndIsReplayed() async throws {
        let requests = try await recorded { held in
            _ = try await held.ask(.get, "/sdk/session")
            for path in ["/sdk/session", "/_sim/export", "/_sim/bundle", "/_sim/requests?format=har"] {
                #expect(try await abandon(held, .get, path).status == 503)
            }
            _ = try await abandon(held, .post, "/_sim/clock/freeze")
            // Its number in the journal, and its request id, follow those of the requests that were begun.
            _ = try await held.ask(.get, "/sdk/session")
            _ = try await held.ask(.get, "/_sim/clock")
            #expect(try journaled(held) == ["GET /sdk/session", "GET /sdk/session"])
        }
        #expect(
            requests.map(Self.shown) == [
                "GET /sdk/session 401", "GET /sdk/session 503, not begun", "GET /_sim/export 503, not begun",
                "GET /_sim/bundle 503, not begun", "GET /_sim/requests?format=har 503, not begun",
                "POST /_sim/clock/freeze 200", "GET /sdk/session 401", "GET /_sim/clock 200",
            ])
    }

    /// Each reads in several jobs. The caller goes when the first has run.
    @Test(arguments: ["/_sim/namespaces", "/ns/other/_sim/namespaces"])
    func aReadWhoseCallerGoesBetweenItsJobsIsReplayed(path: String) async throws {
        let requests = try await recorded { held in
            _ = try await held.ask(.put, "/_sim/namespaces/other", "{}")
            _ = try await held.ask(.put, "/_sim/namespaces/third", "{}")
            #expect(try await abandon(held, .get, path, holding: ["third"]).status == 200)
            _ = try await held.ask(.get, "/_sim/clock")
        }
        #expect(requests.map(\.not_begun) == [nil, nil, nil, nil])
    }

    /// Each has its own place in the order of jobs.
    @Test func recordedReadsAreMadeEachByItself() async throws {
        let requests = try await recorded { held in
            let tasks = try await held.holding {
                let tasks = [
                    try await held.begin(.get, "/_sim/settings"), try await held.begin(.get, "/_sim/settings"),
                ]
                #expect(held.server.sharedReads.joinedCount == 0)
                return tasks
            }
            #expect(try await tasks.replies.map(\.status) == [200, 200])
        }
        #expect(requests.count == 2)
    }
}
