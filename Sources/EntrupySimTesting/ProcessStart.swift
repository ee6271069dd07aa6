#if os(macOS) || os(Linux) || os(Windows)
    import Foundation

    extension Process {
        private static let starting = NSLock()

        /// Runs the process, one at a time.
        ///
        /// Foundation learns of a process's end from a pair of sockets. A process that another thread starts at the same moment
        /// inherits them, and `waitUntilExit` then waits for both.
        package func runAlone() throws {
            Self.starting.lock()
            defer { Self.starting.unlock() }
            try run()
        }
    }
#endif
