import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Simulation

@Suite struct JournalTests {
    private struct NoHeaders: JournalHeaders {
        let pairs: [(name: String, value: String)] = []
    }

    private struct Zeros: JournalBody {
        let count: Int
        var data: Data { Data(count: count) }
    }

    private func entry(_ id: String, body: Int = 0) -> JournalEntry {
        let message = JournalEntry.Message(length: body, kept: body, headers: NoHeaders(), body: Zeros(count: body))
        return JournalEntry(
            requestID: id, method: "GET", path: "/", query: "", status: 200, milliseconds: 1,
            outcome: RequestOutcome(
                at: Instant(microseconds: 0), generation: 0, journal: .init(entries: 0, bytes: 0, bodyBytes: 0),
                secrets: []),
            request: message, response: message)
    }

    /// Over HTTP/2 a method may be any token.
    @Test func everyTextOfARequestCounts() {
        func bytes(method: String = "GET", path: String = "/", query: String = "", user: String? = nil) -> Int {
            let message = JournalEntry.Message(length: 0, kept: 0, headers: NoHeaders(), body: Zeros(count: 0))
            var outcome = RequestOutcome(
                at: Instant(microseconds: 0), generation: 0, journal: .init(entries: 0, bytes: 0, bodyBytes: 0),
                secrets: [])
            outcome.change { outcome in outcome.username = user }
            return JournalEntry(
                requestID: "r", method: method, path: path, query: query, status: 200, milliseconds: 1,
                outcome: outcome, request: message, response: message
            ).bytes
        }
        let long = String(repeating: "M", count: 10_000)
        for size in [bytes(method: long), bytes(path: long), bytes(query: long), bytes(user: long)] {
            #expect(size >= bytes() + 9_990)
        }
    }

    @Test func aCopyOfAnOutcomeIsItsOwn() {
        var outcome = RequestOutcome(
            7, at: Instant(microseconds: 1), generation: 2, journal: .init(entries: 3, bytes: 4, bodyBytes: 5),
            secrets: ["hidden"])
        outcome.change { outcome in outcome.limits = ["a"] }
        let before = outcome
        outcome.change { $0.limits.append("b") }
        outcome.change { outcome in
            outcome.username = "u"
            outcome.outcomeID = "out_1"
            outcome.because = "why"
            outcome.changes = (1, 2)
        }
        #expect(before.limits == ["a"])
        #expect(before.username == nil && before.outcomeID == nil && before.because == nil && before.changes == nil)
        #expect(outcome.limits == ["a", "b"] && outcome.username == "u" && outcome.outcomeID == "out_1")
        #expect(outcome.sequence == 7 && outcome.at == before.at && outcome.generation == 2)
        #expect(outcome.journal.bodyBytes == 5 && outcome.secrets.texts == ["hidden"])
    }

    private struct LongHeaders: JournalHeaders {
        let pairs = [(name: "X-Long", value: String(repeating: "a", count: 60_000))]
    }

    /// The secrets of a platform with two kinds of tokens.
    private static func secrets(_ texts: [String] = []) -> Secrets {
        Secrets(KnownSecrets(texts, tokenPrefixes: ["sdk_", "partner_"].map { Array($0.utf8) }))
    }

    /// Few secrets are searched for one after another, many in one pass.
    @Test func manySecretsAreMaskedLikeFew() {
        let few = ["demo-api-token", "token-000017", "token-00001", "token-000017-long", "zzzzzz"]
        let many = few + (100..<300).map { "token-\($0)-other" }
        for text in [
            "", "token", "token-00001", "a token-000017-lon token-000017-long.", "xtoken-00001token-000017zzzzzzz",
            "demo-api-demo-api-token", "token-150-othertoken-150-othe",
        ] {
            let hidden = text.replacing("token-150-other", with: "***")
            #expect(Self.secrets(many).masked(text: text) == Self.secrets(few).masked(text: hidden), "\(text)")
        }
    }

    /// The worst case: all secrets begin like the text.
    @Test func maskingTimeDoesNotGrowWithTheNumberOfSecrets() {
        func seconds(_ count: Int) -> Double {
            let secrets = Self.secrets((0..<count).map { "same-beginning-" + String(1_000_000 + $0) })
            let text = String(repeating: "same-beginning-x ", count: 2000)
            var (start, end) = (timespec(), timespec())
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
            _ = secrets.masked(text: text)
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
        }
        let (some, many) = (seconds(100), (0..<3).map { _ in seconds(10_000) }.min()!)
        #expect(many < some * 10, "100 secrets took \(some) s, 10,000 took \(many) s")
    }

