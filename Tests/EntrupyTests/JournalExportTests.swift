import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import Testing

@testable import Simulation

@Suite struct JournalExportTests {
    private struct Headers: JournalHeaders {
        let pairs: [(name: String, value: String)]
    }

    private struct Text: JournalBody {
        let text: String
        var data: Data { Data(text.utf8) }
    }

    /// All characters that JSON escapes, and some that it does not.
    private static let characters =
        (0..<0x20).map { String(UnicodeScalar($0)) }.joined() + #""\/ é e\#u{301} 👟 \#u{7f}\#u{2028} <>&"#

    private func message(_ body: String, _ headers: [(name: String, value: String)]) -> JournalEntry.Message {
        JournalEntry.Message(
            length: body.utf8.count + 3, kept: body.utf8.count, headers: Headers(pairs: headers), body: Text(text: body)
        )
    }

    private func entry(_ id: String, path: String = "/sdk/session", query: String = "", body: String) -> JournalEntry {
        var outcome = RequestOutcome(
            at: Instant("2026-01-05T09:00:00.25Z")!, generation: 0,
            journal: .init(entries: 10, bytes: 100_000, bodyBytes: 10), secrets: ["demo-api-token"])
        outcome.change { outcome in
            outcome.limits = ["sdk_per_second", "api_per_second"]
            outcome.fault = TriggeredFault(id: "flt_1", effect: nil)
            outcome.changes = body.isEmpty ? nil : (after: 7, through: 9)
        }
        var entry = JournalEntry(
            requestID: id, method: "POST", path: path, query: query,
            status: 418,
            milliseconds: 12.3456789, outcome: outcome,
            request: message(body, [("Content-Type", "application/json"), ("X-Sim-Test", "a \"test\"")]),
            response: message("", [("Set-Cookie", "secret"), ("X-Note", Self.characters)]))
        entry.connection = 4_294_967_295
        return entry
    }

    private func export(
        _ entries: [JournalEntry], _ query: JournalQuery = JournalQuery(), as format: JournalExport.Format
    ) throws -> (bytes: Data, pieces: Int) {
        let journals = Journals()
        for entry in entries { journals.append(entry, to: "a", .init(entries: 20_000, bytes: 64 << 20, bodyBytes: 0)) }
        let export = JournalExport(
            journals.entries(of: "a"), matching: query, as: format, url: "http://127.0.0.1:1/ns/a", secrets: [],
            secretMembers: ["token"], forgotten: nil)
        var (bytes, pieces) = (Data(), 0)
        while let piece = try export.next() {
            bytes += piece
            pieces += 1
        }
        return (bytes, pieces)
    }

    private var samples: [JournalEntry] {
        [
            entry("plain", body: #"{"token":"t-1","note":"demo-api-token"}"#),
            entry(
                "odd-\(Self.characters)", path: "/a%20b/\(Self.characters)", query: "?token=t-2&a=1%202&b&=c&d=x=y",
                body: Self.characters),
            entry("empty", query: "?", body: ""),
        ]
    }

    private static func entries(_ archive: Data) throws -> [JSONValue] {
        try #require(try WireJSON.decode(JSONValue.self, from: archive)["log"]["entries"].elements)
    }

    private struct Kept: Codable {
        let requests: [JournaledRequest]
    }

    @Test func theExportedBytesMatchTheEncoder() throws {
        let requests = try export(samples, as: .requests).bytes
        let expected = Kept(
            requests: samples.enumerated().map { index, sample in
                var entry = sample
                entry.sequence = Int64(index) + 1
                var request = JournaledRequest(entry, withMessages: true, Secrets(entry, []))
                request.digests = entry.digests(["token"], Secrets(entry, []))
                request.connection = 4_294_967_295
                request.moved = 0
                return request
            })
        #expect(
            String(decoding: requests, as: UTF8.self) == String(decoding: try WireJSON.encode(expected), as: UTF8.self))
        // The archive, decoded and encoded again.
        let archive = try export(samples, as: .har).bytes
        let decoded = try WireJSON.decode(JSONValue.self, from: archive)
        #expect(
            String(decoding: archive, as: UTF8.self) == String(decoding: try WireJSON.encode(decoded), as: UTF8.self))
        let entries = try Self.entries(archive)
        try #require(entries.count == samples.count)
        let odd = entries[1]
        #expect(odd["response"]["headers"].elements?.last?["value"].text == Self.characters)
        #expect(odd["request"]["postData"]["text"].text == Self.characters)
        let query = odd["request"]["queryString"].elements
        #expect(query?.map { $0["name"].text } == ["token", "a", "b", "", "d"])
        #expect(query?.map { $0["value"].text } == ["***", "1 2", "", "c", "x=y"])
        #expect(entries[2]["request"]["postData"] == nil && odd["time"] == 12.3456789)
        for secret in ["t-1", "t-2", "demo-api-token", "secret"] {
            #expect(!String(decoding: archive + requests, as: UTF8.self).contains("\"\(secret)\""), "\(secret)")
        }
    }

    @Test func aLargeJournalIsExportedInPiecesAndFiltered() throws {
        let entries = (0..<1200).map { entry("\($0)", path: $0 % 2 == 0 ? "/even" : "/odd", body: "{}") }
        let all = try export(entries, as: .har)
        #expect(all.pieces > 3)
        #expect(try Self.entries(all.bytes).count == 1200)
        let odd = try export(entries, JournalQuery(route: Glob("/odd")), as: .requests)
        #expect(try WireJSON.decode(Kept.self, from: odd.bytes).requests.map(\.id).first == "1")
        #expect(try WireJSON.decode(Kept.self, from: odd.bytes).requests.count == 600)
        let none = try export(entries, JournalQuery(route: Glob("/none")), as: .har)
        #expect(try Self.entries(none.bytes).isEmpty)
        #expect(try Self.entries(try export([], as: .har).bytes).isEmpty)
    }

    /// A body whose bytes are not available before `isAllowed` is signalled.
    private final class Slow: JournalBody {
        let isAsked = DispatchSemaphore(value: 0)
        let isAllowed = DispatchSemaphore(value: 0)

        var data: Data {
            isAsked.signal()
            isAllowed.wait()
            return Data("slow".utf8)
        }
    }

    // If the rule is broken, this test does not end. The time limit says nothing about its duration.
    @Test(.timeLimit(.minutes(15))) func aNamespaceAnswersWhileItsJournalIsRendered() async throws {
        let bench = try NamespaceTests.Bench()
        let namespace = try await bench.open()
        let slow = Slow()
        let message = JournalEntry.Message(length: 4, kept: 4, headers: Headers(pairs: []), body: slow)
        let outcome = RequestOutcome(
            at: Instant(microseconds: 0), generation: namespace.outbox.generation,
            journal: .init(entries: 10, bytes: 100_000, bodyBytes: 10), secrets: [])
        await namespace.append(
            JournalEntry(
                requestID: "r", method: "GET", path: "/", query: "", status: 200,
                milliseconds: 1, outcome: outcome, request: message, response: message))
        let export = try await namespace.answer(.success(ExportRequests(JournalQuery())), RequestHead(isControl: true))
            .result.get()
        let rendered = NIOLockedValueBox<[UInt8]>([])
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                slow.isAsked.wait()
                continuation.resume()
            }
            Thread.detachNewThread {
                while let piece = try? export.next() { rendered.withLockedValue { $0 += piece } }
            }
        }
        // The rendering has stopped in the middle of the entry. The namespace still answers and records requests.
        _ = try await namespace.answer(.success(ShowClock()), RequestHead(isControl: true)).result.get()
        slow.isAllowed.signal()
        slow.isAllowed.signal()
        while !rendered.withLockedValue({ String(decoding: $0, as: UTF8.self).contains("1.2\"}}") }) {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(rendered.withLockedValue { String(decoding: $0, as: UTF8.self).contains("slow") })
    }
}

