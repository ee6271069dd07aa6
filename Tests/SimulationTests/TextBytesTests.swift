import Foundation
import SimulationAPI
import Testing

/// Texts are compared and split by their bytes, as the standard library would do with arrays of bytes.
@Suite struct TextBytesTests {
    /// All texts of up to three parts, some of which join the character before them.
    private static let texts: [String] = {
        let alphabet = [",", "a", "\u{301}", "e\u{301}", "\u{e9}", "👍🏽", ":"]
        let pairs = alphabet.flatMap { first in alphabet.map { first + $0 } }
        return [""] + alphabet + pairs + alphabet.flatMap { first in pairs.map { first + $0 } }
    }()

    private func bytes(_ parts: [Substring]) -> [[UInt8]] { parts.map { Array($0.utf8) } }

    @Test func textsAreSplitAtAByte() {
        for text in Self.texts {
            for count in [0, 1, 2, Int.max] {
                for omits in [true, false] {
                    let expected = Array(text.utf8).split(
                        separator: UInt8(ascii: ","), maxSplits: count, omittingEmptySubsequences: omits)
                    let parts = text.split(at: ",", maxSplits: count, omittingEmpty: omits)
                    #expect(bytes(parts) == expected.map { Array($0) }, "\(text.debugDescription) \(count) \(omits)")
                }
            }
            // A part of a text is split as a text of its own.
            let rest = text.unicodeScalars.dropFirst()
            #expect(bytes(Substring(rest).split(at: ",")) == bytes(String(Substring(rest)).split(at: ",")))
        }
    }

    @Test func textsAreSplitAtAText() {
        for text in Self.texts {
            for separator in [",", ",,", "a,", "e", "\u{301}"] {
                let parts = text.split(atEach: separator)
                #expect(parts.joined(separator: separator).utf8.elementsEqual(text.utf8), "\(text.debugDescription)")
                for part in parts { #expect(!part.utf8.contains(separator.utf8), "\(text.debugDescription)") }
            }
        }
        #expect(bytes("aaa".split(atEach: "aa")) == [[], [0x61]])
        #expect("a,b".replacing(each: ",", with: "--") == "a--b")
    }

    @Test func prefixesAndSuffixesAreComparedByBytes() {
        for text in Self.texts {
            let all = Array(text.utf8)
            for other in Self.texts.prefix(60) + ["", ",", "a", "e", "\u{301}"] {
                let part = Array(other.utf8)
                #expect(text.begins(with: other) == all.starts(with: part))
                #expect(text.ends(with: other) == all.reversed().starts(with: part.reversed()))
                #expect(text.isIdentical(to: other) == (all == part))
                #expect((TextKey(text) == TextKey(other)) == (all == part))
            }
            #expect(text.contains(ascii: ":") == all.contains(0x3a))
            #expect(Array(text.prefix(before: ":").utf8) == Array(all.prefix { $0 != 0x3a }))
        }
    }
}
