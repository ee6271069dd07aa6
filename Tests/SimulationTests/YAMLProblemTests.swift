import TestSupport
import Testing

@testable import Simulation

/// The errors of YAML, in our words and at their place.
@Suite struct YAMLProblemTests {
    @Test(arguments: [
        ("a:\n\tb: 1\n", 2, 1, "a tab indents this line; use spaces, since YAML has no tabs there"),
        ("a:\n  - b\n\t- c\n", 3, 1, "a tab indents this line; use spaces, since YAML has no tabs there"),
        ("a: b\nname: \"x\nc: 1\n", 2, 7, "the quote that begins here has no end"),
        ("name: 'x\n", 1, 7, "the quote that begins here has no end"),
        ("a: \"x\nb: \"y\"\n", 2, 5, "is a quote missing before it?"),
        ("a: [1, 2\nb: 3\n", 2, 2, "expected , or ] here; the list begins with [ at line 1, column 4"),
        ("a: {b: 1\nc: [", 2, 2, "expected , or } here; the mapping begins with { at line 1, column 4"),
        ("a: b: c\n", 1, 5, "put a value that has one in quotes"),
        ("a: 1\n  b: 2\n", 2, 4, "check the indentation"),
        ("a: 1\njust text\nb: 2\n", 2, 1, "this line has no \": \" after its key"),
        ("a: @b\n", 1, 4, "a value cannot begin with @; put it in quotes"),
        ("a: `b`\n", 1, 4, "a value cannot begin with `; put it in quotes"),
        ("a: - b\n", 1, 4, "a list (-) cannot begin on the line of its key"),
        ("route: *\n", 1, 8, "put a value that begins so in quotes"),
        ("a: *b\n", 1, 4, "no anchor (&name) before this alias (*name) has its name"),
        ("a: \"\\q\"\n", 1, 5, "this escape is not known"),
        ("a: 1\n---\nb: 2\n", 2, 1, "a second document begins here"),
        ("a: b\u{7}c\n", 1, 5, "the character U+0007 is not allowed"),
        ("a:\n  b: 1\n c: 2\n", 3, 2, "with the same indentation"),
        ("a:\n  - b\n  c: d\n", 3, 3, "expected an entry of the list that begins at line 2, column 3"),
        ("a: !x!y z\n", 1, 4, "a value that begins with ! must be in quotes"),
        ("%x\na: 1\n", 1, 1, "a line that begins with % is a directive; put it in quotes"),
        ("a: |x\n  b\n", 1, 4, "after | or > a text begins on the next line"),
    ])
    func aMistakeIsNamedAtItsPlace(yaml: String, line: Int, column: Int, words: String) throws {
        let error = #expect(throws: SeedError.self) { try SourceDocument(yaml: yaml, file: "mine.yaml") }
        let text = "\(try #require(error))"
        #expect(text.hasPrefix("mine.yaml:\(line):\(column): not YAML: "), "\(text)")
        #expect(text.contains(words), "\(text)")
    }

    /// None of the library's words for what it did when it failed.
    @Test func noTextOfTheLibraryIsLeft() {
        let parts = [
            "a", "\"", "'", ":", " ", "\n", "[", "]", "{", "}", "-", "#", "&", "*", "!", "|", ">", "%", "@", "\t", "\\",
        ]
        for first in parts {
            for second in parts {
                for third in parts {
                    do {
                        _ = try SourceDocument(yaml: "k: \(first)\(second)\(third)\nz: 1\n", file: "x")
                    } catch {
                        let text = "\(error)"
                        #expect(
                            !text.contains("did not find") && !text.contains("found ") && !text.contains("could not"),
                            "\(first)\(second)\(third): \(text)")
                    }
                }
            }
        }
    }

    @Test func aByteOrderMarkAtTheStartIsIgnored() throws {
        #expect(try Array(SourceDocument(yaml: "\u{feff}a: 1\n", file: "x").members().keys) == ["a"])
        #expect(throws: Never.self) { try SourceDocument(yaml: "a: \"\u{feff}\"\n", file: "x") }
    }

    @Test(arguments: [("\u{feff}\u{feff}a: 1\n", 1), ("a: 1\n\u{feff}b: 2\n", 2)])
    func aByteOrderMarkAtTheStartOfALineIsNamed(yaml: String, line: Int) throws {
        let error = #expect(throws: SeedError.self) { try SourceDocument(yaml: yaml, file: "x") }
        #expect(
            "\(try #require(error))".hasPrefix("x:\(line): a byte-order mark (U+FEFF) is only allowed at the start"))
    }

    @Test(arguments: [
        ("organisations: []", "is not known here; did you mean organizations? expected organizations, brands"),
        ("brand: []", "is not known here; did you mean brands? expected"),
        ("colour: red", "is not known here; expected organizations"),
    ])
    func aMisspeltKeyHasASuggestion(yaml: String, words: String) throws {
        let error = #expect(throws: SeedError.self) {
            try SourceDocument(yaml: yaml, file: "x").read(known: ["organizations", "brands"]) { _ in }
        }
        #expect(try #require(error).problem.hasPrefix(words), "\(String(describing: error))")
    }
}
