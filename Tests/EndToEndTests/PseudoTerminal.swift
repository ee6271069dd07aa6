import Foundation

/// A terminal of which a program's output is read.
struct PseudoTerminal {
    struct Unavailable: Error {}

    /// Runs the binary on a terminal and waits until it exits, on a thread of its own: tests share few.
    ///
    /// - Parameter environment: more variables. `CI` is set unless they say otherwise: a command that takes over a second would show how far
    ///   it is, with characters that move the cursor.
    /// - Returns: its exit status and the bytes that the terminal got from standard output and standard error.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try runBlocking(arguments, environment: environment) })
            }
        }
    }

    private static func runBlocking(
        _ arguments: [String], environment: [String: String]
    ) throws -> (status: Int32, output: String) {
        let (master, slave) = try open()
        defer { close(master) }
        // The terminal would add carriage returns.
        var settings = termios()
        tcgetattr(slave, &settings)
        settings.c_oflag &= ~tcflag_t(OPOST)
        tcsetattr(slave, TCSANOW, &settings)
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging([
            "TERM": "xterm", "NO_COLOR": "", "CI": "true",
        ]) { $1 }
        .merging(environment) { $1 }
        process.executableURL = URL(fileURLWithPath: SimProcess.path)
        process.arguments = arguments
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.startSerially()
        close(slave)
        var output = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(master, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // At the program's end Linux gives an error, other systems the end of the file.
            guard count > 0 else { break }
            output.append(contentsOf: buffer[..<count])
        }
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Opens both ends of a new terminal.
    private static func open() throws -> (master: Int32, slave: Int32) {
        #if os(Linux)
            // Glibc's module lacks posix_openpt and its kin. These are TIOCSPTLCK and TIOCGPTN.
            let master = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (locked, number): (Int32, UInt32) = (0, 0)
            guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
                throw Unavailable()
            }
            let slave = Foundation.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        #else
            let master = posix_openpt(O_RDWR | O_NOCTTY)
            guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
                throw Unavailable()
            }
            let slave = Foundation.open(name, O_RDWR | O_NOCTTY)
        #endif
        guard slave >= 0 else { throw Unavailable() }
        return (master, slave)
    }
}
