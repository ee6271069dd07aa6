import Testing

@testable import Console

@Suite struct SearchTermsTests {
    @Test func wordsAndKeysAreRead() {
        let terms = SearchTerms(#"status:4xx user:"a b" captures /sdk since:2026-01-05T09:00:00Z"#)
        #expect(terms.value("status") == "4xx" && terms.value("user") == "a b")
        #expect(terms.value("since") == "2026-01-05T09:00:00Z", "only the first colon ends the key")
        #expect(terms.problems.isEmpty)
        #expect(terms.text == #"status:4xx user:"a b" captures /sdk since:2026-01-05T09:00:00Z"#)
        #expect(terms.without(0) == #"user:"a b" captures /sdk since:2026-01-05T09:00:00Z"#)
    }

    @Test(arguments: [
        ("captures", "*captures*"), ("/sdk/captures", "/sdk/captures*"), ("/sdk/*/flag", "/sdk/*/flag"),
        ("route:/sdk/search", "/sdk/search"),
    ])
    func aWordIsLookedForInThePath(text: String, pattern: String) {
        let query = SearchTerms(text).requests
        #expect(query.first { $0.0 == "route" }?.1 == pattern)
    }

    @Test(arguments: [
        ("colour:red", "colour: is not a search key"), ("status:", "status: needs a value"),
        ("show:all", "show: must be one of"),
    ])
    func aWrongWordIsExplained(text: String, problem: String) {
        let terms = SearchTerms(text)
        #expect(terms.problems.count == 1 && terms.problems[0].hasPrefix(problem))
        #expect(terms.terms.isEmpty)
    }

    /// A word that only requests have hides the other entries.
    @Test(arguments: [
        ("", true, true), ("status:404", true, false), ("kind:result.*", false, true), ("show:requests", true, false),
        ("show:changes", false, true), ("show:webhooks", false, true), ("captures", true, false),
    ])
    func wordsChooseTheLists(text: String, requests: Bool, events: Bool) {
        let terms = SearchTerms(text)
        #expect(terms.showsRequests == requests && terms.showsEvents == events)
    }

    @Test func aLongTextIsReadInLinearTimeAndGivesAtMost500Terms() {
        #expect(SearchTerms(String(repeating: "a ", count: 1_000_000)).terms.count == 500)
        #expect(SearchTerms(String(repeating: "\"", count: 1_000_000)).terms.isEmpty)
    }
}
