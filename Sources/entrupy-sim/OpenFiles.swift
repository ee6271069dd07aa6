import Foundation

/// The process's limit of open files. An open namespace needs three, a connection one.
enum OpenFiles {
    private static let wanted: rlim_t = 65_536
    /// Descriptors for databases, images and the process itself.
    private static let reserved = 800

    /// Raises the limit to `wanted`, or as far as the system allows. If that fails, the limit stays as it is.
    ///
    /// - Returns: the number of connections that fit beside two hundred open databases.
    static func raiseLimit() -> Int {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return Int.max }
        if limit.rlim_cur < wanted {
            let old = limit.rlim_cur
            limit.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = old }
        }
        return max(16, Int(clamping: limit.rlim_cur) - reserved)
    }
}
