import Foundation

/// How many files this process may hold open: three for each open namespace, one for each connection.
enum OpenFiles {
    private static let wanted: rlim_t = 65_536
    /// For databases, pictures and the process itself.
    private static let reserved = 800

    /// Raises the limit as far as the system lets us, up to what there can be a use for. Where it does not, the
    /// limit stays as it is.
    ///
    /// - Returns: how many connections there can be beside two hundred open databases.
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
