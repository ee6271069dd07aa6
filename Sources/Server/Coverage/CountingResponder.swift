import Evidence
import HTTPTypes
import Hummingbird
import Simulation

extension CoverageLedger {
    /// Counts an answer that is in the journal.
    ///
    /// - Returns: for ``takeBack(_:)``; `nil` if nothing was counted.
    func count(
        _ entry: JournalEntry, _ answer: Answer, _ request: IncomingRequest, _ namespace: Namespace
    ) -> CountedAnswer? {
        // The description has no HEAD.
        guard request.method != .head else { return nil }
        let edge = entry.status.flatMap { answer.documented?[$0] }
        return count(entry, test: request.headers.value(of: .test), edge: edge, answer.edges, in: namespace)
    }
}

/// Counts documented answers that no job of a namespace decided: the refusal of a host, a namespace that does not exist, a picture.
/// The journal has none of them [D coverage].
struct CountingResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    /// `nil` if nobody counts.
    let coverage: CoverageLedger?
    let routes: RouteTable
    let environment: Simulation.Environment

    func respond(to request: IncomingRequest) async throws -> Answer {
        let answer = try await inner.respond(to: request)
        guard let coverage, answer.outcome == nil, !request.head.isControl, request.method != .head else {
            return answer
        }
        let documented = answer.documented ?? routes.documented(request.method, request.target.path)
        guard let documented else { return answer }
        coverage.count(
            requestID: answer.response.headers.value(of: .requestID) ?? "",
            test: request.headers.value(of: .test),
            edge: documented[answer.response.status.code], answer.edges, in: request.target.namespace,
            environment.secrets(with: environment.seed))
        return answer
    }
}

extension HTTPField.Name {
    /// The caller's name of its test, which the journal shows.
    static let test = HTTPField.Name("X-Sim-Test")!
}
