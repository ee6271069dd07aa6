import EntrupyStorage
import Simulation

/// Changes of items.
enum Items {
    /// Stores a changed item, stamped with the job's time. Writes.
    ///
    /// The only place that knows that storing makes a new revision, by which renderings are cached.
    static func save(_ item: inout ItemRecord, _ job: JobContext) throws {
        item.updatedAt = job.now
        try job.transaction.updateItem(item)
        item.revision += 1
    }
}
