import AppComponentsAPI
import AppComponentsStorage
import Simulation
import SimulationAPI
import Storage

/// A customer's backend, which sends its organization's API token. The document names no limit.
package struct ComponentsPartner: Authenticated {
    let organization: OrganizationRecord

    package static func identified(by credential: Credential, _ job: JobContext) throws -> Self {
        let wanted = "send \"Token <t>\" with your organization's API token"
        switch credential {
        case .missing: throw PlatformError.unauthorized("the Authorization header is missing; \(wanted)")
        case .malformed(let problem): throw PlatformError.unauthorized("the Authorization header \(problem); \(wanted)")
        case .token(let token):
            guard let organization = try job.transaction.organization(apiToken: token) else {
                throw PlatformError.unauthorized("unknown API token; \(wanted)")
            }
            return Self(organization: organization)
        }
    }
}

/// The result of an operation whose error is committed too: the operation may change something and still fail, for
/// instance when it rejects a client.
package typealias CommittedResult<Output> = Result<Output, PlatformError>

/// `POST /components/v1/workflows/{workflowId}/validationcode` [S].
package struct CreateValidationCode: Operation, Writes {
    let workflowID: String
    /// The members of the client that the code is for; `nil` for the first one of the seed data.
    let client: JSONObject?

    package func perform(_ job: JobContext, as caller: ComponentsPartner) throws -> ValidationCode {
        let client = try Self.client(client, job.workflows)
        guard let workflow = job.workflows.workflows.first(where: { $0.id.isIdentical(to: workflowID) }) else {
            let ids = job.workflows.workflows.map(\.id).joined(separator: ", ")
            throw PlatformError.notFound(
                "there is no workflow \"\(workflowID.excerpt)\"; the seed data has \(ids)",
                because: Because("the workflows of the seed data are \(ids)", "seed", [.seedLoaded]))
        }
        let organizationID = caller.organization.id
        if let at = try job.transaction.rejection(ofClient: client.id, organizationID: organizationID) {
            throw WorkflowFailure.clientRejected.error(
                "the client \(client.id) was rejected at \(at.display); no new workflow can be created for this client",
                because: Because(
                    "\(caller.organization.name)'s client \(client.id) was rejected at \(at.display)", client.id,
                    [.clientRejected]))
        }
        let code = try job.nextID(.validationCode)
        let expiresAt = job.now + job.componentSettings.codeLifetime
        try job.transaction.insert(
            ValidationCodeRecord(
                code: code, organizationID: organizationID, workflowID: workflow.id, client: client.stored(),
                createdAt: job.now, expiresAt: expiresAt))
        try job.record(
            .validationCodeCreated, code, ["workflow": .string(workflow.id), "client_id": .string(client.id)])
        return ValidationCode(validationCode: code, expires_at: expiresAt.epoch)
    }

    /// The client of a code. Members that the request lacks are those of the seed data's client of this id, else of its
    /// first one [D clients].
    private static func client(_ members: JSONObject?, _ seed: ComponentSeed) throws -> Client {
        guard let first = seed.clients.first else { throw PlatformError.bug("seed data without clients") }
        guard let members else { return first }
        let known = members["client_id"]?.text.flatMap { id in seed.clients.first { $0.id.isIdentical(to: id) } }
        var whole = FieldReader(["client": .object(members)])
        var fields = whole.object("client", known: Client.members)
        let client = Client(&fields, defaults: known ?? first)
        try whole.finish()
        return client
    }
}

extension CreateValidationCode {
    package init(_ input: some RequestInput) throws {
        var fields = FieldReader(try input.componentFields())
        self.init(workflowID: input.path("workflowId"), client: fields.members("client"))
        try fields.finish()
    }
}

/// Rules that all operations on sessions share.
enum WorkflowSessions {
    /// A session in which components can run.
    ///
    /// - Throws: ``WorkflowFailure/invalidSession`` or ``WorkflowFailure/sessionExpired`` as an error.
    static func active(_ id: String, _ job: JobContext) throws -> ActiveWorkflowSession {
        guard let record = try job.transaction.workflowSession(id: id) else {
            throw WorkflowFailure.invalidSession.error(
                "there is no such workflow session; start one with POST /components/sessions", because: missing(id))
        }
        if record.status == .cleared, let endedAt = record.endedAt {
            let text = "the workflow session was cleared at \(endedAt.display)"
            throw WorkflowFailure.invalidSession.error(text, because: Because(text, id, [.workflowSessionCleared]))
        }
        guard record.endedAt == nil else {
            let text = "the workflow session expired at \(record.expiresAt.display)"
            throw WorkflowFailure.sessionExpired.error(
                "\(text); create a new validation code", because: Because(text, id, [.workflowSessionExpired]))
        }
        guard let workflow = job.workflows.workflow(record.workflowID) else {
            throw WorkflowFailure.configurationNotSupported.error(
                "the seed data has no workflow \"\(record.workflowID)\" any more",
                because: Because(
                    "the session \(id) was started with a workflow that the seed data no longer has", "seed",
                    [.seedLoaded]))
        }
        return ActiveWorkflowSession(record: record, workflow: workflow, client: try Client(stored: record.client))
    }

