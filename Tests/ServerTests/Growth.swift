import Foundation
import Testing

/// Measures how the cost of an operation grows with the length of its input.
///
/// The cost is the thread's CPU time, so that other load does not count. One run measures both lengths.
enum Growth {
    /// The maximum ratio of the costs for ten times the length. A linear cost grows by 10, a quadratic one by 100.
    private static let most = 30.0
    /// The minimum cost that counts, in seconds. Below it, the clock and the first call dominate.
    private static let least = 0.000_2

    /// Expects the time of `run` to grow with the length of its input, from `length` to ten times that.
    static func isLinear<Input>(
        _ what: String, from length: Int = 5_000, _ input: (Int) -> Input, _ run: (Input) throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // A debug build takes several times as long for a byte, so that shorter inputs show the same.
        #if DEBUG
            let length = max(300, length / 4)
        #endif
        let (short, long) = (input(length), input(length * 10))
        let first = max(least, (0..<3).map { _ in seconds(short, run) }.min() ?? 0)
        // One fast run is enough: a slow one may have been disturbed.
        var second = seconds(long, run)
        for _ in 0..<2 where second > first * most { second = min(second, seconds(long, run)) }
        #expect(
            second <= first * most, "\(what): \(length) took \(first) s, \(length * 10) took \(second) s",
            sourceLocation: sourceLocation)
    }

    private static func seconds<Input>(_ input: Input, _ run: (Input) throws -> Void) -> Double {
        var (start, end) = (timespec(), timespec())
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        // Refusing an input has a cost too.
        try? run(input)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
    }
}

/// Texts of a given length in bytes, each expensive for some parser.
enum Hostile: String, CaseIterable, Sendable {
    case marks, bareMarks, languages, markedWord, markedPercent, nesting, digits, commas, semicolons, dots, slashes,
        spaces, percents, quotes,
        items, stars, colons, lines, equals

    func text(_ length: Int) -> String {
        switch self {
        case .marks: Self.marks(length)
        // Without a letter before them: a comparison with a constant does not end at its first letter.
        case .bareMarks: String(repeating: "\u{301}\u{323}", count: length / 4)
        case .languages: String(repeating: "*,", count: length / 2) + "en;q=0,ja;q=0"
        case .markedWord: "application/json" + Self.marks(length) + "x"
        case .markedPercent: String(repeating: "%CC%81%CC%A3", count: length / 12)
        case .nesting: String(repeating: "[", count: length / 2) + String(repeating: "]", count: length / 2)
        case .digits: String(repeating: "1", count: length)
        case .commas: String(repeating: "a,", count: length / 2)
        case .semicolons: String(repeating: "a;q=0.5;", count: length / 8)
        case .dots: String(repeating: "a.", count: length / 2)
        case .slashes: String(repeating: "/a", count: length / 2)
        case .spaces: String(repeating: " ", count: length)
        case .percents: String(repeating: "%41", count: length / 3)
        case .quotes: String(repeating: "\"\\", count: length / 2)
        case .items: String(repeating: "a", count: length)
        case .stars: String(repeating: "*a", count: length / 2)
        case .colons: String(repeating: ":a:", count: length / 3)
        case .lines: String(repeating: "a\n", count: length / 2)
        case .equals: String(repeating: "a=b&", count: length / 4)
        }
    }

    /// A letter and many combining marks of two classes in alternation. A normalization must sort them.
    static func marks(_ length: Int) -> String { "c" + String(repeating: "\u{301}\u{323}", count: length / 4) }
}
