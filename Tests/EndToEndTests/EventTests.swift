import Foundation
import NIOCore
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Tests of `/_sim/events`, read as a browser does.
@Suite struct EventTests {
    private struct Event: Sendable {
        var id: String?
        var name = ""
        var data = JSONValue.null
    }

    /// Opens the stream, then runs `body`, and returns the events until `isEnough`, without `open`.
    private func events(
        _ world: TestWorld, _ query: String = "", after last: String? = nil,
        _ body: @Sendable () async throws -> Void = {}, until isEnough: ([Event]) -> Bool
    ) async throws -> (events: [Event], open: String) {
        var request = try OutgoingRequest(.GET, "\(world.base)/_sim/events\(query)")
        if let last { request.headers.add(name: "Last-Event-ID", value: last) }
        return try await OutgoingClient.patient.exchange(request) { response in
            try #require(response.status == 200 && response.headers["Content-Type"] == ["text/event-stream"])
            var (text, found, opened) = ("", [Event](), "")
            for try await part in response.body {
                text += String(buffer: part)
                while let end = text.range(of: "\n\n") {
                    let event = Self.event(text[..<end.lowerBound])
                    text.removeSubrange(..<end.upperBound)
                    if event.name == "open" {
                        opened = event.id ?? ""
                        try await body()
                    } else if !event.name.isEmpty {
                        found.append(event)
                    }
                }
                if !opened.isEmpty, isEnough(found) { break }
            }
            return (found, opened)
        }
    }

    private static func event(_ text: Substring) -> Event {
        text.split(separator: "\n").reduce(into: Event()) { event, line in
            let value = line.drop { $0 != ":" }.dropFirst(2)
            switch line.prefix(while: { $0 != ":" }) {
            case "id": event.id = String(value)
            case "event": event.name = String(value)
            case "data": event.data = (try? WireJSON.decode(JSONValue.self, from: Data(value.utf8))) ?? .null
            default: break
            }
        }
    }

    private func number(_ event: Event) -> Int? { event.id?.split(separator: "-").last.flatMap { Int($0) } }

