import Foundation

/// The processes of a command that run on after its end.
struct Leftovers {
    /// Their ids and names; empty where the system does not tell.
    let processes: [(id: pid_t, name: String)]

    /// The maximum number of processes that are named.
    private static let maxNamed = 5
    /// The time for processes that are ending.
    private static let grace = Duration.milliseconds(500)
    private static let pause = Duration.milliseconds(20)

    /// The processes in words, to be put after a sentence; empty if they are not known.
    var text: String {
        guard !processes.isEmpty else { return "" }
        let named = processes.prefix(Self.maxNamed).map { "\($0.id) (\($0.name))" }
        let more = processes.count > named.count ? " and \(processes.count - named.count) more" : ""
        return ": \(named.joined(separator: ", "))\(more)"
    }

    /// Looks for processes that run, for a short time until there are none.
    ///
    /// A daemon leaves the group. On Linux it is found by its environment, unless it started with another one.
    ///
    /// - Parameter mark: an entry of the environment that only the command's processes have.
    static func find(ofGroup group: pid_t, mark: String) async -> Leftovers? {
        let end = ContinuousClock.now + grace
        while true {
            guard let found = running(group, Data(mark.utf8)) else { return nil }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: pause)) != nil else { return found }
        }
    }

    #if os(Linux)
        private static func running(_ group: pid_t, _ mark: Data) -> Leftovers? {
            // Without /proc no process is known.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            let processes = names.compactMap { pid_t($0) }.sorted().compactMap { id -> (pid_t, String)? in
                guard id != getpid(), let process = Status(id), process.isRunning,
                    process.group == group || environment(of: id).contains(mark)
                else { return nil }
                return (id, process.name)
            }
            return processes.isEmpty ? nil : Leftovers(processes: processes)
        }

        /// The entries that a process started with; empty if it is another user's.
        private static func environment(of id: pid_t) -> [Data] {
            FileManager.default.contents(atPath: "/proc/\(id)/environ")?.split(separator: 0).map { Data($0) } ?? []
        }

        /// A line of `/proc/PID/stat`.
        private struct Status {
            let name: String
            let group: pid_t
            /// Whether the process has not ended. One that has stays as a zombie until its parent asks for it.
            let isRunning: Bool

            init?(_ id: pid_t) {
                guard let bytes = FileManager.default.contents(atPath: "/proc/\(id)/stat"),
                    // A name may hold spaces and parentheses.
                    let opening = bytes.firstIndex(of: UInt8(ascii: "(")),
                    let closing = bytes.lastIndex(of: UInt8(ascii: ")")), opening < closing
                else { return nil }
                let fields = String(decoding: bytes[(closing + 1)...], as: UTF8.self).split(separator: " ")
                guard fields.count > 2, let group = pid_t(fields[2]) else { return nil }
                name = String(decoding: bytes[(opening + 1)..<closing], as: UTF8.self)
                self.group = group
                isRunning = !["Z", "X", "x"].contains(fields[0])
            }
        }
    #else
        private static func running(_ group: pid_t, _ mark: Data) -> Leftovers? {
            kill(-group, 0) == 0 ? Leftovers(processes: []) : nil
        }
    #endif
}
