import EntrupyStorage
import Simulation

enum Items {
    /// The id of the next item. An id that an item has already is passed over: eight characters may repeat [P]
    /// [D item-ids]. Writes.
    static func nextID(_ job: JobContext) throws -> String {
        while true {
            let id = try job.nextID(.item)
            if try !job.transaction.hasItem(entrupyID: id) { return id }
        }
    }

    /// Stores a changed item, stamped with the job's time. Writes.
    ///
    /// The only place that knows that storing makes a new revision, by which renderings are cached.
    static func save(_ item: inout ItemRecord, _ job: JobContext) throws {
        item.updatedAt = job.now
        try job.transaction.updateItem(item)
        item.revision += 1
    }
}
