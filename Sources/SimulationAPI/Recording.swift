/// The result of a replay [D recording].
public struct ReplayReport: Codable, Sendable {
    /// The number of requests that were replayed.
    public var requests = 0
    /// The number of requests in the recording.
    public var recorded = 0
    /// The number of answers that were compared with their bodies, not only by status and headers.
    public var compared = 0
    /// The number of webhook attempts that were made again. Each got its recorded result.
    public var outcomes = 0
    /// The first answer that differs; null if all are equal.
    @Nullable public var difference: Difference? = nil
    /// The reason for an incomplete replay other than a difference: the recording is truncated, or the replay was
    /// interrupted. Null if the replay is complete.
    @Nullable public var incomplete: String? = nil

    public init() {}

    /// An answer that differs from the recorded one.
    public struct Difference: Codable, Sendable {
        /// The number of the entry in the recording, from 1.
        public let number: Int
        /// The request, or the webhook attempt.
        public let what: String
        /// The lines that differ: `-` marks the recorded line, `+` the new one.
        public let lines: [String]

        public init(number: Int, what: String, lines: [String]) {
            self.number = number
            self.what = what
            self.lines = lines
        }
    }
}
