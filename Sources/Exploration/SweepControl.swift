import SimulationAPI

/// The part of the control API that a sweep needs. The command line's client implements it.
package protocol SweepControl: Sendable {
    /// Makes a namespace in the state in which each run begins.
    func make(_ namespace: String) async throws
    /// The routes of the platforms, as globs.
    func routes() async throws -> [Choices.Route]
    /// The names of all namespaces of the server, sorted.
    func namespaces() async throws -> [String]
    /// The names of deleted namespaces that had requests.
    func deletedNamespaces() async throws -> [String]
    /// Gives a namespace another name.
    func move(_ namespace: String, to name: String) async throws
    /// Adds a fault rule.
    ///
    /// - Returns: its id.
    func add(_ rule: JSONValue, to namespace: String) async throws -> String
    /// The number of times that a fault rule was triggered; 0 if the client deleted it.
    func hits(of rule: String, in namespace: String) async throws -> Int
    /// Changes settings by a merge patch.
    func change(_ settings: JSONValue, of namespace: String) async throws
    func settings(of namespace: String) async throws -> JSONValue
    /// The webhook deliveries with their attempts, oldest first.
    func deliveries(of namespace: String) async throws -> [WebhookDelivery]
    /// The requests of the journal, oldest first.
    func journal(of namespace: String) async throws -> [JournaledRequest]
    /// Lets results and webhooks come that are due soon after the end of a run, so that its length does not decide.
    func settle(_ namespace: String) async throws
    /// Saves the namespace's state under a name of the namespace.
    func save(_ namespace: String, as snapshot: String) async throws
    /// Compares a saved state of a namespace with the present state of another one.
    func difference(from snapshot: String, of namespace: String, to other: String) async throws -> StateDifference
    func audit(of namespace: String) async throws -> AuditReport
    func drop(_ namespace: String) async throws
}

/// The end of one run of the client.
package struct ClientEnding: Sendable {
    /// The exit code, as a shell has it.
    package let code: Int32
    /// Whether the client was ended because its time was over.
    package let isLate: Bool
    /// The duration in real time.
    package let seconds: Double

    package init(code: Int32, isLate: Bool, seconds: Double) {
        self.code = code
        self.isLate = isLate
        self.seconds = seconds
    }
}

/// The command that a sweep runs.
package protocol SweptClient: Sendable {
    /// Runs the command to its end, and ends the processes that it leaves.
    ///
    /// - Parameters:
    ///   - fault: the call and the fault, for the client's own log; `nil` of a run without a fault.
    ///   - limit: the seconds after which the command is ended; `nil` for no limit.
    func run(in namespace: String, fault: String?, limit: Double?) async throws -> ClientEnding
}
