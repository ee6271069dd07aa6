import Foundation
import NIOConcurrencyHelpers

/// A child process in a process group of its own, so that a signal reaches all of the group and nothing else.
///
/// Unlike `Process`, it passes standard input, output and error, the arguments and the environment on byte by byte.
final class ChildProcess: Sendable {
    /// A C string with its final zero. It need not be UTF-8.
    typealias RawText = ContiguousArray<CChar>

    enum Change: Sendable {
        /// The process was stopped by a signal, and can go on.
        case stopped(signal: Int32)
        case ended(Ending)
    }

    enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)

        /// The exit code of a shell for such an end.
        var code: Int32 {
            switch self {
            case .exited(let code): code
            case .signalled(let signal): 128 + signal
            }
        }
    }

    /// The system's error number of a process that could not be started.
    struct StartFailure: Error {
        let number: Int32
    }

    let id: pid_t
    /// The stops of the process, then its end. For one reader.
    let changes: AsyncStream<Change>
    private let ended = NIOLockedValueBox(false)

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - words: the program, which is looked up in `PATH`, and its arguments.
    ///   - files: pairs of a file descriptor here and its number there. Those that are not closed at an `exec` go too.
    ///   - resetting: signals that this program ignores and the child does not.
    init(
        _ words: [RawText], environment: [RawText], files: [(Int32, Int32)] = [], resetting: [Int32] = []
    ) throws(StartFailure) {
        let (id, error) = Self.spawn(words, environment, files, resetting)
        guard error == 0 else { throw StartFailure(number: error) }
        self.id = id
        let (stream, sink) = AsyncStream.makeStream(of: Change.self)
        changes = stream
        Thread.detachNewThread { [ended] in
            while let change = Self.nextChange(of: id) {
                if case .ended = change { ended.withLockedValue { $0 = true } }
                sink.yield(change)
                if case .ended = change { break }
            }
            sink.finish()
        }
    }

    var hasEnded: Bool { ended.withLockedValue(\.self) }

    /// Sends a signal to the process's group. Failure is ignored: the group may have ended.
    func signal(_ number: Int32) {
        // A process can leave its group.
        if kill(-id, number) != 0, !hasEnded { kill(id, number) }
    }

    /// Waits for the end. A process that has not ended after `limit` is killed.
    func end(within limit: Duration) async {
        let killing = Task {
            try await Task.sleep(for: limit)
            signal(SIGKILL)
        }
        for await _ in changes {}
        killing.cancel()
    }

    // MARK: System calls

    /// Waits for the next change of a child. Blocks. `nil` if there is no such child.
    private static func nextChange(of id: pid_t) -> Change? {
        var status: Int32 = 0
        while waitpid(id, &status, WUNTRACED) != id {
            guard errno == EINTR else { return nil }
        }
        // The macros of <sys/wait.h> are not imported.
        let (low, high) = (status & 0x7f, (status >> 8) & 0xff)
        if status & 0xff == 0x7f { return .stopped(signal: high) }
        return .ended(low == 0 ? .exited(high) : .signalled(low))
    }

    /// The descriptors that this program was started with; `nil` if they are not known.
    private static let inherited = NIOLockedValueBox<Set<Int32>?>(nil)

    /// Notes the descriptors that this program was started with, which its children get too. Call it before others are opened.
    static func noteInheritedDescriptors() {
        let own = openDescriptors
        inherited.withLockedValue { $0 = own }
    }

    /// The open descriptors above those of the standard streams.
    private static var openDescriptors: Set<Int32> {
        Set((3..<min(getdtablesize(), maxDescriptors)).filter { fcntl($0, F_GETFD) >= 0 })
    }

    private static let maxDescriptors: Int32 = 65_536

    /// The descriptors of this program that a child must not have: libraries open some that an `exec` does not close. None if it is not
    /// known which this program was started with.
    ///
    /// - Parameter kept: those of the child.
    private static func ownDescriptors(except kept: [Int32]) -> Set<Int32> {
        guard let inherited = inherited.withLockedValue({ $0 }) else { return [] }
        #if os(Linux)
            // Other threads may open some meanwhile. The system closes numbers too that are not open.
            let all = Set(3...(openDescriptors.max() ?? 3) + 64)
        #else
            let all = openDescriptors
        #endif
        return all.subtracting(inherited).subtracting(kept)
    }

    private static func spawn(
        _ words: [RawText], _ environment: [RawText], _ files: [(Int32, Int32)], _ resetting: [Int32]
    ) -> (id: pid_t, error: Int32) {
        #if os(Linux)
            var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
        #else
            var (attributes, actions): (posix_spawnattr_t?, posix_spawn_file_actions_t?)
        #endif
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var (defaults, mask) = (sigset_t(), sigset_t())
        sigemptyset(&defaults)
        // Threads of a queue block signals, and a child has the mask of the thread that starts it.
        sigemptyset(&mask)
        for number in resetting { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        for (here, there) in files { posix_spawn_file_actions_adddup2(&actions, here, there) }
        for own in ownDescriptors(except: files.map(\.1)) {
            #if os(Linux)
                posix_spawn_file_actions_addclose(&actions, own)
            #else
                _ = fcntl(own, F_SETFD, FD_CLOEXEC)
            #endif
        }
        let argv = words.map(copy)
        let envp = environment.map(copy)
        defer { (argv + envp).forEach { free($0) } }
        var id: pid_t = 0
        let error = posix_spawnp(&id, argv[0]!, &actions, &attributes, argv + [nil], envp + [nil])
        return (id, error)
    }

    private static func copy(_ text: RawText) -> UnsafeMutablePointer<CChar>? {
        text.withUnsafeBufferPointer { strdup($0.baseAddress!) }
    }
}

extension ChildProcess {
    /// A pipe that no child inherits; `nil` if the system has none left.
    static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// The last `count` arguments of this program, byte by byte.
    static func ownArguments(last count: Int) -> [RawText] {
        let all = Int(CommandLine.argc)
        return (all - count..<all).compactMap { index in
            CommandLine.unsafeArgv[index].map { RawText(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
        }
    }

    /// The environment of this program, byte by byte, with some variables changed.
    ///
    /// - Parameters:
    ///   - changes: the variables and their values; `nil` removes one.
    ///   - isKept: whether a variable that is not changed stays.
    static func ownEnvironment(
        _ changes: [String: String?], where isKept: (String) -> Bool = { _ in true }
    ) -> [RawText] {
        let kept = entries.filter { entry in
            let name = String(decoding: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            return changes[name] == nil && isKept(name)
        }
        let changed = changes.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return kept.map { RawText($0.map { CChar(bitPattern: $0) } + [0]) } + changed.map(\.utf8CString)
    }

    /// The entries `NAME=value` that this program was started with.
    private static var entries: [Data] {
        #if os(Linux)
            // `ProcessInfo` leaves out or repairs what is not UTF-8.
            if let bytes = FileManager.default.contents(atPath: "/proc/self/environ") {
                return bytes.split(separator: 0).map { Data($0) }
            }
        #endif
        return ProcessInfo.processInfo.environment.map { Data("\($0.key)=\($0.value)".utf8) }
    }
}
