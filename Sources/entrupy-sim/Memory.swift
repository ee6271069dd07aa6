#if canImport(CMalloc)
    import CMalloc
#endif

/// The process's allocator.
enum Memory {
    /// Limits the number of heaps to two. glibc gives up to eight for each core to the threads, and memory that was
    /// freed in one of them is not used by the others: under the same load the process then becomes larger.
    static func limitHeaps() {
        #if canImport(CMalloc) && canImport(Glibc)
            _ = mallopt(M_ARENA_MAX, 2)
        #endif
    }
}
