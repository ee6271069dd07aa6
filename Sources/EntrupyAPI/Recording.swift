/// What came of a replay [D].
public struct ReplayReport: Codable, Sendable {
    /// How many requests were made again.
    public var requests = 0
    /// How many requests the recording holds.
    public var recorded = 0
    /// How many of their answers were compared whole, and not by status and headers alone.
    public var compared = 0
    /// How many webhook attempts came to what they came to then.
    public var outcomes = 0
    /// The first answer that differs; null where none does.
    @Nullable public var difference: Difference?
    /// Why not everything was made again, but for a difference: the recording is cut, or the replay was interrupted; null where it was.
    @Nullable public var incomplete: String?

    /// One of nothing yet.
    public init() {
        _difference = Nullable(wrappedValue: nil)
        _incomplete = Nullable(wrappedValue: nil)
    }

    /// An answer that is not what it was.
    public struct Difference: Codable, Sendable {
        /// Which entry of the recording, from 1.
        public let number: Int
        /// The request, or the webhook's attempt.
        public let what: String
        /// The lines that differ: `-` as it was recorded, `+` as it is now.
        public let lines: [String]

        /// Makes one from its members.
        public init(number: Int, what: String, lines: [String]) {
            self.number = number
            self.what = what
            self.lines = lines
        }
    }
}
