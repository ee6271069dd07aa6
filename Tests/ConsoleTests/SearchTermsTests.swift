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

    @Test(
        arguments: [
            ("captures", nil, "captures"), ("/sdk/captures", "/sdk/captures*", nil),
            ("/sdk/*/flag", "/sdk/*/flag", nil),
            ("route:/sdk/search", "/sdk/search", nil), (#"nike "air max""#, nil, #"nike "air max""#),
            ("/sdk sku-1 status:404", "/sdk*", "sku-1"),
        ] as [(String, String?, String?)])
    func aWordIsAPathOrAText(text: String, pattern: String?, words: String?) {
        let query = SearchTerms(text).requests(username: nil)
        #expect(query.first { $0.0 == "route" }?.1 == pattern && query.first { $0.0 == "text" }?.1 == words)
    }

    @Test(
        arguments: [
            ("sku-1", "sku-1"), ("sku-1 status:404", "sku-1"), ("/sdk sku-1", "sku-1"), ("sku-1 sku-2", nil), ("", nil),
            ("/sdk", nil), ("sku-*", nil),
        ] as [(String, String?)])
    func oneWordMayNameAnItem(text: String, word: String?) {
        #expect(SearchTerms(text).freeWord == word)
    }

    /// A term that only the other kinds have would have no effect.
    @Test(
        arguments: [
            ("status:404 a", "requests", "status:404 a show:requests"),
            ("trace:a kind:x", "changes", "kind:x show:changes"),
            ("status:404 kind:x", "webhooks", "kind:x show:webhooks"),
            ("kind:x show:changes", "requests", "show:requests"), ("show:changes kind:x", nil, "kind:x"),
        ] as [(String, String?, String)])
    func aChipShowsOneKind(text: String, kind: String?, search: String) {
        #expect(SearchTerms(text).showing(kind) == search)
    }

    @Test func aWordOfAKeyIsReplaced() {
        #expect(SearchTerms("user:a x status:404").replacing("user", with: "b c") == #"user:"b c" x status:404"#)
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
