import Foundation

/// The signals that this program hands on to a command instead of ending.
enum SignalWatch {
    /// The end of a pipe that the signal handler writes to.
    nonisolated(unsafe) private static var pipe: Int32 = -1

    /// Begins to watch signals, except those that this program was started to ignore, as `nohup` does.
    static func start(_ numbers: [Int32]) -> AsyncStream<Int32> {
        let (stream, sink) = AsyncStream.makeStream(of: Int32.self)
        guard let ends = ChildProcess.pipe() else { return stream }
        pipe = ends.write
        for number in numbers {
            let before = signal(number) { number in
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalWatch.pipe, &byte, 1)
                errno = error
            }
            if isIgnore(before) { _ = signal(number, SIG_IGN) }
        }
        Thread.detachNewThread {
            // Other threads may block signals.
            var set = sigset_t()
            sigemptyset(&set)
            for number in numbers { sigaddset(&set, number) }
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            var byte: UInt8 = 0
            while true {
                if read(ends.read, &byte, 1) == 1 { sink.yield(Int32(byte)) } else if errno != EINTR { break }
            }
        }
        return stream
    }

    /// Ignores a signal.
    ///
    /// - Returns: whether it was not ignored before.
    static func ignore(_ number: Int32) -> Bool { !isIgnore(signal(number, SIG_IGN)) }

    private static func isIgnore(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == 1
    }
}

/// The terminal of this program's session. Its foreground group gets what is typed, and the signals of Ctrl-C and Ctrl-Z.
struct SessionTerminal {
    private let descriptor: Int32
    private let own = getpgrp()

    /// `nil` if the session has no terminal.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    /// Makes a group the foreground one, if that is this program's own now.
    func give(to group: pid_t) {
        if tcgetpgrp(descriptor) == own { tcsetpgrp(descriptor, group) }
    }

    /// Makes this program's group the foreground one, if that is `group` now. SIGTTOU must be ignored.
    func take(from group: pid_t) {
        if tcgetpgrp(descriptor) == group { tcsetpgrp(descriptor, own) }
    }

    func isForeground(_ group: pid_t) -> Bool { tcgetpgrp(descriptor) == group }
}
