import CLibraries
import Foundation

enum ProcessMemory {
    /// The resident memory in bytes. `nil` if the system does not tell.
    static var resident: Int? { pages?.resident }

    /// The resident memory, and the part of it that is not of files, in bytes.
    private static var pages: (resident: Int, anonymous: Int)? {
        // Absent on macOS.
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let parts = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (parts[1] * size, (parts[1] - parts[2]) * size)
    }

    /// The memory that was freed and that the C library still holds, in bytes; 0 while the process holds little. Blocks for up
    /// to a millisecond.
    static var freed: Int {
        guard let pages, pages.resident >= minResident else { return 0 }
        let allocated = entrupy_sim_allocated()
        return allocated == 0 ? 0 : max(0, pages.anonymous - allocated)
    }

    /// The resident memory from which freed memory is given back, in bytes.
    private static let minResident = 200 << 20

    /// Gives freed memory back to the system if the process holds much. Blocks for 0.1 ms for each MiB.
    ///
    /// The C library keeps freed memory for each thread. The nodes of 1 MB of seed data need 470 MB for a moment, and
    /// each of the four threads that run jobs would keep as much for ever.
    static func releaseFreed() {
        if resident ?? 0 >= minResident { entrupy_sim_trim() }
    }
}

/// Decides when freed memory is given back. Used by one task.
struct MemoryTrimmer {
    /// The freed memory that the last attempt could not give back, because something else is on the same pages.
    private var stuck = 0

    /// The amount from which freed memory is given back at once, in bytes.
    static let minFreed = 64 << 20

    /// Gives freed memory back if there is much more than after the last time, such as after the deletion of a large namespace.
    ///
    /// - Parameter freed: the freed memory that the process still holds, in bytes.
    mutating func run(
        freed: () -> Int = { ProcessMemory.freed }, release: () -> Void = { ProcessMemory.releaseFreed() }
    ) {
        let now = freed()
        guard now >= stuck + Self.minFreed else {
            stuck = min(stuck, now)
            return
        }
        release()
        stuck = freed()
    }
}
