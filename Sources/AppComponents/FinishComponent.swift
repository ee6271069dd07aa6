import AppComponentsAPI
import AppComponentsStorage
import Simulation
import SimulationAPI
import Storage

/// Ends a component: checks that everything wanted is there, and decides how it ends.
private enum Finish {
    /// The files of a component that succeeds, and whether a check digit is wrong.
    typealias Success = (files: [ComponentFileRecord], isDamaged: Bool)

    static func end(
        _ session: ActiveWorkflowSession, _ run: ComponentRunRecord, _ job: JobContext,
        failureByRule: () -> WorkflowFailure?
    ) throws -> CommittedResult<Success> {
        let files = try job.transaction.componentFiles(sessionID: session.id, component: run.component)
        try checkFiles(files, run, session.workflow)
        let decided = try decision(session, run, job)
        // A decision without a failure is a wrong check digit: the component succeeds then, whatever the rule says.
        if let failure = decided.map({ $0.decision.failure(at: .finish) }) ?? failureByRule() {
            try job.transaction.end(run, error: failure.rawValue, at: job.now)
            try job.record(
                .componentFailed, session.id,
                ["component": .string(run.component.rawValue), "error": .string(failure.rawValue)])
            let because = decided.map { $0.rule.map(failure.because) ?? failure.because(session.client) }
            return .failure(
                try failure.decided(session.client, session.record.organizationID, because: because, job))
        }
        try job.transaction.end(run, error: nil, at: job.now)
        try job.record(.componentFinished, session.id, ["component": .string(run.component.rawValue)])
        return .success((files, isDamaged: decided != nil))
    }

    /// The decision about the end of a component, with the outcome rule that made it; without one it is that of a magic number. It is a
    /// failure, or a wrong check digit [D component-order]. Writes.
    private static func decision(
        _ session: ActiveWorkflowSession, _ run: ComponentRunRecord, _ job: JobContext
    ) throws -> (rule: OutcomeRule?, decision: MagicNumber)? {
        func ofEnd(_ decision: MagicNumber) -> MagicNumber? {
            if case .validationErrors = decision { return decision }
            return decision.failure(at: .finish) == nil ? nil : decision
        }
        if let found = try Components.decision(run, session, job, ofEnd) { return found }
        guard let magic = Components.magic(run.component, session).flatMap(ofEnd) else { return nil }
        // Errors of documents make no sense for a face.
        let isForDocuments = magic.failure(at: .finish)?.isOfDocuments ?? false
        return run.component == .biometrics && isForDocuments ? nil : (nil, magic)
    }

    private static func checkFiles(
        _ files: [ComponentFileRecord], _ run: ComponentRunRecord, _ workflow: Workflow
    ) throws {
        var problems: [ErrorDetail] = []
        for image in workflow.images(of: run.component, run.documentType) {
            let name = image.isAngled ? "\(image.side)?angled=true" : image.side
            let file = files.named(image.side, isAngled: image.isAngled)
            if file == nil {
                problems.append(ErrorDetail(name, "is wanted and has no picture yet"))
            } else if let file, !file.isGood {
                problems.append(ErrorDetail(name, "must be taken again: it is \(file.quality ?? "bad")"))
            }
        }
        if workflow.wantsVideo(run.component), files.named(Workflow.video) == nil {
            let name = run.component == .document ? "video" : "liveness"
            problems.append(ErrorDetail(name, "is wanted and has not been uploaded yet"))
        }
        guard problems.isEmpty else {
            throw WorkflowFailure.incorrectConfiguration.error(
                "the component cannot end yet: \(problems.map { "\($0.field) \($0.problem)" }.joined(separator: "; "))",
                problems)
        }
    }
}

