/// Makes new inputs from others, with a seeded random generator.
struct Mutator {
    private var random: SplitMix64
    private let dictionary: [[UInt8]]
    private let maxLength: Int

    init(seed: UInt64, dictionary: [[UInt8]], maxLength: Int) {
        random = SplitMix64(state: seed)
        self.dictionary = dictionary + Self.tokens
        self.maxLength = maxLength
    }

    /// A new input, made from one of `pool` by one to eight changes.
    mutating func next(from pool: [[UInt8]]) -> [UInt8] {
        var input = pool.randomElement(using: &random) ?? []
        for _ in 0..<(1 << Int.random(in: 0...3, using: &random)) {
            change(&input, pool)
        }
        return input.count > maxLength ? Array(input[..<maxLength]) : input
    }

    /// Numbers at the limits of valid ranges, and bytes that often break parsers.
    private static let tokens =
        [
            "0", "-1", "1e309", "255", "256", "65536", "2147483648", "4294967296", "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", "0.1", "\u{301}", "\u{feff}", "\u{0}", "\r\n", "\"", "\\",
            "{}",
            "[]", "null", "%00", "%ff", "../", ":", ",", ";", "=", "*",
        ].map { Array($0.utf8) } + [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]]

    /// Parts that are repeated many times: combining marks, nesting, digits, separators.
    private static let blocks = ["\u{301}", "[", "{\"a\":", "9", ",", ";", "- ", "%", "/", "*", "é", " ", "\n"].map {
        Array($0.utf8)
    }

    private mutating func change(_ input: inout [UInt8], _ pool: [[UInt8]]) {
        let place = Int.random(in: 0...input.count, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where !input.isEmpty:
            input[min(place, input.count - 1)] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 1 where !input.isEmpty:
            input[min(place, input.count - 1)] = UInt8.random(in: 0...255, using: &random)
        case 2: input.removeSubrange(range(of: input, from: place))
        case 3: input.insert(contentsOf: input[range(of: input, from: place)], at: place)
        case 4: input.insert(contentsOf: dictionary.randomElement(using: &random) ?? [], at: place)
        case 5:
            input.replaceSubrange(range(of: input, from: place), with: dictionary.randomElement(using: &random) ?? [])
        case 6:
            let other = pool.randomElement(using: &random) ?? []
            let start = Int.random(in: 0...other.count, using: &random)
            input.replaceSubrange(range(of: input, from: place), with: other[range(of: other, from: start)])
        case 7: replaceNumber(&input, from: place)
        case 8 where Int.random(in: 0..<20, using: &random) == 0:
            let block = Self.blocks.randomElement(using: &random) ?? []
            let count = Int.random(in: 1...max(1, maxLength / block.count), using: &random)
            input.insert(contentsOf: Array(repeatElement(block, count: count).joined()), at: place)
        case 9 where Int.random(in: 0..<5, using: &random) == 0: input.removeSubrange(place...)
        default: input.insert(UInt8.random(in: 0x20...0x7e, using: &random), at: place)
        }
    }

    /// A random range that is more often short than long.
    private mutating func range(of input: [UInt8], from start: Int) -> Range<Int> {
        let longest = min(input.count - start, 1 << Int.random(in: 0...10, using: &random))
        return start..<start + Int.random(in: 0...longest, using: &random)
    }

    private mutating func replaceNumber(_ input: inout [UInt8], from place: Int) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let start = input[place...].firstIndex(where: digits.contains) else { return }
        let end = input[start...].firstIndex { !digits.contains($0) } ?? input.endIndex
        input.replaceSubrange(start..<end, with: Self.tokens[Int.random(in: 0..<12, using: &random)])
    }
}

/// The generator of Steele, Lea and Flood. It is small and gives the same numbers on every machine.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(state: UInt64) {
        self.state = state
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
