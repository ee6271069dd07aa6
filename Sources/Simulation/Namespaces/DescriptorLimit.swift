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
        let descriptors = sysconf(CInt(_SC_OPEN_MAX))
        // Negative if there is no limit, or it is not known.
        guard descriptors >= 0 else { return maxDatabases }
        return min(maxDatabases, max(4, descriptors / 4 / descriptorsOfDatabase))
    }
}
