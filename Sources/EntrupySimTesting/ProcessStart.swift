#if os(macOS) || os(Linux) || os(Windows)
    import Foundation

    extension Process {
        private static let starting = NSLock()

        /// Starts the process. Starts take turns in this process.
        ///
        /// Foundation learns of a process's end from a pair of sockets. A process that another thread starts at the same moment
        /// inherits them, and `waitUntilExit` then waits for both.
        package func startSerially() throws {
            Self.starting.lock()
            defer { Self.starting.unlock() }
            try run()
        }
    }
#endif