    /// The fact that no session has an id.
    static func missing(_ id: String) -> Because {
        Because("the namespace has no workflow session with this id", id, [])
    }

    /// Ends a session at its time. Writes.
    static func expire(id: String, _ job: JobContext) throws {
        guard var session = try job.transaction.workflowSession(id: id), session.endedAt == nil else { return }
        try end(&session, .expired, .workflowSessionExpired, job)
    }

    /// Ends a session and releases its pictures and videos [S]. Writes.
    static func end(
        _ session: inout WorkflowSessionRecord, _ status: WorkflowSessionInfo.Status, _ event: EventKind,
        _ job: JobContext
    ) throws {
        (session.endedAt, session.endReason) = (job.now, status)
        try job.transaction.end(session)
        job.state.releaseImages(try job.transaction.releaseComponentFiles(sessionID: session.id))
        try job.record(event, session.id)
    }

    static func render(_ session: WorkflowSessionRecord, _ job: JobContext) throws -> WorkflowSessionInfo {
        let workflow = job.workflows.workflow(session.workflowID)
        return WorkflowSessionInfo(
            session_id: session.id, available: session.endedAt == nil, status: session.status,
            networkEnvironment: session.environment,
            workflow: workflow.map { .init(id: $0.id, name: $0.name, components: $0.components) },
            components: try job.transaction.componentRuns(sessionID: session.id).map {
                try Components.render($0, workflow, job)
            },
            started_at: session.startedAt.epoch, expires_at: session.expiresAt.epoch)
    }
}

/// A session in which components can run, with what it is about.
struct ActiveWorkflowSession {
    let record: WorkflowSessionRecord
    let workflow: Workflow
    let client: Client

    var id: String { record.id }
    var isMock: Bool { record.environment == .mock }
}

/// `POST /components/sessions`.
package struct StartWorkflowSession: Operation, Writes {
    let code: String
    let environment: WorkflowEnvironment

    package func perform(_ job: JobContext, as caller: Anyone) throws -> CommittedResult<WorkflowSessionInfo> {
        let record = environment == .mock ? nil : try usableCode(job)
        let workflow = record.map { job.workflows.workflow($0.workflowID) } ?? .mock
        let client = try record.map { try Client(stored: $0.client) } ?? MockDocument.client
        if let (failure, because) = try decided(record, client, job) {
            return .failure(try failure.decided(client, record?.organizationID, because: because, job))
        }
        guard let workflow else {
            return .failure(
                WorkflowFailure.configurationNotSupported.error(
                    "the seed data has no workflow \"\(record?.workflowID ?? "")\" any more",
                    because: Because(
                        "the validation code was created for a workflow that the seed data no longer has", "seed",
                        [.seedLoaded])))
        }
        guard workflow.isSupported else {
            return .failure(
                WorkflowFailure.configurationNotSupported.error(
                    "the workflow \(workflow.id) is not supported",
                    because: Because(
                        "the seed data has supported: false for the workflow \(workflow.id)", "seed", [.seedLoaded])))
        }
        let session = WorkflowSessionRecord(
            id: try job.nextID(.workflowSession), organizationID: record?.organizationID,
            environment: environment, workflowID: workflow.id, client: try client.stored(),
            startedAt: job.now, expiresAt: job.now + job.componentSettings.sessionLifetime)
        try job.transaction.insert(session)
        if let record { try job.transaction.useValidationCode(record.code, at: job.now) }
        try job.schedule(.workflowSessionExpiry, session.id, at: session.expiresAt)
        var data: JSONObject = [
            "environment": .string(environment.rawValue), "workflow": .string(workflow.id),
            "client_id": .string(client.id),
        ]
        data["code"] = record.map { .string($0.code) }
        try job.record(.workflowSessionStarted, session.id, data)
        return .success(try WorkflowSessions.render(session, job))
    }

    private func usableCode(_ job: JobContext) throws -> ValidationCodeRecord {
        let failure = WorkflowFailure.invalidValidationCode
        guard let record = try job.transaction.validationCode(code) else {
            throw failure.error(
                "there is no such validation code; a backend creates one",
                because: Because("the namespace has no validation code of this text", code, []))
        }
        if let usedAt = record.usedAt {
            let text = "the validation code was used at \(usedAt.display)"
            throw failure.error("\(text); create a new one", because: Because(text, code, [.workflowSessionStarted]))
        }
        guard job.now < record.expiresAt else {
            let text = "the validation code expired at \(record.expiresAt.display)"
            job.note {
                $0.facts.append(
                    DecidingFact(
                        .setting, "components.code_lifetime", "created at \(record.createdAt.display), \(text)",
                        otherwise: "a start before \(record.expiresAt.display), or a longer components.code_lifetime"))
            }
            throw failure.error(
                "\(text); create a new one", because: Because(text, code, [.validationCodeCreated]))
        }
        return record
    }

    /// The failure that an outcome rule, an earlier rejection or the magic document number decides for the start, and what
    /// decided it. Writes.
    private func decided(
        _ record: ValidationCodeRecord?, _ client: Client, _ job: JobContext
    ) throws -> (failure: WorkflowFailure, because: Because)? {
        let workflowID = record?.workflowID ?? Workflow.mock.id
        if let (rule, outcome) = try Outcomes.first(
            job, where: { (outcome: ComponentOutcome) in outcome.decides(.session, workflowID, client) }),
            case .failure(let failure) = outcome.decision
        {
            try Outcomes.count(rule, for: record?.code ?? code, job)
            return (failure, failure.because(rule))
        }
        if let organizationID = record?.organizationID,
            let at = try job.transaction.rejection(ofClient: client.id, organizationID: organizationID)
        {
            return (
                .clientRejected,
                Because("the client \(client.id) was rejected at \(at.display)", client.id, [.clientRejected])
            )
        }
        if case .failure(let failure) = client.magic, failure.stage == .session {
            return (failure, failure.because(client))
        }
        return nil
    }
}

