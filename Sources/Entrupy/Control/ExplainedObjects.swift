import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

extension ExplainedObject {
    /// The number of sessions, the newest ones, among which one is found by the id that the control API shows.
    private static let maxSessions = 10_000

    /// The item, the capture or the session with an id; `nil` if there is none.
    @Sendable static func ofEntrupy(_ id: String, _ job: JobContext) throws -> ExplainedObject? {
        if let item = try job.transaction.item(entrupyID: id) {
            return ExplainedObject(
                kind: "item", subjects: [item.captureID, id].compactMap(\.self), isNamedInPaths: true)
        }
        if let capture = try job.transaction.capture(id: id) {
            return ExplainedObject(
                kind: "capture", subjects: [id, capture.entrupyID].compactMap(\.self), isNamedInPaths: true)
        }
        guard id.utf8.starts(with: ActiveSession.prefix.utf8),
            let session = try job.transaction.newestSessions(limit: maxSessions).first(where: {
                ActiveSession.id(ofToken: $0.token).isIdentical(to: id)
            }), let user = try job.transaction.user(id: session.userID)
        else { return nil }
        // Events of a session are the user's, who may have others.
        let kinds = [EventKind.sessionStarted, .sessionEnded, .sessionExpired].map(\.name)
        return ExplainedObject(kind: "session", subjects: [user.username]) { event in
            kinds.contains(event.kind) && event.data.contains("\"\(id)\"")
        }
    }
}
