import SimulationAPI
import Storage

@testable import Simulation

/// A platform of one kind of object, a parcel, and one rule: it arrives an hour after it was sent.
struct ParcelPlatform: SimulatedPlatform {
    var kinds = PlatformKinds(
        ids: [IDKind.parcel], events: [.parcelSent, .parcelArrived], due: [.parcelArrival])
    var scenarios = PlatformScenarios(actions: [
        ScenarioAction.Kind("send_parcel", members: ["to"]) { fields, _ in
            let receiver = fields.requiredText("to")
            return { job in _ = try SendParcel(to: receiver).perform(job) }
        }
    ])
    var tables = {
        var tables = PlatformTables()
        tables.migrations = [
            Migration("parcels", "CREATE TABLE parcels (id TEXT PRIMARY KEY, receiver TEXT, arrived_at INTEGER)")
        ]
        tables.domains = [Parcel.table.domain]
        return tables
    }()
}

/// A stored parcel.
struct Parcel: StoredRecord {
    var id = ""
    var receiver = ""
    var arrivedAt: Instant?

    static let table = Table("parcels", key: .columns(["id"]), blank: Parcel()) {
        $0.identity("id", \.id, IDKind.parcel.name)
        $0.column("receiver", \.receiver, .name)
        $0.column("arrived_at", \.arrivedAt, .time.orNull)
    }
}

extension IDKind {
    static let parcel = IDKind("parcel", prefix: "pcl_", length: 20)
}

extension EventKind {
    static let parcelSent = EventKind("parcel.sent")
    static let parcelArrived = EventKind("parcel.arrived")
}

extension DueKind {
    static let parcelArrival = DueKind("parcel.arrival", isConsequence: true) { id, job in
        try job.transaction.run("UPDATE parcels SET arrived_at = ? WHERE id = ?", [job.now, id])
        try job.record(.parcelArrived, id)
    }
}

/// Sends a parcel, and answers its id.
struct SendParcel: Simulation.Operation {
    static let access = Access.writes
    let receiver: String

    init(to receiver: String) {
        self.receiver = receiver
    }

    func perform(_ job: JobContext, as caller: Control) throws -> String {
        let id = try job.nextID(.parcel)
        try job.transaction.insert(Parcel(id: id, receiver: receiver))
        try job.record(.parcelSent, id)
        try job.schedule(.parcelArrival, id, at: job.now + .hour)
        return id
    }
}
