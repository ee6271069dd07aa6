import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SimulationAPI
import TestSupport
import Testing

@testable import Server
@testable import Simulation

/// Equal control reads beside each other are made once [D shared-reads].
@Suite(.serialized) struct SharedReadTests {
    private static let callers = 8
    /// The server of all tests of the suite, which run one after another.
    private static let shared = Task { try await HeldServer.open() }

    /// The server, with answers that are not empty.
    private static func server() async throws -> HeldServer {
        let held = try await shared.value.reset()
        for (method, path, body) in [
            (HTTPRequest.Method.get, "/sdk/session", ""),
            (.post, "/_sim/authentications", #"{"count": 3, "template": {"brand": "Nike"}}"#),
            (.post, "/_sim/faults", #"{"match": {"route": "/nowhere"}, "effect": {"status": 503}}"#),
        ] {
            let reply = try await held.ask(method, path, body)
            try #require([200, 201, 401].contains(reply.status), "\(reply.text)")
        }
        return held
    }

    /// The answers of equal requests that wait beside each other, and the number of items that went through the namespace's line.
    private func answers(
        _ held: HeldServer, _ path: String, callers: Int, headers: HTTPFields = [:]
    ) async throws -> (replies: [HeldServer.Reply], posted: Int) {
        let before = try held.namespace.mailbox.lastPlace
        let tasks = try await held.holding {
            var tasks = [try await held.begin(.get, path, headers: [.requestID: "own-id"])]
            for _ in 1..<callers { tasks.append(try await held.begin(.get, path, headers: headers)) }
            return tasks
        }
        return (try await tasks.replies, try held.namespace.mailbox.lastPlace - before)
    }

    @Test(arguments: [
        "export", "export?format=json", "requests", "requests?format=har", "bundle", "authentications?limit=2",
        "captures", "users", "sessions", "webhooks", "webhook-deliveries", "event-log", "outcomes", "faults", "due",
        "components/sessions", "choices", "stats", "settings", "clock",
    ])
    func equalReadsBesideEachOtherAreMadeOnceEachWithItsOwnRequestID(path: String) async throws {
        let held = try await Self.server()
        let alone = try await answers(held, "/_sim/\(path)", callers: 1)
        let (replies, posted) = try await answers(held, "/_sim/\(path)", callers: Self.callers)
        #expect(posted == alone.posted, "\(posted) items in line, \(alone.posted) for one request")
        #expect(replies.someAndAll { $0.status == 200 && $0.body == replies[0].body && $0.body.readableBytes > 1 })
        #expect(Set(replies.map(\.requestID)).count == Self.callers && replies[0].requestID == "own-id")
        for name in [HTTPField.Name.contentType, .contentDisposition] {
            #expect(replies.someAndAll { $0.headers[name] == alone.replies[0].headers[name] })
        }
        #expect(
            replies.someAndAll { $0.headers[.contentLength].map { $0 == "\(replies[0].body.readableBytes)" } ?? true })
    }

    /// What the answers hold is what one request alone would get.
    @Test(arguments: ["export", "requests?format=har", "authentications?limit=2"])
    func aSharedAnswerIsWhole(path: String) async throws {
        let held = try await Self.server()
        // A shared archive is sent in several pieces.
        for _ in 0..<400 { _ = try await held.ask(.get, "/sdk/session") }
        _ = try await held.ask(.post, "/_sim/clock/freeze")
        let alone = try await held.ask(.get, "/_sim/\(path)")
        let (replies, _) = try await answers(held, "/_sim/\(path)", callers: 2)
        #expect(replies.map(\.body) == [alone.body, alone.body])
        #expect(!path.contains("har") || alone.body.readableBytes > 300_000, "\(alone.body.readableBytes)")
    }

    private static let settings = "/_sim/settings"

    @Test func aReadAfterAWriteSeesTheWrite() async throws {
        let held = try await Self.server()
        let before = try held.namespace.mailbox.lastPlace
        let tasks = try await held.holding {
            var tasks: [Task<HeldServer.Reply, any Error>] = []
            for number in [7, 8] {
                for _ in 0..<2 { tasks.append(try await held.begin(.get, Self.settings)) }
                tasks.append(
                    try await held.begin(.patch, Self.settings, #"{"journal": {"entries": \#(number)}}"#))
            }
            tasks.append(try await held.begin(.get, Self.settings))
            return tasks
        }
        let entries = try await tasks.replies.map { reply in
            try WireJSON.decode(JSONValue.self, from: Data(reply.body.readableBytesView))["journal"]["entries"]
        }
        #expect(entries == [10_000, 10_000, 7, 7, 7, 8, 8])
        #expect(try held.namespace.mailbox.lastPlace - before == 1 + 5, "the equal ones are made once")
    }

    @Test(arguments: ["due work", "another read", "a request of the platform", "a copy of the namespace"])
    func equalReadsWithOtherWorkBetweenAreMadeEachByItself(between: String) async throws {
        let held = try await Self.server()
        let namespace = try held.namespace
        let (pair, joined) = try await held.holding {
            let first = try await held.begin(.get, Self.settings)
            let before = held.waiting
            switch between {
            case "due work": Task { await namespace.tick() }
            case "another read": _ = try await held.begin(.get, "/_sim/clock")
            case "a request of the platform": _ = try await held.begin(.get, "/sdk/session")
            default: namespace.closeIdleConnection()
            }
            await held.wait { held.waiting > before }
            let second = try await held.begin(.get, Self.settings)
            return ([first, second], held.server.sharedReads.joinedCount)
        }
        #expect(joined == 0)
        #expect(try await pair.replies.map(\.status) == [200, 200])
    }

    @Test func readsOfTwoNamespacesAreNotShared() async throws {
        let held = try await Self.server()
        _ = try await held.ask(.put, "/_sim/namespaces/other", "{}")
        _ = try await held.ask(
            .patch, Self.settings, #"{"journal": {"entries": 7}}"#, headers: [.namespace: "other"])
        let tasks = try await held.holding(["default", "other"]) {
            var tasks: [Task<HeldServer.Reply, any Error>] = []
            for name in ["default", "other", "default", "other"] {
                tasks.append(try await held.begin(.get, Self.settings, headers: [.namespace: name]))
            }
            #expect(held.server.sharedReads.joinedCount == 2)
            return tasks
        }
        let replies = try await tasks.replies
        #expect(replies[0].body == replies[2].body && replies[1].body == replies[3].body)
        #expect(replies[0].body != replies[1].body)
    }

    /// Each asks for something else.
    @Test func readsOfOtherTargetsHostsAndLanguagesAreNotShared() async throws {
        let held = try await Self.server()
        let joined = try await held.holding {
            _ = try await held.begin(.get, "/_sim/authentications")
            _ = try await held.begin(.get, "/_sim/authentications?limit=1")
            _ = try await held.begin(.get, "/_sim/authentications", host: "127.0.0.1")
            _ = try await held.begin(.get, "/_sim/authentications", headers: [.acceptLanguage: "ja"])
            return held.server.sharedReads.joinedCount
        }
        #expect(joined == 0)
    }

    @Test func aFailingReadGivesEachCallerItsOwnError() async throws {
        let held = try await Self.server()
        let (replies, _) = try await answers(held, "/_sim/users/nobody", callers: 3)
        let ids = try replies.map { reply in
            try WireJSON.decode(JSONValue.self, from: Data(reply.body.readableBytesView))["request_id"].text
        }
        #expect(replies.map(\.status) == [404, 404, 404])
        #expect(ids == replies.map(\.requestID) && ids[0] == "own-id" && Set(ids).count == 3)
    }

    /// The first caller's request is well-formed, the second announces a body that no route takes.
    @Test func aCallerThatIsRefusedForItsBodyIsNotGivenAnotherAnswer() async throws {
        let held = try await Self.server()
        let (replies, _) = try await answers(
            held, Self.settings, callers: 2, headers: [.contentLength: "2000000"])
        #expect(replies.map(\.status) == [200, 413])
    }

    /// Answers of the platforms depend on the caller and on fault rules.
    @Test func aFaultMeetsOneOfTwoEqualPlatformRequests() async throws {
        let held = try await Self.server()
        _ = try await held.ask(
            .post, "/_sim/faults", #"{"match": {"route": "/sdk/session"}, "effect": {"status": 503}, "times": 1}"#)
        let before = try held.namespace.mailbox.lastPlace
        let tasks = try await held.holding {
            [try await held.begin(.get, "/sdk/session"), try await held.begin(.get, "/sdk/session")]
        }
        let replies = try await tasks.replies
        #expect(replies.map(\.status) == [503, 401])
        #expect(replies.map { $0.headers[.fault] != nil } == [true, false])
        #expect(Set(replies.map(\.requestID)).count == 2)
        #expect(try held.namespace.mailbox.lastPlace - before >= 3)
    }

    @Test func eachCallerGetsItsOwnEncoding() async throws {
        let held = try await Self.server()
        let (replies, _) = try await answers(
            held, "/_sim/export", callers: 2, headers: [.acceptEncoding: "gzip"])
        #expect(replies.map { $0.headers[.contentEncoding] } == [nil, "gzip"])
    }

    // MARK: Callers that go

    @Test(arguments: [0, 1, 2]) func aReadIsMadeWhileOneOfItsCallersIsLeft(staying: Int) async throws {
        let held = try await Self.server()
        let callers = [HeldServer.Caller(), HeldServer.Caller(), HeldServer.Caller()]
        let before = try held.namespace.mailbox.lastPlace
        let tasks = try await held.holding {
            var tasks: [Task<HeldServer.Reply, any Error>] = []
            for caller in callers { tasks.append(try await held.begin(.get, "/_sim/export", as: caller)) }
            for (number, caller) in callers.enumerated() where number != staying { caller.leave() }
            return tasks
        }
        let reply = try await tasks[staying].value
        #expect(reply.status == 200 && reply.text.contains("organizations"))
        _ = try await tasks.replies
        #expect(try held.namespace.mailbox.lastPlace - before == 1 + 1, "the others do not make it again")
    }

    @Test(arguments: ["export", "requests?format=har", "bundle"])
    func aReadIsNotBegunOnceAllOfItsCallersHaveGone(path: String) async throws {
        let held = try await Self.server()
        let callers = [HeldServer.Caller(), HeldServer.Caller()]
        let tasks = try await held.holding {
            var tasks: [Task<HeldServer.Reply, any Error>] = []
            for caller in callers { tasks.append(try await held.begin(.get, "/_sim/\(path)", as: caller)) }
            for caller in callers { caller.leave() }
            return tasks
        }
        for reply in try await tasks.replies {
            #expect(reply.status == 503 && reply.text.contains("before the request was begun"), "\(reply.text)")
        }
    }
}
