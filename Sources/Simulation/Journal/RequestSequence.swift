import SimulationAPI
import Storage

/// Requests that are expected one after another, with any others between them [D sequences].
package struct RequestSequence: Sendable {
    package let steps: [JournalQuery]
    package let gaps: GapBounds

    /// The maximum number of steps.
    package static let maxSteps = 100

    /// The sequence in words.
    package var summary: String {
        let steps = steps.map(\.summary).joined(separator: ", then ")
        return gaps.isAny ? steps : "\(steps), \(gaps.text)"
    }
}

/// The gaps that neighbours of a sequence may have.
package struct GapBounds: Sendable {
    /// The least gap; `nil` if any is long enough.
    package var min: Span?
    /// The longest gap; `nil` if any is short enough.
    package var max: Span?

    /// Whether every gap is allowed, also one that is not known.
    package var isAny: Bool { min == nil && max == nil }

    /// The bounds in words, for instance `min_gap 2s, max_gap 1m`.
    package var text: String {
        [min.map { "min_gap \($0.text)" }, max.map { "max_gap \($0.text)" }].compactMap(\.self).joined(separator: ", ")
    }

    /// Whether a gap is allowed.
    ///
    /// - Parameter gap: `nil` if it is not known.
    package func allow(_ gap: Span?) -> Bool { isAny || gap.map { excess(of: $0) == .zero } ?? false }

    /// The time by which a gap is too short or too long; zero if it is allowed.
    func excess(of gap: Span) -> Span {
        if let min, gap < min { return Span(microseconds: min.microseconds - gap.microseconds) }
        if let max, gap > max { return Span(microseconds: gap.microseconds - max.microseconds) }
        return .zero
    }
}

