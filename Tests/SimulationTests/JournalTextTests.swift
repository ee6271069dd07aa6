import Foundation
import SimulationAPI
import Storage
import Testing

@testable import Simulation

@Suite struct JournalTextTests {
    private struct Headers: JournalHeaders {
        let pairs: [(name: String, value: String)]
    }

    private struct Body: JournalBody {
        let data: Data
    }

    private func entry(
        path: String = "/sdk/captures", query: String = "", headers: [(name: String, value: String)] = [],
        body: String = "", answer: String = "", isCut: Bool = false
    ) -> JournalEntry {
        func message(_ text: String, _ headers: [(name: String, value: String)]) -> JournalEntry.Message {
            let data = Data(text.utf8)
            return JournalEntry.Message(
                length: data.count + (isCut ? 10 : 0), kept: data.count, headers: Headers(pairs: headers),
                body: Body(data: data))
        }
        return JournalEntry(
            requestID: "r", method: "POST", path: path, query: query, status: 200, milliseconds: 1,
            outcome: RequestOutcome(
                at: Instant(microseconds: 0), generation: 0, journal: .init(entries: 9, bytes: 9, bodyBytes: 9),
                secrets: ["demo-api-token"]),
            request: message(body, headers), response: message(answer, [("X-Answer", "Ready")]))
    }

    private func finds(_ text: String, in entry: JournalEntry) -> Bool? {
        JournalText(text)?.isFound(in: entry) { Secrets(entry, []) }
    }

    @Test func aWordIsFoundInEachPart() {
        let entry = entry(
            path: "/sdk/a%20b", query: "?limit=2&name=J%C3%B6rg", headers: [("X-Sim-Test", "Checkout")],
            body: #"{"customer_item_id":"SKU-1042"}"#, answer: #"{"brand":"Nike"}"#)
        for text in [
            "/sdk/a%20b", "\"a b\"", "limit=2", "Jörg", "checkout", "x-sim-test", "\"X-Sim-Test: check\"", "sku-1042",
            "nike", "ready", "nike SKU-1042 checkout",
        ] {
            #expect(finds(text, in: entry) == true, "\(text)")
        }
        for text in ["sku-1043", "nike gucci", "\"nike checkout\"", "limit=20", "sku-1042\u{20}nikee"] {
            #expect(finds(text, in: entry) == false, "\(text)")
        }
    }

    /// Masked values must not be found: a search would guess them letter by letter.
    @Test func secretsAreNotFound() {
        let entry = entry(
            query: "?token=t-12345", headers: [("Authorization", "Token demo-api-token"), ("Cookie", "id=abc")],
            body: #"{"password":"hunter22","note":"demo-api-token","name":"hunter"}"#)
        for text in ["demo-api", "t-12345", "hunter22", "id=abc", "api-token", "%2Dapi"] {
            #expect(finds(text, in: entry) == false, "\(text)")
        }
        for text in ["token", "authorization", "note", "hunter", "password"] {
            #expect(finds(text, in: entry) == true, "\(text)")
        }
        let cut = self.entry(body: #"{"note":"demo-api"#, isCut: true)
        #expect(finds("demo-api", in: cut) == false, "the beginning of a secret at the end of a cut body")
    }

    @Test func aBodyThatIsNoTextIsNotFound() {
        let bytes = Data([0xff, 0xd8, 0xff] + Array("sku-1042".utf8) + [0xfe, 0xff])
        let message = JournalEntry.Message(
            length: bytes.count, kept: bytes.count, headers: Headers(pairs: []), body: Body(data: bytes))
        let plain = entry()
        let picture = JournalEntry(
            requestID: "r", method: "PUT", path: "/", query: "", status: 200, milliseconds: 1, outcome: plain.outcome,
            request: message, response: plain.response)
        #expect(finds("sku-1042", in: picture) == false)
    }

    /// A match that fails may have the beginning of the next one in it.
    @Test func aWordIsFoundAfterAPartOfIt() {
        for (word, text) in [("aab", "aaaab"), ("abac", "abababac"), ("sku-sku-2", "sku-sku-sku-2"), ("aaa", "aabaaa")]
        {
            #expect(finds(word, in: entry(body: text)) == true, "\(word) in \(text)")
        }
        #expect(finds("aaa", in: entry(body: "aabaab")) == false)
    }

    @Test func wordsAreRead() {
        #expect(JournalText("") == nil && JournalText("  \"\" ") == nil)
        #expect(JournalText(Array(repeating: "a", count: 10).joined(separator: " ")) != nil)
        #expect(JournalText(Array(repeating: "a", count: 11).joined(separator: " ")) == nil)
    }

    /// The worst case of a naive search: each place begins like the word.
    @Test func aSearchTakesLinearTime() {
        func seconds(_ count: Int) -> Double {
            let word = JournalText(String(repeating: "a", count: count) + "b")
            let entry = entry(body: String(repeating: "a", count: 400_000))
            var (start, end) = (timespec(), timespec())
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
            #expect(word?.isFound(in: entry) { Secrets(entry, []) } == false)
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
        }
        let (short, long) = (seconds(3), (0..<3).map { _ in seconds(400) }.min()!)
        #expect(long < short * 10, "4 letters took \(short) s, 401 took \(long) s")
    }
}
