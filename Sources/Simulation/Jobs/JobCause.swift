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
        case request(Int64, RequestMetadata?, isResent: Bool)
        case delivery(DeliveryRecord)
        case dueWork(DueRecord, shown: String)
        case control(NumberedCall)
    }

    private let origin: Origin
    /// The trace of the request that the job belongs to; `nil` if it has none.
    package let trace: TraceContext?
    private var stored: Cause?

    /// A job of the simulator itself.
    static let unknown = JobCause(origin: .unknown, trace: nil)

    /// A request, by its number in the journal.
    static func request(_ sequence: Int64, _ head: RequestHead) -> JobCause {
        JobCause(origin: .request(sequence, head.metadata, isResent: head.isResent), trace: head.trace)
    }

    /// An attempt to deliver a webhook.
    static func delivery(_ delivery: DeliveryRecord) -> JobCause {
        JobCause(origin: .delivery(delivery), trace: delivery.trace.flatMap { TraceContext(stored: $0) })
    }

    /// - Parameter shown: the subject of the work, as it may be shown.
    static func dueWork(_ work: DueRecord, shown: String) -> JobCause {
        JobCause(origin: .dueWork(work, shown: shown), trace: work.trace.flatMap { TraceContext(stored: $0) })
    }

    /// The cause of a change that the job makes; `nil` if it is not known. Writes.
    mutating func cause(_ job: JobContext) throws -> Cause? {
        if let stored { return stored }
        switch origin {
        case .unknown: return nil
        case .request(let sequence, _, _): stored = .request(sequence)
        case .delivery(let delivery): stored = .delivery(delivery.id)
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

    /// The metadata of the request whose job this is; `nil` if it is not a request's.
    var metadata: RequestMetadata? { if case .request(_, let metadata, _) = origin { metadata } else { nil } }

    /// Whether this is the job of a request that was sent again from the journal.
    var isResent: Bool { if case .request(_, _, let isResent) = origin { isResent } else { false } }

    /// The request or the control call behind the job: its own, or the one that scheduled the work or sent the webhook. The farthest
    /// known cause if neither is known; `nil` if nothing is.
    func root(_ job: JobContext) -> Cause? {
        switch origin {
        case .unknown: nil
        case .request(let sequence, _, _): .request(sequence)
        // Stored with the job's first change, which is the event that asks.
        case .control: stored
        case .delivery(let delivery): delivery.cause?.root(job)
        case .dueWork(let work, _): work.cause?.root(job)
        }
    }
}

extension JobCause {
    /// - Parameter head: the head of a job that is not a platform's request; `nil` if nobody called for it.
    init(ofCall head: RequestHead?) {
        self.init(origin: head?.call.map { .control($0) } ?? .unknown, trace: head?.trace)
    }
}

extension Cause {
    /// The maximum number of causes that ``root(_:)`` follows.
    private static let maxSteps = 8

    /// The request or the control call behind a cause; the farthest known one if neither is known.
    package func root(_ job: JobContext) -> Cause {
        var farthest = self
        for _ in 0..<Self.maxSteps {
            let next: Cause?
            switch farthest.kind {
            case .dueWork(let id):
                // A row that cannot be read has no known cause: the job's own statements report the storage's problem. Work that is
                // still due has no row of past work.
                next = try? job.transaction.pastWork(id: id)?.cause ?? job.transaction.due(id: id)?.cause
            // The same.
            case .delivery(let id): next = try? job.transaction.delivery(id: id)?.cause
            case .request, .control: next = nil
            }
            guard let next else { break }
            farthest = next
        }
        return farthest
    }
}