/// The search for a sequence in a journal.
///
/// For each step it finds all requests with which the sequence up to that step may end, not only the first one: a later request
/// of a step may have the gaps that the first one lacks. The time is proportional to steps × requests × log(requests).
package struct SequenceSearch {
    private let journal: JournalSnapshot
    private let sequence: RequestSequence
    /// For each step, the places of the requests that may end the sequence up to it, in order. The last one is empty if the search
    /// failed there.
    private let reached: [[Int]]

    package init(_ sequence: RequestSequence, in journal: JournalSnapshot) {
        self.journal = journal
        self.sequence = sequence
        var reached: [[Int]] = []
        for step in sequence.steps {
            var places = journal.indices.filter { step.matches(journal[$0]) }
            if let previous = reached.last { places = Self.followers(of: previous, places, journal, sequence.gaps) }
            reached.append(places)
            if places.isEmpty { break }
        }
        self.reached = reached
    }

    /// The first step that no request can take; `nil` if the sequence was found.
    package var failedStep: Int? { reached.last?.isEmpty == true ? reached.count - 1 : nil }

    /// The place of a request for each step: the first for the last step, then for each earlier one the first that fits.
    /// `nil` if the sequence was not found.
    package var places: [Int]? {
        guard failedStep == nil, let last = reached.last?.first else { return nil }
        var found = [last]
        for previous in reached.dropLast().reversed() {
            let next = found[found.count - 1]
            let fitting = previous.first {
                $0 < next && sequence.gaps.allow(journal[next].gap(after: journal[$0]))
            }
            guard let fitting else { return nil }
            found.append(fitting)
        }
        return found.reversed()
    }

    /// Those of some places that come after one of `previous`, with an allowed gap.
    private static func followers(
        of previous: [Int], _ places: [Int], _ journal: JournalSnapshot, _ gaps: GapBounds
    ) -> [Int] {
        guard let first = previous.first else { return [] }
        if gaps.isAny { return places.filter { $0 > first } }
        var earlier = EarlierRequests(previous.map { journal[$0] })
        var count = 0
        return places.filter { place in
            while count < previous.count, previous[count] < place {
                earlier.add(count)
                count += 1
            }
            return earlier.hasGap(to: journal[place], in: gaps)
        }
    }

    // MARK: Near misses

    /// The requests that come closest to the failed step, nearest first, each with what keeps it from being the step although it
    /// is such a request; `nil` if nothing does.
    ///
    /// Requests that only the order or the gap keeps come first.
    package func nearestMisses(limit: Int) -> [(place: Int, obstacle: String?)] {
        guard let step = failedStep else { return [] }
        let previous = step > 0 ? reached[step - 1] : []
        let places = Array(journal.indices)
        let following =
            step > 0 ? Set(Self.followers(of: previous, places, journal, sequence.gaps)) : Set(places)
        let found = sequence.steps[step].nearestMisses(in: journal, limit: limit) { place in
            guard !following.contains(place) else { return (0, 0) }
            return (1, nearest(to: place, of: previous)?.excess?.microseconds ?? .max)
        }
        return found.map { ($0, following.contains($0) ? nil : obstacle($0, previous)) }
    }

    /// Whether a request was kept from being the failed step by its gap alone.
    package var failedByGap: Bool {
        guard let step = failedStep, step > 0, let first = reached[step - 1].first else { return false }
        return journal.indices.contains { $0 > first && sequence.steps[step].matches(journal[$0]) }
    }

    /// The number of requests without real times that are the failed step or the one before it. Their gaps are not judged.
    package var unjudgedCount: Int {
        guard let step = failedStep, step > 0, !sequence.gaps.isAny else { return 0 }
        let previous = reached[step - 1]
        let places = Set(previous + journal.indices.filter { sequence.steps[step].matches(journal[$0]) })
        return places.count { journal[$0].times == nil }
    }

    /// Of the first and the last request before a place, the one whose gap misses the bounds least; `nil` if the place is not after
    /// one of them. `excess` is `nil` if the gap is not known.
    private func nearest(to place: Int, of previous: [Int]) -> (place: Int, gap: Span?, excess: Span?)? {
        guard let first = previous.first, first < place else { return nil }
        let last = previous[previous.firstPlace { $0 >= place } - 1]
        let candidates = [first, last].map { earlier -> (place: Int, gap: Span?, excess: Span?) in
            let gap = journal[place].gap(after: journal[earlier])
            return (earlier, gap, gap.map { sequence.gaps.excess(of: $0) })
        }
        return candidates.min { ($0.excess ?? .limit) < ($1.excess ?? .limit) }
    }

    /// The order or the gap that keeps a request from following the step before, in words.
    private func obstacle(_ place: Int, _ previous: [Int]) -> String? {
        guard let first = previous.first else { return nil }
        func name(_ place: Int) -> String { "the previous step (request \(journal[place].sequence))" }
        guard let nearest = nearest(to: place, of: previous) else {
            return place == first ? "is \(name(first)) itself" : "came before \(name(first))"
        }
        guard let gap = nearest.gap else {
            return "the gap after \(name(nearest.place)) is not known: one of them has no real times"
        }
        // Rounded to milliseconds, away from the bound.
        if let min = sequence.gaps.min, gap < min {
            let rounded = Span(microseconds: gap.microseconds / 1000 * 1000)
            return "\(rounded.text) after \(name(nearest.place)), min_gap is \(min.text)"
        }
        let rounded = Span(microseconds: (gap.microseconds + 999) / 1000 * 1000)
        return "\(rounded.text) after \(name(nearest.place)), max_gap is \(sequence.gaps.max?.text ?? "any")"
    }
}

/// The requests of one step that came before a place of the journal. Answers in logarithmic time whether one of them has an allowed
/// gap to a later request.
private struct EarlierRequests {
    /// The requests with real times: the end of their answer, and the time by which tests had moved the clock, both in microseconds.
    private let requests: [(end: Int64, moved: Int64)?]
    /// By the order of their ends: the ends, and the greatest `moved` of those that were added.
    private var byEnd: Ordered
    /// By the order of `moved`: the times, and the greatest end of those that were added.
    private var byMoved: Ordered

