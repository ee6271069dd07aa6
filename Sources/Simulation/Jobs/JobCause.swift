import NIOConcurrencyHelpers
import Storage

/// A call of the control API, through all its jobs.
package final class NumberedCall: Sendable {
    /// The method and path, without the namespace and the query.
    let line: String
    /// The number of the call; `nil` until it has changed something.
    private let number = NIOLockedValueBox<Int64?>(nil)

    package init(method: String, path: String) {
        let line = "\(method) \(path)"
        self.line =
            line.utf8.count <= ControlCallRecord.maxLine ? line : String(line.prefix(ControlCallRecord.maxLine / 4))
    }

    /// Stores the call, unless an earlier job of it did. Writes.
    fileprivate func stored(_ job: JobContext) throws -> Cause {
        // The earlier job may be one of another namespace, or lost with its transaction.
        if let number = number.withLockedValue({ $0 }), try job.transaction.controlCall(number: number)?.line == line {
            return .control(number)
        }
        let stored = try job.transaction.insert(ControlCallRecord(number: 0, at: job.now, line: line))
        number.withLockedValue { $0 = stored }
        return .control(stored)
    }
}

/// The cause of the current job's changes. It is stored with the job's first change, so that jobs which change nothing
/// store nothing.
package struct JobCause {
    private enum Origin {
        case unknown
        case known(Cause)
        case dueWork(DueRecord, shown: String)
        case control(NumberedCall)
    }

    private let origin: Origin
    /// The trace of the request that the job belongs to; `nil` if it has none.
    package let trace: TraceContext?
    private var stored: Cause?

    /// A job of the simulator itself, or of an older recording.
    static let unknown = JobCause(origin: .unknown, trace: nil)

    private init(origin: Origin, trace: TraceContext?) {
        self.origin = origin
        self.trace = trace
    }

    /// A request, by its number in the journal.
    static func request(_ sequence: Int64, _ trace: TraceContext?) -> JobCause {
        JobCause(origin: .known(.request(sequence)), trace: trace)
    }

    /// An attempt to deliver a webhook.
    static func delivery(_ delivery: DeliveryRecord) -> JobCause {
        JobCause(origin: .known(.delivery(delivery.id)), trace: delivery.trace.flatMap { TraceContext(stored: $0) })
    }

    /// - Parameter shown: the subject of the work, as it may be shown.
    static func dueWork(_ work: DueRecord, shown: String) -> JobCause {
        JobCause(origin: .dueWork(work, shown: shown), trace: work.trace.flatMap { TraceContext(stored: $0) })
    }

    /// - Parameter head: the head of a job that is not a platform's request; `nil` if nobody called for it.
    init(ofCall head: RequestHead?) {
        self.init(origin: head?.call.map { .control($0) } ?? .unknown, trace: head?.trace)
    }

    /// The cause of a change that the job makes; `nil` if it is not known. Writes.
    mutating func cause(_ job: JobContext) throws -> Cause? {
        if let stored { return stored }
        switch origin {
        case .unknown: return nil
        case .known(let cause): stored = cause
        case .dueWork(let work, let shown):
            try job.transaction.insert(
                PastWorkRecord(id: work.id, at: work.dueAt, kind: work.kind, subject: shown, cause: work.cause),
                replacing: true)
            stored = .dueWork(work.id)
        case .control(let call): stored = try call.stored(job)
        }
        return stored
    }

    /// Forgets that the cause was stored: the change was undone.
    mutating func undone() { stored = nil }
}
