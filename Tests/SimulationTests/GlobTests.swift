import Testing

@testable import Simulation

/// Notes on the routes of rules.
@Suite struct RouteNoteTests {
    private let routes = [
        ("GET", "/sdk/captures/{id}"), ("POST", "/sdk/captures/{id}/submit"), ("POST", "/sdk/search"),
        ("GET", "/v2/authentications/{id}"), ("POST", "/v2/authentications/{id}/flag"), ("GET", "/v2/webhooks/{id}"),
    ].map { KnownRoute($0.0, $0.1) }

    /// A pattern whose word only an id can be is probably meant to cross slashes.
    @Test(
        arguments: [
            (
                "/sdk/*/submit",
                "/sdk/*/submit matches only routes whose {id} is \"submit\"; a * stands for one part of a path, and /sdk/**/submit for any number of them"
            ),
            (
                "/v2/*/flag",
                "/v2/*/flag matches only routes whose {id} is \"flag\"; a * stands for one part of a path, and /v2/**/flag for any number of them"
            ),
            ("/sdk/serach", "no route of the server matches /sdk/serach; the nearest is POST /sdk/search"),
            ("sdk/search", "no route of the server matches sdk/search; the nearest is POST /sdk/search"),
            ("/xyz", "no route of the server matches /xyz"), ("/sdk/captures/cap_1", nil), ("/sdk/*/cap_1", nil),
            ("/sdk/**/submit", nil), ("/sdk/captures/*/*", nil), ("/sdk/search", nil), ("*", nil),
        ] as [(String, String?)])
    func aRouteThatIsProbablyMeantOtherwiseHasANote(route: String, problem: String?) {
        let notes = RouteNotes.notes(Glob(paths: route), method: nil, "match.", routes, unsimulated: [])
        #expect(notes.map(\.problem) == (problem.map { [$0] } ?? []))
    }
}

@Suite struct GlobTests {
    @Test(
        arguments: [
            ("late-*", "late-1", true), ("late-*", "late-", true), ("late-*", "xlate-1", false), ("*", "", true),
            ("/sdk/results/*/flag", "/sdk/results/A/flag", true), ("/sdk/results/*/flag", "/sdk/results/A", false),
            ("/sdk/*", "/sdk/results/A/flag", true), ("a?c", "abc", true), ("a?c", "ac", false), ("", "", true),
            ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxaxx", false), ("é*", "e\u{301}x", false), ("**", "x", true),
        ])
    func aPatternMatchesTheWholeText(pattern: String, text: String, fits: Bool) {
        #expect(Glob(pattern).matches(text) == fits)
    }

    @Test(
        arguments: [
            ("/sdk/*", "/sdk/results/*/flag", true), ("/sdk/results/A", "/sdk/results/*", true),
            ("/sdk/nothing", "/sdk/results/*", false), ("*flag", "/sdk/results/*/flag", true),
            ("/v?/health", "/v1/health", true), ("/v?/health", "/v10/health", false), ("*", "*", true), ("", "*", true),
            ("a*", "b*", false),
        ])
    func twoPatternsMeetIfATextMatchesBoth(one: String, other: String, meet: Bool) {
        #expect(Glob(one).overlaps(Glob(other)) == meet)
        #expect(Glob(other).overlaps(Glob(one)) == meet)
    }

    @Test(
        arguments: [
            ("/sdk/results/*/flag", "/sdk/results/{id}/flag", true), ("/sdk/results/A", "/sdk/results/{id}", true),
            ("/sdk/results/*", "/sdk/results/{id}/flag", true), ("*", "/", true),
            ("*flag", "/sdk/results/{id}/flag", true),
            ("/sdk/results/*/flga", "/sdk/results/{id}", false), ("/sdk/results/A/B", "/sdk/results/{id}", false),
            ("/sdk/results/", "/sdk/results/{id}", false), ("/sdk/results/?", "/sdk/results/{id}", true),
            ("/sdk/results/*flag", "/sdk/results/{id}/flag", true), ("/*/*", "/sdk/results/{id}/flag", true),
            ("/sdk/serch*", "/sdk/search", false),
            ("/sdk/results/*/images/*", "/sdk/results/{id}/images/{number}", true),
        ])
    func aParameterOfARouteIsOnePartOfAPath(glob: String, route: String, meet: Bool) {
        #expect(Glob(glob).overlaps(Glob(route: route)) == meet)
        #expect(Glob(route: route).overlaps(Glob(glob)) == meet)
    }

