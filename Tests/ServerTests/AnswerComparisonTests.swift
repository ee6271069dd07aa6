import Foundation
import Testing

@testable import Entrupy
@testable import Server
@testable import Simulation

/// The comparison of a replay's answers with the recorded ones.
@Suite struct AnswerComparisonTests {
    private func differences(_ recorded: String, _ now: String, type: String = "application/json", status: Int = 200)
        -> [String]
    {
        let headers = [["Content-Type", type]]
        let request = RecordedRequest(
            method: "GET", target: "/sdk/search", host: nil, headers: [], body: nil, status: status,
            answer_headers: headers,
            answer: RecordedBytes(Data(recorded.utf8)))
        return AnswerComparison(request).differences(
            ReplayedAnswer(status: status, headers: headers, body: Data(now.utf8)))
    }

    @Test func theLinesThatDifferAreShown() {
        #expect(differences(#"{"a":1,"b":[1,2]}"#, #"{"a":1,"b":[1,3]}"#) == ["- b[1]: 2", "+ b[1]: 3"])
        #expect(differences(#"{"a":1}"#, #"{"a":1}"#).isEmpty)
    }

    @Test func aComposedAndADecomposedLetterDiffer() {
        #expect(differences("{\"a\":\"\u{e9}\"}", "{\"a\":\"e\u{301}\"}").count == 2)
        #expect(differences("\u{e9}", "e\u{301}", type: "text/plain").count == 2)
    }

    @Test func textsOfErrorsMayBeReworded() {
        func refusal(_ code: String, _ text: String, _ field: String) -> String {
            #"{"code":"\#(code)","error":"\#(text)","details":[{"field":"\#(field)","problem":"\#(text)"}]}"#
        }
        let recorded = refusal("bad_request", "is no limit", "limit")
        #expect(differences(recorded, refusal("bad_request", "must be 1 to 25", "limit"), status: 400).isEmpty)
        #expect(differences(recorded, refusal("conflict", "is no limit", "limit"), status: 400).count == 2)
        #expect(differences(recorded, refusal("bad_request", "is no limit", "cursor"), status: 400).count == 2)
        #expect(differences(#"{"error":"a"}"#, #"{"error":"b"}"#).count == 2, "an answer that is no error")
    }

    @Test func textIsComparedToItsLastLineEnd() {
        #expect(differences("a\nb\n", "a\nb", type: "text/plain") == ["- "])
        #expect(differences("a\n\nb", "a\nb", type: "text/plain") == ["- "])
        #expect(differences("a\r\nb", "a\nb", type: "text/plain").count == 2)
    }

    @Test func largeAnswersThatDifferEverywhereAreComparedQuickly() {
        func items(_ first: Int) -> String { "[\((first..<first + 20_000).map { "\($0)" }.joined(separator: ","))]" }
        let lines = differences(items(0), items(1_000_000))
        #expect(lines.count == 41 && lines[0] == "- [0]: 0" && lines[40].hasPrefix("… and"))
    }
}