/// `POST …/document/finish`.
package enum FinishDocument: RuleByID, Writes {
    package static func perform(_ sessionID: String, _ job: JobContext, as caller: Anyone) throws -> CommittedResult<
        DocumentResult
    > {
        let (session, run) = try Components.running(.document, sessionID, job)
        guard let type = run.documentType else {
            throw PlatformError.bug("a document component without a type")
        }
        let end = try Finish.end(session, run, job) {
            session.isMock ? nil : Self.failure(type, session.client, session.workflow, CivilDate(job.now))
        }
        switch end {
        case .failure(let error): return .failure(error)
        case .success(let (files, isDamaged)):
            let facts =
                session.isMock
                ? MockDocument.facts(type, issuingCountry: run.issuingCountry)
                : DocumentFacts(type, run.issuingCountry, session, job)
            return .success(try Self.result(type, facts, run, files, session.workflow, isDamaged, job))
        }
    }

    /// The error that the rules decide, in this order [D component-order].
    static func failure(
        _ type: IdentityDocument, _ client: Client, _ workflow: Workflow, _ today: CivilDate
    ) -> WorkflowFailure? {
        if let held = client.documentType, held != type, type.isPrimary {
            // Two zones can be compared; a document without one only looks different.
            return held.hasTravelZone && type.hasTravelZone ? .documentTypeInvalid : .documentTypeMismatch
        }
        if let accepted = workflow.document?.nationalities, type.isPrimary,
            !accepted.contains(where: { $0.isIdentical(to: client.nationality) })
        {
            return .nationalityNotSupported
        }
        if type.isPrimary, let end = client.expirationDate, end < today { return .documentExpired }
        if type.isPrimary, client.birthDate.years(to: today) < 18 { return .personNotAdult }
        return nil
    }

    private static func result(
        _ type: IdentityDocument, _ facts: DocumentFacts, _ run: ComponentRunRecord, _ files: [ComponentFileRecord],
        _ workflow: Workflow, _ isDamaged: Bool, _ job: JobContext
    ) throws -> DocumentResult {
        let location = try Files.location(run)
        let images = workflow.images(of: .document, type).compactMap { image in
            files.named(image.side, isAngled: image.isAngled).map { file in
                DocumentResult.Document.Image(
                    image: Files.url(file, job), isAngled: file.isAngled, timestamp: file.uploadedAt.display,
                    fileSide: file.name, location: location)
            }
        }
        return DocumentResult(
            documentResult: .init(
                documentType: type.rawValue, images: images,
                mrtdMrzInfo: MachineReadableZone.travelDocument(type, facts, isDamaged: isDamaged),
                idlMrzInfo: type == .dutchDriversLicense
                    ? MachineReadableZone.drivingLicence(facts, isDamaged: isDamaged) : nil,
                videoRecording: Files.video(files, location, job)),
            documentAnalysis: workflow.document?.extractsData == true ? facts.analysis(of: type) : nil)
    }
}

/// `POST …/biometrics/finish`.
package enum FinishBiometrics: RuleByID, Writes {
    package static func perform(_ sessionID: String, _ job: JobContext, as caller: Anyone) throws -> CommittedResult<
        BiometricsResult
    > {
        let (session, run) = try Components.running(.biometrics, sessionID, job)
        switch try Finish.end(session, run, job, failureByRule: { nil }) {
        case .failure(let error): return .failure(error)
        case .success(let (files, _)):
            guard let selfie = files.named(Workflow.selfie) else {
                throw PlatformError.bug("a biometrics component without a selfie")
            }
            let location = try Files.location(run)
            return .success(
                BiometricsResult(
                    selfie: .init(
                        image: Files.url(selfie, job), timestamp: selfie.uploadedAt.display, location: location),
                    liveness: Files.video(files, location, job)))
        }
    }
}

/// `POST …/document/cancel` and `…/biometrics/cancel`: the client closes the component. It ends as
/// ``WorkflowFailure/canceled`` [D cancel].
package struct CancelComponent: Operation, Writes {
    let sessionID: String
    let component: Component

    package init(sessionID: String, _ component: Component) {
        self.sessionID = sessionID
        self.component = component
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> CommittedResult<ComponentState> {
        let (session, run) = try Components.running(component, sessionID, job)
        let failure = WorkflowFailure.canceled
        try job.transaction.end(run, error: failure.rawValue, at: job.now)
        try job.record(
            .componentFailed, session.id,
            ["component": .string(run.component.rawValue), "error": .string(failure.rawValue)])
        return .failure(
            failure.error(because: "the client closed the \(component.rawValue) component with this request"))
    }
}

extension IdentityDocument {
    /// Whether it has the machine-readable zone of travel documents [S].
    fileprivate var hasTravelZone: Bool {
        [.frenchIdCard, .idCard, .passport, .residencePermit].contains(self)
    }
}