    /// Times sorted, each with a value that is known once its request is added.
    private struct Ordered {
        let times: [Int64]
        /// The rank of each request, by its index; -1 for one without a time.
        let ranks: [Int]
        var values: MaximumTree

        /// - Parameter count: the number of requests.
        init(_ times: [(index: Int, time: Int64)], count: Int) {
            let sorted = times.sorted { ($0.time, $0.index) < ($1.time, $1.index) }
            self.times = sorted.map(\.time)
            var ranks = Array(repeating: -1, count: count)
            for (rank, request) in sorted.enumerated() { ranks[request.index] = rank }
            self.ranks = ranks
            values = MaximumTree(count: sorted.count)
        }

        mutating func add(_ index: Int, _ value: Int64) {
            if ranks[index] >= 0 { values.set(ranks[index], value) }
        }

        /// The greatest value of those added whose time lies in a range.
        func greatest(from low: Int64, through high: Int64) -> Int64 {
            let start = times.firstPlace { $0 >= low }
            return values.greatest(in: start..<max(start, times.firstPlace { $0 > high }))
        }
    }

    /// Bounds beyond all times and their differences.
    private static let (least, most) = (Int64.min / 2, Int64.max / 2)

    init(_ entries: [JournalEntry]) {
        requests = entries.map { entry in entry.times.map { ($0.ended.microseconds, entry.outcome.moved.microseconds) }
        }
        let known = requests.enumerated().compactMap { index, request in request.map { (index: index, request: $0) } }
        byEnd = Ordered(known.map { ($0.index, $0.request.end) }, count: entries.count)
        byMoved = Ordered(known.map { ($0.index, $0.request.moved) }, count: entries.count)
    }

    mutating func add(_ index: Int) {
        guard let request = requests[index] else { return }
        byEnd.add(index, request.moved)
        byMoved.add(index, request.end)
    }

    /// Whether one of the added requests has an allowed gap to `next`. As the gap is the longer of two, it is short enough if both
    /// are, and long enough if one is.
    func hasGap(to next: JournalEntry, in gaps: GapBounds) -> Bool {
        guard let start = next.times?.started.microseconds else { return false }
        let moved = next.outcome.moved.microseconds
        let firstEnd = gaps.max.map { start - $0.microseconds } ?? Self.least
        let firstMoved = gaps.max.map { moved - $0.microseconds } ?? Self.least
        // A gap is at least zero, even if the requests overlap.
        guard let min = gaps.min?.microseconds, min > 0 else {
            return byEnd.greatest(from: firstEnd, through: Self.most) >= firstMoved
        }
        return byEnd.greatest(from: firstEnd, through: start - min) >= firstMoved
            || byMoved.greatest(from: firstMoved, through: moved - min) >= firstEnd
    }
}

/// Values in an order, of which the greatest of a range is found in logarithmic time.
private struct MaximumTree {
    private var nodes: [Int64]
    private let count: Int

    init(count: Int) {
        self.count = count
        nodes = Array(repeating: .min, count: 2 * count)
    }

    mutating func set(_ index: Int, _ value: Int64) {
        var node = index + count
        nodes[node] = value
        while node > 1 {
            node /= 2
            nodes[node] = Swift.max(nodes[2 * node], nodes[2 * node + 1])
        }
    }

    /// The greatest value of a range; `Int64.min` if no value was set in it.
    func greatest(in range: Range<Int>) -> Int64 {
        var (low, high) = (range.lowerBound + count, range.upperBound + count)
        var greatest = Int64.min
        while low < high {
            if low % 2 == 1 {
                greatest = Swift.max(greatest, nodes[low])
                low += 1
            }
            if high % 2 == 1 {
                high -= 1
                greatest = Swift.max(greatest, nodes[high])
            }
            (low, high) = (low / 2, high / 2)
        }
        return greatest
    }
}