    @Test func anAnswerThatIsLostLaterIsPublished() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["slow_body": 20], "times": 1])
        let target = String(world.base.dropFirst(SimProcess.shared.baseURL.count)) + "/sdk/session"
        let heard = try await events(world, "?types=request") {
            let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
            _ = try await RawConnection.open(.shared).exchange(request) { $0.contains("\r\n\r\n") }
            var polls = 0
            while polls < 5_000,
                try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items.isEmpty
            {
                polls += 1
            }
            _ = try await world.send("GET", "/sdk/config", token: token)
        } until: {
            $0.contains { $0.data["path"] == "/sdk/config" }
        }
        #expect(heard.events.map(\.name) == ["request", "request.undelivered", "request"])
        #expect(heard.events.map { $0.data["delivered"] } == [true, false, true])
        #expect(Set(heard.events.prefix(2).map { $0.data["sequence"] }).count == 1)
    }

    @Test func everyEventIsSentAsItHappensUnderOneSequence() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let heard = try await events(world) {
            let token = try await world.login()
            _ = try await world.send(
                "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
            _ = try await world.submit(token)
            try await world.advance("5s")
        } until: {
            $0.count { $0.name == "webhook" } == 2
        }
        #expect(heard.events.compactMap(number) == Array(1...heard.events.count))
        #expect(Set(heard.events.map { $0.id?.split(separator: "-").first }).count == 1)
        let kinds = heard.events.filter { $0.name == "state" }.compactMap { $0.data["kind"].text }
        let wanted = ["user.created", "session.started", "capture.started", "capture.submitted", "item.submitted"]
        #expect(wanted.someAndAll(kinds.contains) && kinds.contains("result.set") && kinds.contains("clock.advanced"))
        let login = heard.events.first { $0.name == "request" && $0.data["path"] == "/sdk/login" }
        #expect(login?.data["status"] == 200)
        #expect(!heard.events.contains { $0.data["path"].text?.hasPrefix("/_sim") == true })
        let attempt = heard.events.last { $0.name == "webhook" }
        #expect(attempt?.data["data.status"] == 200 && attempt?.data["data.event"] == "session.completed")
    }

    @Test func aReconnectedListenerGetsEveryMissedEventOnce() async throws {
        let world = try await TestWorld.make()
        let first = try await events(world) {
            _ = try await world.send("POST", "/_sim/authentications", [:])
        } until: {
            $0.count >= 2
        }
        let last = try #require(first.events.first?.id)
        _ = try await world.send("POST", "/_sim/authentications", [:])
        let second = try await events(world, after: last, until: { _ in true })
        #expect(second.events.compactMap(number) == [2, 3, 4])
        #expect(second.open == "\(last.prefix { $0 != "-" })-4")
    }

    @Test func anEventIDOfAnotherRunIsAnsweredWithAGap() async throws {
        let world = try await TestWorld.make()
        let heard = try await events(world, after: "abc-7", until: { !$0.isEmpty })
        #expect(heard.events.map(\.name) == ["gap"] && heard.events.first?.data["missed"] == .null)
    }

    @Test func pastEventsAreSentFromTheLogAndTypesCanBeChosen() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("POST", "/_sim/authentications", [:])
        _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        let heard = try await events(world, "?since=1&types=state") {
            _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
            _ = try await world.send("POST", "/_sim/authentications", [:])
        } until: {
            $0.count >= 3
        }
        #expect(heard.events.map(\.name) == ["state", "state", "state"])
        #expect(heard.events.map { $0.data["sequence"] } == [2, 3, 4])
    }

    @Test func replacedAndDeletedNamespacesAreReported() async throws {
        let world = try await TestWorld.make()
        let heard = try await events(world) {
            _ = try await world.send("POST", "/_sim/reset")
            _ = try await world.send("POST", "/_sim/authentications", [:])
            let name = String(world.base.split(separator: "/").last!)
            _ = try await TestWorld(base: SimProcess.shared.baseURL).send("DELETE", "/_sim/namespaces/\(name)")
        } until: {
            $0.last?.name == "world.deleted"
        }
        try #require(heard.events.map(\.name) == ["world.replaced", "state", "state", "world.deleted"])
        #expect(heard.events[1].data["sequence"] == 1)
    }

    @Test func aListenerThatStopsReadingIsDisconnectedWithoutDelayingOthers() async throws {
        let world = try await TestWorld.make()
        let connection = try await RawConnection.open(.shared, receiveBuffer: 8192)
        let path = world.base.dropFirst(SimProcess.shared.baseURL.count)
        let count = 20_000
        let all = try await connection.exchange(
            "GET \(path)/_sim/events HTTP/1.1\r\nHost: localhost\r\n\r\n", orUntil: "the last"
        ) { text in
            text.contains("event: open")
        } thenWithoutReading: {
            // Three events per item. They exceed all buffers on the way, and several times the buffer for listeners. They must be made
            // although one listener reads nothing.
            let made = try await world.send(
                "POST", "/_sim/authentications", ["count": .number(JSONNumber(count)), "template": ["flag": "flagged"]])
            #expect(made.status == 201)
            // Other listeners still get events.
            let heard = try await events(world) {
                _ = try await world.send(
                    "POST", "/_sim/outcomes", ["match": ["username": "the last"], "result": "unknown"])
            } until: {
                $0.contains { $0.data["kind"] == "outcome.added" }
            }
            #expect(heard.events.count >= 1)
        }
        // The server closed the connection before all events were sent. It would not have closed that of a listener that it kept.
        let bytes = Data(all.utf8)
        #expect(bytes.range(of: Data("the last".utf8)) == nil)
        let heard = all.split(atEach: "event: state").count - 1
        #expect(heard < 3 * count, "\(heard)")
    }

    @Test func invalidStreamParametersAreRefused() async throws {
        let world = try await TestWorld.make()
        for query in ["types=requests", "types=", "since=-1", "since=x", "types=state&types=state"] {
            #expect(try await world.send("GET", "/_sim/events?\(query)").status == 400, "\(query)")
        }
        #expect(try await world.send("GET", "/_sim/events", headers: ["Last-Event-ID": "17"]).status == 400)
    }
}
