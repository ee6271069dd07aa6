import Foundation

/// The process's limit of open files, for what is kept open.
enum DescriptorLimit {
    /// The maximum number of databases that stay open.
    private static let maxDatabases = 200
    /// The descriptors of an open database: the file, its log, the index of the log, and as many for a checkpoint.
    private static let descriptorsOfDatabase = 6

    /// The number of databases that may stay open: a quarter of the descriptors is theirs. Connections, images and the process itself
    /// need the others.
    static var maxOpenDatabases: Int {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return maxDatabases }
        return min(maxDatabases, max(4, Int(clamping: limit.rlim_cur) / 4 / descriptorsOfDatabase))
    }
}
