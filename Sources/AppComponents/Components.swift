import AppComponentsAPI
import AppComponentsStorage
import Foundation
import Simulation
import SimulationAPI
import Storage

/// Rules that all operations on components share.
enum Components {
    /// A session and its component that runs.
    ///
    /// - Throws: as ``WorkflowSessions/active(_:_:)``; ``WorkflowFailure/invalidWorkflowStatus`` as an error if the component
    ///   has ended, or was never started.
    static func running(
        _ component: Component, _ sessionID: String, _ job: JobContext
    ) throws -> (ActiveWorkflowSession, ComponentRunRecord) {
        let session = try WorkflowSessions.active(sessionID, job)
        guard let run = try job.transaction.componentRun(sessionID: session.id, component: component) else {
            throw WorkflowFailure.invalidWorkflowStatus.error(
                "the \(component.rawValue) component was not started in this session",
                because: Because(
                    "the session \(session.id) has no \(component.rawValue) component", session.id,
                    [.workflowSessionStarted]))
        }
        try checkIsRunning(run)
        return (session, run)
    }

    static func checkIsRunning(_ run: ComponentRunRecord) throws {
        guard let endedAt = run.endedAt else { return }
        let how = run.error.map { "with \($0)" } ?? "successfully"
        throw WorkflowFailure.invalidWorkflowStatus.error(
            "the \(run.component.rawValue) component has ended already, \(how)",
            because: Because(
                "the \(run.component.rawValue) component of \(run.sessionID) ended at \(endedAt.display), \(how)",
                run.sessionID, [.componentFinished, .componentFailed], named: run.component.rawValue))
    }

    static func render(
        _ run: ComponentRunRecord, _ workflow: Workflow?, _ job: JobContext
    ) throws -> ComponentState {
        let files = try job.transaction.componentFiles(sessionID: run.sessionID, component: run.component)
        return ComponentState(
            component: run.component, status: run.status, documentType: run.documentType?.rawValue,
            issuingCountry: run.issuingCountry, error: run.error,
            images: (workflow?.images(of: run.component, run.documentType) ?? []).map { image in
                WantedImage(
                    fileSide: image.side, isAngled: image.isAngled,
                    isUploaded: files.named(image.side, isAngled: image.isAngled)?.isGood == true)
            },
            hasVideo: workflow?.wantsVideo(run.component) == true ? files.named(Workflow.video) != nil : nil,
            realTimeFeedback: workflow?.hasFeedback ?? false)
    }

    /// The decision of the first outcome rule for a component that `read` understands; `nil` if there is none. Counts the
    /// rule.
    static func decision<Decision>(
        _ run: ComponentRunRecord, _ session: ActiveWorkflowSession, _ job: JobContext,
        _ read: (MagicNumber) -> Decision?
    ) throws -> (rule: OutcomeRule, decision: Decision)? {
        let subject = ComponentOutcome.Subject(rawValue: run.component.rawValue) ?? .document
        let found = try Outcomes.first(job) { (outcome: ComponentOutcome) in
            read(outcome.decision) != nil
                && outcome.decides(
                    subject, session.workflow.id, session.client, run.documentType, run.issuingCountry)
        }
        guard let found, let decision = read(found.outcome.decision) else { return nil }
        try Outcomes.count(found.rule, for: session.id, job)
        return (found.rule, decision)
    }

    /// The decision of the magic document number about a component; `nil` if there is none. In a workflow with a
    /// Document Component, it applies only to that component [D magic-numbers].
    static func magic(_ component: Component, _ session: ActiveWorkflowSession) -> MagicNumber? {
        guard !session.isMock else { return nil }
        return component == .document || session.workflow.document == nil ? session.client.magic : nil
    }
}

extension [ComponentFileRecord] {
    /// The picture of a side, or the video.
    func named(_ name: String, isAngled: Bool = false) -> ComponentFileRecord? {
        first { $0.name.isIdentical(to: name) && $0.isAngled == isAngled }
    }
}

extension ComponentFileRecord {
    /// Whether it counts: a picture that got feedback must be good [D feedback].
    var isGood: Bool { quality == nil || quality == ImageQuality.ok.rawValue }
}

extension MagicNumber {
    /// The failure that it decides at a moment.
    func failure(at stage: WorkflowFailure.Stage) -> WorkflowFailure? {
        if case .failure(let failure) = self, failure.stage == stage { failure } else { nil }
    }
}

