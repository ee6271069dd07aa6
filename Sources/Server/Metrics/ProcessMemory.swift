import Foundation

/// The memory of this process.
enum ProcessMemory {
    /// The resident memory in bytes. `nil` if the system does not tell.
    static var resident: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let parts = text.split(separator: " ")
        return parts.count > 1 ? Int(parts[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    /// The resident memory from which freed memory is given back, in bytes.
    private static let minResident = 200 << 20

    /// Gives freed memory back to the system if the process holds much. Blocks for milliseconds.
    ///
    /// The C library keeps freed memory for each thread. The nodes of 1 MB of seed data need 470 MB for a moment, and
    /// each of the four threads that run jobs would keep as much for ever.
    static func giveBackFreed() {
        guard resident ?? 0 >= minResident, let trim = dlsym(nil, "malloc_trim") else { return }
        // glibc's function, which its Swift module lacks.
        _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
    }
}
