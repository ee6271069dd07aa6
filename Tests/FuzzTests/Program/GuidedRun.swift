#if FUZZ_GUIDED
    import ArgumentParser
    import Foundation
    import LibFuzzer
    import NIOConcurrencyHelpers

    /// A run in which libFuzzer chooses inputs by code coverage.
    struct GuidedRun {
        let target: FuzzTarget
        let runs: Int
        let seed: UInt64
        let maxSeconds: Double
        let artifacts: String

        /// The target for libFuzzer's callback, which has no context parameter.
        private static let current = NIOLockedValueBox<(target: FuzzTarget, maxSeconds: Double)?>(nil)

        /// Runs libFuzzer. A finding ends the process, and libFuzzer saves the input in `artifacts`.
        ///
        /// - Throws: `ExitCode` with libFuzzer's status.
        func run() throws {
            Self.current.withLockedValue { $0 = (target, maxSeconds) }
            let known = Corpus.folder.appendingPathComponent("corpus/\(target.name)").path
            let dictionary = Corpus.folder.appendingPathComponent("dictionaries/\(target.name).dict").path
            // Inputs with new coverage are kept between runs, beside the build.
            let found = "\(artifacts)/found-\(target.name)"
            try FileManager.default.createDirectory(atPath: found, withIntermediateDirectories: true)
            var arguments = [
                CommandLine.arguments[0], "-runs=\(runs)", "-seed=\(seed)", "-max_len=\(target.maxLength)",
                // CPU time is measured below. This timeout is for an input that never ends.
                "-timeout=120", "-rss_limit_mb=2048", "-detect_leaks=0", "-print_final_stats=1",
                "-artifact_prefix=\(artifacts)/\(target.name)-", found, known,
            ]
            if FileManager.default.fileExists(atPath: dictionary) { arguments.insert("-dict=\(dictionary)", at: 1) }
            var strings: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
            let status = strings.withUnsafeMutableBufferPointer { buffer in
                var count = CInt(arguments.count)
                var values = buffer.baseAddress
                return LLVMFuzzerRunDriver(&count, &values) { bytes, length in
                    GuidedRun.read(Array(UnsafeBufferPointer(start: bytes, count: length)))
                    return 0
                }
            }
            guard status == 0 else { throw ExitCode(status) }
        }

        private static func read(_ input: [UInt8]) {
            guard let (target, maxSeconds) = current.withLockedValue({ $0 }) else { return }
            var start = ProcessUsage.cpuSeconds
            do {
                try target.prepare()
                start = ProcessUsage.cpuSeconds
                _ = try target.read(input)
            } catch {
                fatalError("\(target.name): \(error)")
            }
            let seconds = ProcessUsage.cpuSeconds - start
            guard seconds <= maxSeconds else { fatalError("\(target.name): \(seconds) s of CPU time for one input") }
        }
    }
#endif