/// `POST /components/sessions/{id}/document` and `…/biometrics`.
package struct StartComponent: Operation, Writes {
    let sessionID: String
    let component: Component
    /// `nil` for a face.
    let type: IdentityDocument?
    let country: String?
    let location: Location?

    package func perform(_ job: JobContext, as caller: Anyone) throws -> CommittedResult<ComponentState> {
        if let type { try ComponentInput.check(type, country) }
        let session = try WorkflowSessions.active(sessionID, job)
        if let run = try job.transaction.componentRun(sessionID: session.id, component: component) {
            try Components.checkIsRunning(run)
            throw WorkflowFailure.invalidWorkflowStatus.error(
                "the \(component.rawValue) component runs already",
                because: Because(
                    "the \(component.rawValue) component of \(session.id) was started at \(run.startedAt.display)",
                    session.id, [.componentStarted], named: component.rawValue))
        }
        guard session.workflow.components.contains(component) else {
            throw WorkflowFailure.configurationNotSupported.error(
                "the workflow \(session.workflow.id) has no \(component.rawValue) component",
                because: Because(
                    "the components of the workflow \(session.workflow.id) are "
                        + session.workflow.components.map(\.rawValue).joined(separator: ", "), session.id,
                    [.workflowSessionStarted]))
        }
        let run = ComponentRunRecord(
            sessionID: session.id, component: component, documentType: type, issuingCountry: country,
            location: try location.map { try StoredJSON.encode($0) }, startedAt: job.now)
        if let (rule, failure) = try Components.decision(run, session, job, { $0.failure(at: .start) }) {
            return .failure(failure.error(because: failure.because(rule)))
        }
        if let failure = Components.magic(component, session)?.failure(at: .start),
            component == .document || !failure.isOfDocuments
        {
            return .failure(failure.error(because: failure.because(session.client)))
        }
        try checkSupport(session.workflow)
        try job.transaction.insert(run)
        var data: JSONObject = ["component": .string(component.rawValue)]
        data["document_type"] = type.map { .string($0.rawValue) }
        data["issuing_country"] = country.map { .string($0) }
        try job.record(.componentStarted, session.id, data)
        return .success(try Components.render(run, session.workflow, job))
    }

    /// The check at launch: the workflow must support the type and the country [S].
    private func checkSupport(_ workflow: Workflow) throws {
        guard let rules = workflow.document, let type, component == .document else { return }
        if let types = rules.types, !types.contains(type) {
            throw WorkflowFailure.documentTypeNotSupported.error(
                "the workflow \(workflow.id) does not support \(type.rawValue)",
                [ErrorDetail("documentType", "must be one of \(types.map(\.rawValue).joined(separator: ", "))")])
        }
        if let countries = rules.issuingCountries, let country,
            !countries.contains(where: { $0.isIdentical(to: country) })
        {
            throw WorkflowFailure.issuingCountryNotSupported.error(
                "the workflow \(workflow.id) does not support documents of \(country)",
                [ErrorDetail("issuingCountry", "must be one of \(countries.joined(separator: ", "))")])
        }
    }
}

extension StartComponent {
    package init(_ input: some RequestInput, _ component: Component) throws {
        let members = try input.componentFields()
        var fields = FieldReader(members)
        var type: IdentityDocument?
        var country: String?
        if component == .document {
            type = IdentityDocument(rawValue: fields.requiredWord("documentType", IdentityDocument.names))
            country = fields.country("issuingCountry")
        }
        let location = fields.location(isGiven: members["location"] != nil)
        try input.decoding { try fields.finish() }
        self.init(
            sessionID: input.path("id"), component: component, type: type, country: country, location: location)
    }
}

