import Foundation

/// Reads mutated inputs one after the other, and stops at the first finding.
struct SeededRun {
    let target: FuzzTarget
    let runs: Int
    let seed: UInt64
    /// The CPU time limit of one input, in seconds; `nil` for no limit, as when other work shares the process.
    var maxSeconds: Double?
    /// The largest allowed growth of memory from a fifth of the run to its end, in bytes.
    var maxGrowth = 64_000_000
    /// Called with each input before it is read, so that an input that crashes the process is known.
    var willRead: ([UInt8]) -> Void = { _ in }

    /// The figures of a run without a finding.
    struct Report {
        var labels = 0
        /// The CPU time of the most expensive input, in seconds.
        var slowest = 0.0
        /// The memory in bytes after a fifth of the run and at its end.
        var memory: (early: Int, late: Int)?
    }

    /// The maximum number of inputs in the pool.
    private static let maxPool = 2_000

    /// - Throws: ``FuzzFinding``.
    func run() throws -> Report {
        let corpus = try Corpus(target)
        var mutator = Mutator(seed: seed, dictionary: corpus.dictionary, maxLength: target.maxLength)
        var pool = corpus.inputs.map(\.bytes)
        var labels: Set<String> = []
        var report = Report()
        var early: Int?
        for number in 0..<max(runs, pool.count) {
            let input = number < corpus.inputs.count ? corpus.inputs[number].bytes : mutator.next(from: pool)
            let label = try read(input, &report)
            if labels.insert(label).inserted, pool.count < Self.maxPool { pool.append(input) }
            if number == runs / 5 { early = ProcessUsage.residentBytes }
        }
        report.labels = labels.count
        if let early, let late = ProcessUsage.residentBytes {
            report.memory = (early, late)
            try FuzzFinding.require(
                maxSeconds == nil || late - early <= maxGrowth,
                "memory grew by \((late - early) / 1_000_000) MB from input \(runs / 5) to input \(runs)")
        }
        return report
    }

    private func read(_ input: [UInt8], _ report: inout Report) throws -> String {
        try target.prepare()
        willRead(input)
        let start = ProcessUsage.cpuSeconds
        let label = try target.read(input)
        let seconds = ProcessUsage.cpuSeconds - start
        report.slowest = max(report.slowest, seconds)
        if let maxSeconds, seconds > maxSeconds {
            throw FuzzFinding("one input took \(String(format: "%.1f", seconds)) s of CPU time")
        }
        return label
    }
}
