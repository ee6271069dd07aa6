import Testing

@testable import Console

@Suite struct InvisibleTextTests {
    /// Marks of direction could make one text look like another.
    @Test func charactersThatNobodySeesAreShown() {
        #expect("a\u{202e}b\u{2066}c\u{200b}d\ne\tf".showingInvisible == #"a\u{202e}b\u{2066}c\u{200b}d"# + "\ne\tf")
        #expect("Größe 漢字".showingInvisible == "Größe 漢字")
    }
}
