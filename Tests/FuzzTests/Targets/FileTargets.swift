import Foundation
import NIOConcurrencyHelpers

@testable import Entrupy
@testable import Simulation
@testable import Storage

extension FuzzTarget {
    /// Parsers of uploaded files: archives and recordings.
    static let files = [
        FuzzTarget("tar", maxLength: 16_384, cost: 5) { input in
            try withFile("tar", input) { path in
                do {
                    var reader = try ArchiveReader(path: path)
                    var sizes: [Int] = []
                    while let entry = try reader.next() {
                        let bytes = try reader.all()
                        try FuzzFinding.require(bytes.count == entry.size, "\(entry.name): \(bytes.count) bytes")
                        sizes.append(entry.size)
                    }
                    return "\(sizes.count) entries"
                } catch let error as StorageError {
                    return label("\(error)")
                }
            }
        },
        FuzzTarget("recording", maxLength: 65_536, cost: 20) { input in
            try withFile("recording", input) { path in
                do {
                    return try finished {
                        let replay = try await Replay(Recording.read(path))
                        _ = try replay.configuration(.simulated)
                        return "a recording"
                    }
                } catch let error as RecordingError {
                    return label("\(error)".replacing(path, with: ""))
                } catch let error as SeedError {
                    return label(error.problem)
                }
            }
        },
    ]

    /// Runs asynchronous work and blocks until it ends.
    private static func finished(_ body: @escaping @Sendable () async throws -> String) throws -> String {
        let result = NIOLockedValueBox<Result<String, any Error>>(.success(""))
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let value = try await body()
                result.withLockedValue { $0 = .success(value) }
            } catch {
                result.withLockedValue { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.wait()
        return try result.withLockedValue { $0 }.get()
    }

    /// Runs `body` with a file that holds the input. The file is in memory if the system has a memory file system.
    private static func withFile<Value>(
        _ name: String, _ input: [UInt8], _ body: (String) throws -> Value
    ) throws -> Value {
        let path = "\(folder)/entrupy-sim-fuzz-\(ProcessInfo.processInfo.processIdentifier)-\(name)"
        guard FileManager.default.createFile(atPath: path, contents: Data(input)) else {
            throw FuzzFinding("\(path) cannot be written")
        }
        defer { unlink(path) }
        return try body(path)
    }

    private static let folder =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? "/dev/shm" : FileManager.default.temporaryDirectory.path
}