@Suite struct SecretTests {
    @Test(
        arguments: [
            // A mark that combines with the last letter does not hide the secret.
            ("demo-api-token\u{301}", "***\u{301}"),
            (#"{"password\#u{301}":"x","secret":"y"}"#, #"{"password\#u{301}":"x","secret":"***"}"#),
            (#"{"url":"http:\/\/me:pw@host\/x"}"#, #"{"url":"http:\/\/***@host\/x"}"#),
            (#"{"a":"\u3042","token":"x"}"#, #"{"a":"\u3042","token":"***"}"#),
            (#"{"a":"\u0064emo-api-token"}"#, #"{"a":"***"}"#),
            (#"{"TOKEN":"a\\","jwt":[1]}"#, #"{"TOKEN":"***","jwt":"***"}"#),
            (#"{"token" "x", "token": null, "token": true}"#, #"{"token" "x", "token": null, "token": true}"#),
            (#"say "token": "x"#, #"say "token": "***"#), (#"{"token":"x\"#, #"{"token":"***"#),
            ("eyJa.b", "eyJa.b"), ("eyJa.b.", "***"), ("eyJ.eyJa.b.c d", "eyJ.*** d"), ("eyJeyJa.b.c.d", "***.d"),
            ("sdk_abcdefghijabcdefghi", "sdk_abcdefghijabcdefghi"),
            ("sdk_sdk_abcdefghijabcdefghij1", "sdk_sdk_***1"), ("cap_abcdefghijabcdefghij", "cap_abcdefghijabcdefghij"),
            ("http://a@b://c@d", "http://***@b://***@d"),
            ("a=sdk%5Fabcdefghijabcdefghij&b=1", "a=***&b=1"),
        ])
    func secretsAreFoundInTheBytes(text: String, masked: String) {
        let secrets = Secrets(KnownSecrets(["demo-api-token", "demo-api"], tokensOf: .simulated))
        #expect(secrets.masked(body: Data(text.utf8)) == masked)
    }

    @Test func aSecretInPlaceOfTheSchemeIsMasked() {
        let token = "sdk_" + String(repeating: "a", count: 52)
        let secrets = Secrets(KnownSecrets(["demo-api-token"], tokensOf: .simulated))
        #expect(secrets.masked(header: "Authorization", "\(token) x") == "sdk_*** ***")
        #expect(secrets.masked(header: "Authorization", "demo-api-token x") == "*** ***")
    }

    /// If a search started again at every possible place, these would take hours.
    @Test(
        .timeLimit(.minutes(15)),
        arguments: [
            "eyJ", "eyJa.", "sdk_", "://", "http://a", "\"token\":", "\"token\" ", "\\", "\\u", "demo-api", "%41&",
            "\u{301}",
        ])
    func maskingTakesTimeInProportionToTheText(part: String) {
        let text = "\"token\"" + String(repeating: part, count: 100_000 / part.utf8.count)
        let secrets = Secrets(KnownSecrets(["demo-api-token", "demo-apidemo-apidemo-apx"], tokensOf: .simulated))
        #expect(!secrets.masked(text: text).isEmpty)
        #expect(secrets.masked(body: Data(text.utf8)) != nil)
        #expect(!secrets.masked(query: text).isEmpty)
    }
}