/// `PUT …/document/images/{side}` and `PUT …/biometrics/selfie`.
package struct UploadPicture: Operation, Writes {
    let sessionID: String
    let component: Component
    let side: String
    let isAngled: Bool
    let image: ReceivedImage

    package init(sessionID: String, _ component: Component, side: String, isAngled: Bool, image: ReceivedImage) {
        self.sessionID = sessionID
        self.component = component
        self.side = side
        self.isAngled = isAngled
        self.image = image
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> ComponentUpload {
        let (session, run) = try Components.running(component, sessionID, job)
        try checkSide(session.workflow.images(of: component, run.documentType))
        let format = try image.format.get()
        let before = try job.transaction.componentFiles(sessionID: session.id, component: component)
            .named(side, isAngled: isAngled)
        let uploads = (before?.uploads ?? 0) + 1
        let quality = session.workflow.hasFeedback ? try judge(run, uploads, session, job) : nil
        let file = ComponentFileRecord(
            sessionID: session.id, component: run.component, name: side, isAngled: isAngled, sha256: image.sha256,
            bytes: image.bytes, mediaType: format.rawValue, quality: quality?.rawValue, duration: nil,
            uploads: uploads, uploadedAt: job.now)
        return try Files.store(file, quality, replacing: before?.sha256, job)
    }

    private func checkSide(_ images: [(side: String, isAngled: Bool)]) throws {
        let ofSide = images.filter { $0.side.isIdentical(to: side) }
        guard !ofSide.isEmpty else {
            var sides: [String] = []
            for image in images where !sides.contains(image.side) { sides.append(image.side) }
            throw PlatformError.invalid(
                field: "side", "must be one of \(sides.joined(separator: ", ")), got \"\(side.excerpt)\"")
        }
        guard ofSide.contains(where: { $0.isAngled == isAngled }) else {
            throw PlatformError.invalid(field: "angled", "must be false: the workflow wants no tilted pictures here")
        }
    }

    /// The quality of an upload: that of an outcome rule, else of the magic number, which spoils the first upload of each
    /// picture, else `ok` [D feedback]. Writes.
    private func judge(
        _ run: ComponentRunRecord, _ uploads: Int, _ session: ActiveWorkflowSession, _ job: JobContext
    ) throws -> ImageQuality {
        func quality(_ decision: MagicNumber) -> ImageQuality? {
            if case .quality(let quality) = decision { quality } else { nil }
        }
        if let decided = try Components.decision(run, session, job, quality) { return decided.decision }
        guard uploads == 1, let magic = Components.magic(component, session) else { return .ok }
        return quality(magic) ?? .ok
    }
}

/// `PUT …/document/video` and `PUT …/biometrics/liveness`.
package struct UploadVideo: Operation, Writes {
    let sessionID: String
    let component: Component
    let video: ReceivedVideo

    package init(sessionID: String, _ component: Component, video: ReceivedVideo) {
        self.sessionID = sessionID
        self.component = component
        self.video = video
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> ComponentUpload {
        let (session, run) = try Components.running(component, sessionID, job)
        guard session.workflow.wantsVideo(component) else {
            throw PlatformError.invalid(
                field: "video", "is not wanted: the workflow \(session.workflow.id) takes none for this component")
        }
        let format = try video.format.get()
        let before = try job.transaction.componentFiles(sessionID: session.id, component: component)
            .named(Workflow.video)
        let file = ComponentFileRecord(
            sessionID: session.id, component: run.component, name: Workflow.video, isAngled: false,
            sha256: video.sha256, bytes: video.bytes, mediaType: format.container.rawValue, quality: nil,
            duration: format.milliseconds, uploads: (before?.uploads ?? 0) + 1, uploadedAt: job.now)
        return try Files.store(file, nil, replacing: before?.sha256, job)
    }
}

enum Files {
    /// Stores a file, and returns the answer to its upload. Writes.
    static func store(
        _ file: ComponentFileRecord, _ quality: ImageQuality?, replacing before: String?, _ job: JobContext
    ) throws -> ComponentUpload {
        let released = try job.transaction.putComponentFile(file, replacing: before)
        job.state.refer(to: file.sha256)
        job.state.releaseImages([released].compactMap(\.self))
        try job.record(
            .componentFileUploaded, file.sessionID,
            [
                "component": .string(file.component.rawValue), "name": .string(file.name),
                "is_angled": .bool(file.isAngled), "sha256": .string(file.sha256),
            ])
        return ComponentUpload(
            fileSide: file.name, isAngled: file.isAngled, bytes: file.bytes, sha256: file.sha256, quality: quality,
            duration: file.duration == nil ? nil : seconds(file))
    }

    /// The place where the pictures of a component are taken.
    static func location(_ run: ComponentRunRecord) throws -> Location? {
        try run.location.map { try WireJSON.decode(Location.self, from: Data($0.utf8)) }
    }

    /// The video of a component; `nil` if it has none.
    static func video(_ files: [ComponentFileRecord], _ location: Location?, _ job: JobContext) -> Video? {
        files.named(Workflow.video).map { Video(url: url($0, job), duration: seconds($0), location: location) }
    }

    /// The length of a video in seconds, for instance `4.2` [D video-duration].
    static func seconds(_ file: ComponentFileRecord) -> String {
        let milliseconds = max(0, file.duration ?? 0)
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        var digits = String(1000 + rest).dropFirst()
        while digits.count > 1, digits.last == "0" { digits = digits.dropLast() }
        return "\(whole).\(digits)"
    }

    /// The URL of a file while its session lasts [D component-files].
    static func url(_ file: ComponentFileRecord, _ job: JobContext) -> String {
        let isVideo = file.name.isIdentical(to: Workflow.video)
        let place =
            switch file.component {
            case .biometrics: isVideo ? "liveness" : "selfie"
            case .document: isVideo ? "video" : "images/\(file.name)?angled=\(file.isAngled)"
            }
        return "\(job.publicURL)/components/sessions/\(file.sessionID)/\(file.component.rawValue)/\(place)"
    }
}

/// `GET …/document/images/{side}` and the other files: its hash and media type.
package struct FindComponentFile: Operation, Reads {
    let sessionID: String
    let component: Component
    let name: String
    let isAngled: Bool

    /// - Parameter name: the side of the document; `nil` for the selfie or, if `isVideo`, the video.
    package init(
        sessionID: String, _ component: Component, side name: String?, isAngled: Bool = false, isVideo: Bool = false
    ) {
        self.sessionID = sessionID
        self.component = component
        self.name = name ?? (isVideo ? Workflow.video : Workflow.selfie)
        self.isAngled = isAngled
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> (sha256: String, mediaType: String) {
        let session = try WorkflowSessions.active(sessionID, job)
        let files = try job.transaction.componentFiles(sessionID: session.id, component: component)
        guard let file = files.named(name, isAngled: isAngled) else {
            throw PlatformError.notFound(
                "no file \"\(name.excerpt)\" of the \(component.rawValue) component has been uploaded"
                    + (isAngled ? " with angled=true" : ""),
                because: Because(
                    "the \(component.rawValue) component of \(session.id) has "
                        + (files.isEmpty ? "no files" : files.map(\.name).joined(separator: ", ")), session.id,
                    [.workflowSessionStarted]))
        }
        return (file.sha256, file.mediaType)
    }
}