extension StartWorkflowSession {
    package init(_ input: some RequestInput) throws {
        var fields = FieldReader(try input.componentFields())
        let code = fields.requiredText("validationCode", maxBytes: 200)
        let environment = fields.requiredWord("networkEnvironment", WorkflowEnvironment.names)
        try input.decoding { try fields.finish() }
        self.init(code: code, environment: WorkflowEnvironment(rawValue: environment) ?? .mock)
    }
}

extension WorkflowFailure {
    /// The error that a rule decided, with its consequences. Writes.
    ///
    /// - Parameters:
    ///   - organizationID: the organization whose client is rejected; `nil` in the mock environment.
    ///   - because: what decided it, for the journal.
    func decided(
        _ client: Client, _ organizationID: Int64?, because: Because?, _ job: JobContext
    ) throws -> PlatformError {
        if self == .clientRejected, let organizationID { try Self.reject(client.id, organizationID, job) }
        return try unexpected(because: because, job)
    }

    /// That an outcome rule decided it, for the journal.
    func because(_ rule: OutcomeRule) -> Because {
        Because("the outcome rule \(rule.id) decided \(rawValue)", rule.id, [.outcomeAdded])
    }

    /// That a magic document number decided it, for the journal.
    func because(_ client: Client) -> Because {
        "the document number of the client \(client.id) is a magic one, which decides \(rawValue)"
    }

    /// Records that a client was rejected. Writes.
    static func reject(_ clientID: String, _ organizationID: Int64, _ job: JobContext) throws {
        guard try job.transaction.rejection(ofClient: clientID, organizationID: organizationID) == nil else { return }
        try job.transaction.rejectClient(clientID, organizationID: organizationID, at: job.now)
        try job.record(.clientRejected, clientID)
    }

    /// The error, with a message code if it is unexpected. Writes.
    func unexpected(because: Because?, _ job: JobContext) throws -> PlatformError {
        guard self == .unexpected else { return error(because: because) }
        let code = try job.nextID(.messageCode)
        return error("an unexpected error occurred; its message code is \(code)", messageCode: code)
    }
}

/// `GET /components/sessions/{id}`: whether a session is available.
package enum ShowWorkflowSession: RuleByID, Reads {
    package static func perform(_ id: String, _ job: JobContext, as caller: Anyone) throws -> WorkflowSessionInfo {
        guard let session = try job.transaction.workflowSession(id: id) else {
            return WorkflowSessionInfo(session_id: id, available: false, status: .unknown)
        }
        return try WorkflowSessions.render(session, job)
    }
}

/// `DELETE /components/sessions/{id}`: clears a session. Its pictures go, and a new one must be started [S].
package enum ClearWorkflowSession: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as caller: Anyone) throws -> WorkflowSessionInfo {
        guard var session = try job.transaction.workflowSession(id: id) else {
            throw WorkflowFailure.invalidSession.error(
                "there is no such workflow session", because: WorkflowSessions.missing(id))
        }
        if session.endedAt == nil {
            try job.unschedule(.workflowSessionExpiry, id, at: session.expiresAt)
            try WorkflowSessions.end(&session, .cleared, .workflowSessionCleared, job)
        }
        return try WorkflowSessions.render(session, job)
    }
}

/// `GET /_sim/components/sessions`: newest first.
package struct ListWorkflowSessions: Operation, Reads {
    let limit: Int
    let cursor: String?

    package func perform(_ job: JobContext, as caller: Control) throws -> WorkflowSessionList {
        let page = try Cursor.page(cursor, of: ["workflow sessions"], limit: limit, job, position: \.position) {
            try job.transaction.workflowSessions(before: $0, limit: $1)
        }
        return WorkflowSessionList(
            sessions: try page.records.map { try WorkflowSessions.render($0, job) }, next_cursor: page.next)
    }
}

extension ListWorkflowSessions {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        let (limit, cursor) = query.page()
        try query.finish()
        self.init(limit: limit, cursor: cursor)
    }
}