    /// A star of a route is a part of a path, or less; two are any parts.
    @Test(
        arguments: [
            ("/sdk/*", "/sdk/login", true), ("/sdk/*", "/sdk/results/A", false), ("/sdk/**", "/sdk/results/A", true),
            ("/sdk/results/*/flag", "/sdk/results/A/flag", true),
            ("/sdk/results/*/flag", "/sdk/results/A/B/flag", false),
            ("/sdk/**/flag", "/sdk/results/A/flag", true), ("**flag", "/sdk/results/A/flag", true),
            ("*flag", "/sdk/flag", false),
            ("*", "/sdk/results/A", true), ("/*", "/sdk/results", false), ("/sdk?login", "/sdk/login", false),
            ("/sdk/l?gin", "/sdk/login", true), ("/s***n", "/sdk/login", true), ("/sdk/s*n", "/sdk/session", true),
        ])
    func aStarOfARouteStopsAtASlash(pattern: String, path: String, fits: Bool) {
        #expect(Glob(paths: pattern).matches(path) == fits)
        // Every path is a pattern that matches itself alone.
        #expect(Glob(paths: pattern).overlaps(Glob(paths: path)) == fits)
        #expect(Glob(paths: path).overlaps(Glob(paths: pattern)) == fits)
    }

    @Test(
        arguments: [
            ("/sdk/captures/*/submitt", "/sdk/captures/{id}/images/{region}", false),
            ("/sdk/captures/*/submitt", "/sdk/captures/{id}/submit", false),
            ("/sdk/captures/**/frnt", "/sdk/captures/{id}/images/{region}", true),
            ("/sdk/captures/**", "/sdk/captures/{id}/submit", true),
            ("/sdk/captures/*", "/sdk/captures/{id}/submit", false),
        ])
    func aStarOfARouteMeetsOneParameter(glob: String, route: String, meet: Bool) {
        #expect(Glob(paths: glob).overlaps(Glob(route: route)) == meet)
        #expect(Glob(route: route).overlaps(Glob(paths: glob)) == meet)
    }

    @Test(
        arguments: [("/v2/*", "/v2/**"), ("*/a/*", "**/a/**"), ("/v2/**", nil), ("/v2", nil), ("*", "**")]
            as [(String, String?)])
    func theWiderPatternHasTwoStarsForEach(pattern: String, wider: String?) {
        #expect(Glob(paths: pattern).crossingSlashes?.pattern == wider)
        #expect(Glob(pattern).crossingSlashes == nil)
    }

    /// The matcher keeps 64 characters of the pattern in a word.
    @Test(arguments: [63, 64, 65, 127, 128, 129, 900]) func aLongPatternMatchesTheWholeText(length: Int) {
        let text = String(String(repeating: "ab", count: length / 2 + 1).prefix(length))
        for pattern in [
            String(text), text.dropLast() + "?", text.prefix(length / 2) + "*" + text.dropFirst(length / 2),
        ] {
            #expect(Glob(pattern).matches(String(text)), "\(pattern)")
            #expect(!Glob(pattern).matches(text + "c") && !Glob(pattern).matches("c" + text), "\(pattern)")
            #expect(!Glob(pattern).matches(String(text.dropFirst())), "\(pattern)")
        }
        #expect(Glob(text + "*").matches(text + text) && Glob("*" + text).matches(text + text))
    }

    @Test func manyStarsAreMatchedQuickly() {
        let glob = Glob(String(repeating: "*a", count: 300) + "b")
        #expect(!glob.matches(String(repeating: "a", count: 5000)))
    }
}
