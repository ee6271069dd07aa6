import ArgumentParser
import Foundation

#if FUZZ_GUIDED
    import LibFuzzer
#endif

/// `fuzz NAME`: reads inputs until one crashes the process, has a wrong result or takes too long, or until all are read.
struct Fuzz: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fuzz", abstract: "Feed a parser with mutated inputs.",
        discussion: "Built with libFuzzer it follows the coverage, else a seed. `make test-fuzz` runs all targets.")

    @Argument(help: "A target; without one, all are listed with their cost.")
    var name: String?

    @Option(help: "How many inputs are read.")
    var runs = 10_000

    @Option(help: "What the inputs follow from.")
    var seed: UInt64 = 1

    @Option(help: "The most CPU time one input may take, in seconds.")
    var maxSeconds = 1.0

    @Option(help: "Where an input that must not be is left.")
    var artifacts = "."

    @Option(help: "A file that is read instead of mutated inputs.")
    var input: String?

    func run() throws {
        guard let name else {
            for target in FuzzTarget.all { print("\(target.name) \(target.cost)") }
            return
        }
        guard let target = FuzzTarget.named(name) else { throw ValidationError("there is no target \"\(name)\"") }
        if let input {
            try target.prepare()
            print(try target.read(Array(try Data(contentsOf: URL(fileURLWithPath: input)))))
            return
        }
        #if FUZZ_GUIDED
            try GuidedRun(target: target, runs: runs, seed: seed, maxSeconds: maxSeconds, artifacts: artifacts).run()
        #else
            try runSeeded(target)
        #endif
    }

    private func runSeeded(_ target: FuzzTarget) throws {
        let trace = try InputTrace(path: "\(artifacts)/\(target.name)-input", capacity: target.maxLength)
        let started = Date()
        var run = SeededRun(target: target, runs: runs, seed: seed, maxSeconds: maxSeconds)
        run.willRead = trace.write
        let report: SeededRun.Report
        do {
            report = try run.run()
        } catch {
            trace.cut()
            print("\(target.name): \(error)")
            throw ExitCode.failure
        }
        trace.remove()
        let memory = report.memory.map { "\($0.early / 1_000_000) to \($0.late / 1_000_000) MB" } ?? "unknown"
        print(
            "\(target.name): \(runs) inputs in \(String(format: "%.1f", -started.timeIntervalSinceNow)) s, "
                + "\(report.labels) different results, dearest \(String(format: "%.3f", report.slowest)) s of CPU time, "
                + "memory \(memory)")
    }
}

/// A file with the current input, so that the input is known even if it crashes the process.
struct InputTrace {
    private let path: String
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int

    /// - Throws: `ExitCode` if the file cannot be written.
    init(path: String, capacity: Int) throws {
        self.path = path
        self.capacity = capacity + MemoryLayout<Int>.size
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, ftruncate(descriptor, off_t(self.capacity)) == 0,
            let memory = mmap(nil, self.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else {
            print("\(path) cannot be written: \(String(cString: strerror(errno)))")
            throw ExitCode.failure
        }
        self.memory = memory
    }

    /// Writes an input: its bytes, and its length at the end of the file.
    func write(_ input: [UInt8]) {
        let count = min(input.count, capacity - MemoryLayout<Int>.size)
        input.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: count) }
        memory.storeBytes(of: count, toByteOffset: capacity - MemoryLayout<Int>.size, as: Int.self)
    }

    /// Truncates the file to the input.
    func cut() {
        let count = memory.load(fromByteOffset: capacity - MemoryLayout<Int>.size, as: Int.self)
        truncate(path, off_t(count))
    }

    func remove() {
        unlink(path)
    }
}

Fuzz.main()