    @Test func headersAndIDsCount() {
        let message = JournalEntry.Message(length: 0, kept: 0, headers: LongHeaders(), body: Zeros(count: 0))
        let plain = entry("")
        let long = JournalEntry(
            requestID: String(repeating: "r", count: 128), method: "GET", path: "/", query: "", status: 200,
            milliseconds: 1, outcome: plain.outcome, request: message, response: message)
        #expect(long.bytes - plain.bytes >= 120_128)
    }

    @Test func anEntryIsMarkedWhereItIs() throws {
        let journals = Journals()
        let settings = Settings.Journal(entries: 3, bytes: 1_000_000, bodyBytes: 0)
        let answers = (1...5).compactMap { journals.append(entry("\($0)"), to: "a", settings) }
        #expect(answers.map(\.entry.sequence) == [1, 2, 3, 4, 5])
        let (before, bytes) = (journals.entries(of: "a"), journals.bytes)
        #expect(journals.markUndelivered(sequence: 1, in: "a", if: answers[0]) == nil, "the journal has dropped it")
        #expect(journals.markUndelivered(sequence: 4, in: "a", if: answers[3])?.requestID == "4")
        #expect(journals.markUndelivered(sequence: 4, in: "a", if: answers[3]) == nil, "it is known already")
        #expect(journals.entries(of: "a").map(\.isDelivered) == [true, false, true])
        #expect(before.someAndAll { $0.isDelivered } && journals.bytes == bytes, "snapshots stay as they were")
        #expect(journals.markUndelivered(sequence: 5, in: "a")?.requestID == "5")
        #expect(journals.markUndelivered(sequence: 5, in: "b") == nil)
        journals.clear("a")
        #expect(journals.markUndelivered(sequence: 3, in: "a", if: answers[2]) == nil)
        // A namespace of the same name begins its numbers anew.
        journals.forget("a")
        for number in 1...3 { journals.append(entry("new \(number)"), to: "a", settings) }
        #expect(journals.markUndelivered(sequence: 3, in: "a", if: answers[2]) == nil)
        #expect(journals.entries(of: "a").someAndAll { $0.isDelivered })
    }

    @Test(
        arguments: [
            ("drop_connection", 200, "200, not delivered: connection reset"),
            ("lose_request", nil, "no answer, not delivered: connection reset before the request was handled"),
            ("truncate_body", 200, "200, not delivered: body cut off"),
            ("slow_body", 503, "503, not delivered: connection ended before the last byte was sent"),
        ] as [(String, Int?, String)]) func anAnswerIsToldInWords(effect: String, status: Int?, words: String)
    {
        var request = JournaledRequest(
            id: "r", sequence: 1, at: 5, method: "GET", path: "/p", query: nil, status: status, delivered: false,
            effect: [effect: true], duration_ms: 1, username: nil, test: nil,
            decided_by: DecidedRequest(fault: "f", limits: [], outcome: nil), changes: nil, request: nil, response: nil)
        #expect(request.answerText == words)
        request.delivered = true
        #expect(request.lossText == nil)
    }

    @Test func theOldestAreRemovedFirstIfThereAreTooMany() {
        let journals = Journals()
        for number in 1...5 {
            journals.append(entry("\(number)"), to: "a", .init(entries: 3, bytes: 1_000_000, bodyBytes: 0))
        }
        #expect(journals.entries(of: "a").map(\.requestID) == ["3", "4", "5"])
        #expect(journals.entries(of: "a").map(\.sequence) == [3, 4, 5])
    }

    @Test func theOldestAreRemovedFirstIfTheyAreTooLarge() {
        let journals = Journals()
        let one = entry("x", body: 10_000).bytes
        for number in 1...5 {
            journals.append(
                entry("\(number)", body: 10_000), to: "a", .init(entries: 100, bytes: 2 * one, bodyBytes: 0))
        }
        #expect(journals.entries(of: "a").map(\.requestID) == ["4", "5"])
        #expect(journals.bytes == 2 * one)
        journals.append(entry("huge", body: 1_000_000), to: "a", .init(entries: 100, bytes: 2 * one, bodyBytes: 0))
        #expect(journals.entries(of: "a").isEmpty && journals.bytes == 0, "the entry is larger than the journal")
    }

    @Test func theLargestJournalShrinksAtTheServersBound() {
        let one = entry("x", body: 10_000).bytes
        let journals = Journals(maxBytes: 20 * one)
        let settings = Settings.Journal(entries: 1000, bytes: 64 << 20, bodyBytes: 0)
        for number in 1...4 { journals.append(entry("\(number)", body: 10_000), to: "small", settings) }
        for number in 1...100 { journals.append(entry("\(number)", body: 10_000), to: "large", settings) }
        #expect(journals.bytes <= 20 * one)
        #expect(journals.entries(of: "small").count == 4)
        #expect(journals.entries(of: "large").last?.requestID == "100")
        journals.clear("large")
        #expect(journals.entries(of: "large").isEmpty && journals.bytes == 4 * one)
        journals.forget("small")
        #expect(journals.bytes == 0)
    }

