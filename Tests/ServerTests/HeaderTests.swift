import HTTPTypes
import Simulation
import Testing

@testable import Server

@Suite struct HeaderTests {
    private func reader(_ name: HTTPField.Name, _ value: String) -> HeaderReader {
        HeaderReader([name: value])
    }

    @Test(arguments: [
        ("en", Language.english), ("ja", .japanese), ("ja-JP", .japanese), ("JA", .japanese),
        ("fr, ja;q=0.5", .japanese),
        ("en;q=0.2, ja;q=0.9", .japanese), ("ja;q=0, en", .english), ("fr", .english), ("", .english), ("*", .english),
        ("de, *;q=0.1, ja;q=0.2", .japanese), ("ja;q=x", .english), ("en;q=0.9, ja;q=5", .english),
        ("en;q=0.5, ja;q=1.0000", .english),
        ("en;q=0, *", .japanese), ("ja;q=1.000, en;q=0.999", .japanese), (";;,,", .english),
    ])
    func theFirstLanguageByWeightThatMatchesIsTaken(header: String, language: Language) {
        #expect(reader(.acceptLanguage, header).language == language)
    }

    @Test(arguments: ["Token t", "token t", "Bearer t", "BEARER  t", " Token t "])
    func tokensAreReadWithEitherScheme(header: String) {
        guard case .token("t") = reader(.authorization, header).credential else {
            Issue.record("\(header) was not read")
            return
        }
    }

    @Test(arguments: ["t", "Basic dDp0", "Token", "Token a b", "Token \u{e9}", ""])
    func anythingElseIsMalformed(header: String) {
        guard case .malformed = reader(.authorization, header).credential else {
            Issue.record("\(header) was read")
            return
        }
    }

    @Test(arguments: [
        "application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"",
        "application/problem+json",
    ])
    func theseMediaTypesAreJSON(header: String) {
        #expect(reader(.contentType, header).jsonMediaTypeProblem == nil)
    }

    @Test(arguments: ["text/json", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json", ""])
    func theseMediaTypesAreNotJSON(header: String) {
        #expect(reader(.contentType, header).jsonMediaTypeProblem != nil)
    }

    @Test(arguments: ["1.0", "1.1", "1.2", "1.3", "1.4"]) func theseVersionsAreServed(version: String) {
        #expect(reader(.apiVersion, version).apiVersionProblem() == nil)
    }

    @Test(arguments: ["", "1", "1.5", "0.9", "1.0-1.4", "2026-01-01", "v1.3", "1.3.0"])
    func otherVersionsAreNotServed(version: String) {
        #expect(reader(.apiVersion, version).apiVersionProblem() != nil)
    }

    @Test func onlyAValidRequestIDIsUsed() {
        #expect(reader(.requestID, "Run-1_a.B").requestID == "Run-1_a.B")
        for bad in ["", "a b", "é", String(repeating: "a", count: 129), "a/b"] {
            #expect(reader(.requestID, bad).requestID == nil)
        }
    }
}

@Suite struct TargetTests {
    @Test(arguments: [
        ("/sdk/login", "default", "/sdk/login", ""), ("/ns/a/sdk/login?x=1", "a", "/sdk/login", "?x=1"),
        ("/ns/a", "a", "/", ""), ("/ns", "", "/", ""), ("/ns//x", "", "/x", ""), ("/nsx/a", "default", "/nsx/a", ""),
        ("/ns/a?b=/c", "a", "/", "?b=/c"),
    ])
    func theNamespaceIsRemovedFromThePath(text: String, namespace: String, path: String, query: String) {
        let target = Target(text)
        #expect(target.namespace == namespace)
        #expect(target.path == path)
        #expect(target.query == query)
    }

    @Test(arguments: ["/_sim/clock", "/ns/a/_sim/clock", "//_sim/clock", "/%5Fsim/clock", "/_sim"])
    func theControlAPIIsRecognizedInEverySpelling(text: String) {
        #expect(Target(text).isControl)
    }
}
