import SimulationAPI
import TestSupport
import Testing

@testable import Simulation

/// Bodies, queries, settings and rules word the same problem alike.
@Suite struct FieldReaderTests {
    /// The problems, each as one line: the field and what is wrong with it.
    private func problems(_ fields: consuming FieldReader) -> [String] {
        var fields = fields
        do {
            try fields.finish()
            return []
        } catch {
            return ((error as? PlatformError)?.details ?? []).map { "\($0.field) \($0.problem)" }
        }
    }

    /// As `since`, which is a number or a time.
    @Test func aParameterOfTwoFormsIsListedOnce() {
        var query = FieldReader(query: "x=1", isStrict: true)
        for name in ["since", "until", "since"] { _ = query.text(name) }
        #expect(problems(query) == ["x is not known here; expected since, until"])
    }

    @Test func aBodyNamesEveryProblemByItsPath() {
        var fields = FieldReader(
            ["name": .number(JSONNumber(26)), "state": "c", "size": 101, "on": "true", "match": ["user": ""], "x": 1],
            known: ["name", "state", "size", "on", "match", "to"])
        _ = fields.string("name")
        _ = fields.word("state", ["a", "b"])
        _ = fields.number("size", in: 1...100)
        _ = fields.optionalBool("on")
        var match = fields.object("match", known: ["user"])
        _ = match.text("user")
        _ = fields.string("to")
        #expect(
            problems(fields) == [
                "x is not known here; expected name, state, size, on, match, to",
                "name must be a string, got a number", "state must be one of a, b, got \"c\"",
                "size must be a whole number from 1 to 100, got 101", "on must be true or false, got \"true\"",
                "match.user must not be empty", "to is missing",
            ])
    }

    @Test(arguments: [
        ("effcet", "did you mean effect? expected match, effect, times"),
        ("Times", "did you mean times? expected match"),
        ("after", "expected match, effect, times"), ("xy", "expected match"),
    ])
    func aMisspeltKeyHasASuggestion(key: String, words: String) throws {
        let found = problems(FieldReader([key: 1], known: ["match", "effect", "times"]))
        #expect(found.count == 1 && found[0].hasPrefix("\(key) is not known here; \(words)"), "\(found)")
        var query = FieldReader(query: "\(key)=1", isStrict: true)
        for name in ["match", "effect", "times"] { _ = query.text(name) }
        #expect(problems(query) == found)
    }

    @Test(arguments: [
        ("unknwon", "; did you mean unknown?"), ("blurry", "; did you mean blurry_images?"),
        ("UNKNOWN", "; did you mean unknown?"), ("real", ""), ("x", ""),
    ])
    func aMisspeltWordHasASuggestion(word: String, question: String) {
        var fields = FieldReader(["state": .string(word)], known: ["state"])
        _ = fields.word("state", ["unknown", "blurry_images"])
        #expect(problems(fields) == ["state must be one of unknown, blurry_images, got \"\(word)\"\(question)"])
    }

    /// Looking takes longer than reading a key, and a body may have many.
    @Test func theNearestNamesAreLookedForTenTimes() {
        let members = JSONObject((10..<30).map { ("effec\($0)", JSONValue.bool(true)) })
        let found = problems(FieldReader(members, known: ["effect"]))
        #expect(found.count == 20)
        #expect(found.map { $0.contains("did you mean") } == (0..<20).map { $0 < 10 })
        var query = FieldReader(
            query: Substring((10..<30).map { "effec\($0)=1" }.joined(separator: "&")), isStrict: true)
        _ = query.text("effect")
        #expect(problems(query).map { $0.contains("did you mean") } == (0..<20).map { $0 < 10 })
    }

    @Test func aQueryIsReadAlike() {
        var fields = FieldReader(query: "state=c&size=101&on=true&twice=1&twice=2&bad=%zz&x=1", isStrict: true)
        _ = fields.word("state", ["a", "b"])
        _ = fields.number("size", in: 1...100)
        #expect(fields.optionalBool("on") == true)
        _ = fields.text("twice")
        _ = fields.text("bad")
        #expect(
            problems(fields) == [
                "state must be one of a, b, got \"c\"", "size must be a whole number from 1 to 100, got \"101\"",
                "twice is given twice", "bad is not valid percent-encoding of UTF-8",
                "x is not known here; expected state, size, on, twice, bad",
            ])
    }

    @Test func elementsAreNamedByTheirIndex() {
        var fields = FieldReader(["gaps": ["1s", 7, "x", nil]])
        _ = fields.spans("gaps")
        #expect(
            problems(fields) == [
                "gaps[2] \(Span.form), up to 100 years, got \"x\"", "gaps[3] must not be null",
            ])
    }

    @Test func absentAndNullReadAsNothing() {
        var fields = FieldReader(["a": nil])
        #expect(fields.optionalString("a") == nil && fields.number("a") == nil && fields.moment("b") == nil)
        #expect(problems(fields) == [])
    }
}
