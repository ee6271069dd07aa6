import Foundation

/// How many files this process may hold open: three for each open namespace, one for each connection.
enum OpenFiles {
    private static let wanted: rlim_t = 65_536

    /// Raises the limit as far as the system lets us, up to what there can be a use for. Where it does not, the
    /// limit stays as it is.
    static func raiseLimit() {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