    @Test(
        arguments: [
            (#"{"token":"sdk_abc","username":"x"}"#, #"{"token":"***","username":"x"}"#),
            (#"{"secret_key" : "a\"b","url":"u"}"#, #"{"secret_key" : "***","url":"u"}"#),
            (#"{"jwt":"eyJhbGciOi.eyJzdWIi.c2ln"}"#, #"{"jwt":"***"}"#),
            (#"["eyJhbGciOi.eyJzdWIi.c2ln"]"#, #"["***"]"#), (#"{"x":"eyJhbGciOi.eyJzdWIi.c2-n_"}"#, #"{"x":"***"}"#),
            (#"{"secretKey":"a","passwd":"b","apiKey":"c"}"#, #"{"secretKey":"***","passwd":"***","apiKey":"***"}"#),
            ("username=demo&password=pw-zz9", "username=demo&password=***"), ("a.b.c", "a.b.c"),
            ("x = 1\ny = 2", "x = 1\ny = 2"),
            (#"{"password":"cut o"#, #"{"password":"***"#), (#"{"token":5}"#, #"{"token":"***"}"#), ("plain", "plain"),
        ])
    func secretsInBodiesAreMasked(text: String, masked: String) {
        #expect(Self.secrets().masked(body: Data(text.utf8)) == masked)
    }

    @Test func theTokensOfANamespaceAreMaskedEverywhere() {
        let secrets = Secrets(["demo-api-token", "short"])
        #expect(secrets.masked(text: "/lookup/demo-api-token/x") == "/lookup/***/x")
        #expect(secrets.masked(query: "q=demo-api-token&short=1") == "q=***&short=1")
        #expect(secrets.masked(body: Data(#"{"note":"it is demo-api-token"}"#.utf8)) == #"{"note":"it is ***"}"#)
        #expect(secrets.masked(header: "X-Note", "demo-api-token") == "***")
    }

    @Test func aKnownSecretIsMaskedInEverySpelling() {
        let secrets = Secrets(["demo-api-token", #"q"u\o/te-77"#])
        #expect(secrets.masked(text: "/x/demo%2Dapi-token/y") == "/x/***/y")
        #expect(secrets.masked(text: "/x/demo%252Dapi-token/y") == "/x/***/y")
        #expect(secrets.masked(text: "100%/x%zz%4") == "100%/x%zz%4")
        #expect(
            secrets.masked(body: Data(#"{"a":"q\"u\\o\/te-77","b":"q\"u\\o/te-77"}"#.utf8)) == #"{"a":"***","b":"***"}"#
        )
        // Truncated JSON cannot be decoded.
        #expect(secrets.masked(body: Data(#"{"a":"demo\u002dapi-token","b"#.utf8)) == #"{"a":"***","b"#)
        #expect(secrets.masked(header: "Authorization", "demo-api-token x") == "*** ***")
    }

    @Test(
        arguments: [
            (#"{"a":"demo-api-to"#, #"{"a":"***"#), (#"{"a":"demo"#, #"{"a":"***"#), (#"{"a":"dem"#, #"{"a":"dem"#),
            (#"{"a":"x sdk_abc2"#, #"{"a":"x sdk_***"#), (#"{"a":"partner_q"#, #"{"a":"partner_***"#),
            (#"{"a":"plain"#, #"{"a":"plain"#),
        ])
    func theBeginningOfASecretAtTheEndOfACutBodyIsMasked(text: String, masked: String) {
        let secrets = Self.secrets(["demo-api-token"])
        #expect(secrets.masked(body: Data(text.utf8), isCut: true) == masked)
        #expect(secrets.masked(body: Data(text.utf8)) == text)
    }

    @Test func aBodyThatIsNotTextIsNotShown() {
        #expect(Secrets([]).masked(body: Data([0xff, 0xd8, 0xff, 0xe0, 0x00])) == nil)
        #expect(Secrets([]).masked(header: "Authorization", "Token abc") == "Token ***")
        #expect(Secrets([]).masked(header: "authorization", "abc") == "***")
        #expect(Secrets([]).masked(header: "Accept", "x") == "x")
    }

    @Test(arguments: [
        ("404", 404, true), ("4xx", 404, true), ("4XX", 429, true), ("5xx", 404, false), ("40", 40, false),
    ])
    func aPatternMatchesAStatusOrAClassOfThem(pattern: String, status: Int, matches: Bool) {
        #expect((JournalQuery.StatusPattern(pattern)?.matches(status) ?? false) == matches)
    }
}
