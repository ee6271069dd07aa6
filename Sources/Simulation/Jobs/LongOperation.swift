import SimulationAPI
import Storage

extension Namespace {
    /// Takes its place in the order of requests, then runs `body`, which may take long and does not block other
    /// requests: its jobs and copies take turns of their own.
    ///
    /// The first job only takes the place and the request's id. If it fails, storage does, and `body` says how; or the caller
    /// of a read has gone, and `body` does not run.
    package func runLongOperation<Answer: Sendable>(
        _ head: RequestHead, _ body: @Sendable () async throws -> Answer
    ) async -> Completed<Answer> {
        let first = await answer(.success(Acknowledge()), head)
        let requestID = first.requestID
        if case .failure(let error) = first.result, error.kind == .abandoned {
            return Completed(requestID: requestID, result: .failure(error))
        }
        do {
            return Completed(requestID: requestID, result: .success(try await body()))
        } catch {
            return Completed(requestID: requestID, result: .failure(PlatformError(carrying: error)))
        }
    }
}

extension PlatformError {
    /// The caller's view of an error of any layer.
    package init(carrying error: any Error) {
        switch error {
        case let error as PlatformError: self = error
        case let error as SeedError: self = .invalid(scenario: error)
        case StorageError.foreign(let reason): self = .invalid(field: "body", "is not a valid snapshot: \(reason)")
        case StorageError.invalidRow(let row):
            self = .invalid(
                "body is not a valid snapshot: world.sqlite, \(row)",
                [ErrorDetail("world.sqlite.\(row.table)[\(row.row)].\(row.column)", row.problem)])
        case StorageError.newerSchema(_, let found, let known):
            self = .invalid(
                field: "body",
                "was written by a newer version of entrupy-sim: its schema is version \(found), this program knows up to \(known)"
            )
        case StorageError.changedMeanwhile(let reason): self = .wrongState("\(reason); try again")
        case StorageError.damaged(let problem): self = .bug(problem)
        default: self = .unavailable("\(error)")
        }
    }
}
