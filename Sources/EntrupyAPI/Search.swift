extension ItemSearchRequest {
    /// The content of a search's answer.
    public enum ResultMode: String, Codable, Sendable, CaseIterable {
        /// The items of the page.
        case full
        /// Only their number.
        case countOnly = "count_only"
    }

    /// The times of submission that a search covers.
    public enum DateRange: Codable, Sendable {
        /// The last days until now, 1 to 3,650: `{"last_days": 30}`.
        case last(days: Int)
        /// Between two times in epoch seconds, both inclusive: `{"start": …, "end": …}`.
        case between(start: Double, end: Double)

        private enum Key: String, CodingKey {
            case last_days, start, end
        }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            if let days = try members.decodeIfPresent(Int.self, forKey: .last_days) {
                self = .last(days: days)
            } else {
                self = .between(
                    start: try members.decode(Double.self, forKey: .start),
                    end: try members.decode(Double.self, forKey: .end))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            switch self {
            case .last(let days): try members.encode(days, forKey: .last_days)
            case .between(let start, let end):
                try members.encode(start, forKey: .start)
                try members.encode(end, forKey: .end)
            }
        }
    }
}
