import EntrupyAPI
import EntrupyStorage
import NIOCore
import Simulation
import SimulationAPI

/// Rules that all operations on captures share.
enum Captures {
    /// A capture of a user, started in any session [D capture-owner]. Another user's capture is reported as missing.
    static func find(_ id: String, of user: SDKUser, _ job: JobContext) throws -> CaptureRecord {
        let found = try job.transaction.capture(id: id)
        guard let capture = found, capture.userID == user.id else {
            throw PlatformError.notFound(
                "the user has no capture with this id; GET /sdk/captures lists them",
                because: try Ownership.because(.capture, id, of: found?.userID, asked: user, job))
        }
        return capture
    }

    /// Throws if the capture is not in the state `started`.
    static func checkIsStarted(_ capture: CaptureRecord, _ job: JobContext) throws {
        switch capture.status {
        case .started: return
        case .timedOut:
            job.note(timeout(of: capture))
            let moment = capture.expiresAt.display
            throw PlatformError(
                .captureTimedOut, "the capture timed out at \(moment); start another one",
                [ErrorDetail("capture_id", "\(capture.id) timed out at \(moment)")])
        case .submitted:
            throw PlatformError.wrongState(
                "the capture was submitted before", entrupyID: capture.entrupyID,
                because: ended(capture, "submitted", .captureSubmitted))
        case .cancelled:
            throw PlatformError.wrongState(
                "the capture was cancelled", because: ended(capture, "cancelled", .captureCancelled))
        case .other(let state):
            throw PlatformError.wrongState("the capture is \(state)", because: ended(capture, state, .captureSubmitted))
        }
    }

    /// Why a capture that timed out takes no more requests.
    private static func timeout(of capture: CaptureRecord) -> DecidingFact {
        let timeout = DurationText.text(microseconds: capture.expiresAt.microseconds - capture.startedAt.microseconds)
        return DecidingFact(
            .setting, "capture_timeout",
            "timed out at \(capture.expiresAt.display): started at \(capture.startedAt.display), capture_timeout is \(timeout)",
            otherwise: "a request before \(capture.expiresAt.display), or a longer capture_timeout", about: capture.id)
    }

    /// How a capture ended, for the journal.
    private static func ended(_ capture: CaptureRecord, _ how: String, _ kind: EventKind) -> Because {
        let at = (capture.submittedAt ?? capture.endedAt).map { " at \($0.display)" } ?? ""
        let item = capture.entrupyID.map { " as \($0)" } ?? ""
        return Because("the capture \(capture.id) was \(how)\(at)\(item)", capture.id, [kind])
    }

    /// Times a capture out at the end of its two hours. It ends at exactly that time, even if the job runs later [S].
    /// Writes.
    static func timeOut(captureID: String, _ job: JobContext) throws {
        guard let capture = try job.transaction.capture(id: captureID), capture.status == .started else { return }
        try job.transaction.endCapture(id: captureID, .timedOut, endedAt: job.now)
        try releaseImages(of: captureID, job)
        try job.record(.captureTimedOut, captureID)
    }

    /// Releases the images of a capture that ended without a submission. Which regions had an image is kept
    /// [D images-given-up]. Writes.
    static func releaseImages(of captureID: String, _ job: JobContext) throws {
        job.state.releaseImages(try job.transaction.releaseCaptureImages(captureID: captureID))
    }

    /// The images a capture's workflow asks for. A retake asks for those of its regions.
    static func steps(_ capture: CaptureRecord, _ job: JobContext) throws -> [Catalogue.Step] {
        guard let category = job.catalogue.category(capture.category) else {
            throw PlatformError.bug("capture \(capture.id) of an unknown category")
        }
        guard let retakeID = capture.retakeID else { return category.steps(capture.configType) }
        guard let retake = try job.transaction.retake(id: retakeID) else {
            throw PlatformError.bug("capture \(capture.id) of an unknown retake")
        }
        return Retakes.steps(retake, of: category, capture.configType)
    }

    /// A capture as the SDK sees it.
    static func render(_ capture: CaptureRecord, _ job: JobContext) throws -> Capture {
        let uploaded = Set(try job.transaction.captureImages(captureID: capture.id).map(\.regionID))
        return Capture(
            capture_id: capture.id, status: capture.status, config_type: capture.configType,
            item: try StoredJSON.members(capture.item),
            steps: try steps(capture, job).map {
                CaptureStep($0.configured(job.language), uploaded: uploaded.contains($0.regionID))
            },
            started_at: capture.startedAt.epoch, expires_at: capture.expiresAt.epoch,
            submitted_at: capture.submittedAt?.epoch, entrupy_id: capture.entrupyID)
    }

    /// Throws if the user has as many open captures as the settings allow [P, D open-captures]. Another may start when one of them ends.
    static func checkOpen(_ user: SDKUser, _ job: JobContext) throws {
        guard let limit = user.limits.openCaptures,
            let first = try job.transaction.expiry(ofStarted: limit, userID: user.id)
        else { return }
        throw try job.overRateLimit(
            [
                Exceeded(
                    "open_captures", limit, "open capture", "of a user (submit or cancel one)",
                    max(.second, first - job.now))
            ],
            of: job.transaction.user(id: user.id))
    }
}

/// `POST /sdk/captures`: starts the capture of an item. An absent `config_type` means production
/// [D default-workflow].
package struct StartCapture: Operation, Writes {
    private let configType: ConfigType
    private let workflow: FingerprintWorkflow
    /// The item as it is stored. It is encoded here, before the job runs.
    private let item: String

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ request: StartCaptureRequest) throws {
        configType = request.config_type ?? .production
        workflow = try FingerprintWorkflow(request)
        item = try StoredJSON.encode(JSONValue.object(workflow.item))
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        let type = fields.word("config_type", ConfigType.self)
        fields.require("item")
        let item = fields.members("item") ?? [:]
        for key in item.keys.sorted() where item[key]?.text?.utf8.contains(0) == true {
            fields.report("item.\(key)", "must not contain the character U+0000")
        }
        let activity = fields.word("activity", Activity.self)
        let parent = fields.given("fingerprint_parent")
        try fields.finish()
        try self.init(
            StartCaptureRequest(config_type: type, item: item, activity: activity, fingerprint_parent: parent))
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> StartedCapture {
        let metadata = ItemMetadata(members: workflow.item)
        let problems = metadata.problems(
            job.catalogue, workflow.activity, hasWorkflow: workflow.isNamed,
            needsCustomerItemID: job.entrupy.settings.requiresCustomerItemID)
        try problems.check()
        let registered = try workflow.registeredItem(of: user, job)
        try Captures.checkOpen(user, job)
        // The start is refused once the user has submitted `quota` items [D quota].
        if let quota = job.entrupy.settings.quota,
            let submissions = try job.transaction.user(id: user.id)?.submissions, submissions >= quota
        {
            job.note(
                DecidingFact(.setting, "quota", "the setting quota is \(quota)", otherwise: "a higher quota, or none"))
            throw PlatformError.forbidden(
                "the user's quota of \(quota) submissions is used up",
                [ErrorDetail("quota", "\(submissions) of \(quota) submissions made")],
                because:
                    "\(user.username) has submitted \(Counted.text(Int(submissions), "item")); the setting quota is \(quota)"
            )
        }
        if let conflict = registered.conflict { throw conflict }
        let id = try job.nextID(.capture)
        let expiresAt = job.now + job.entrupy.settings.captureTimeout
        let capture = CaptureRecord(
            id: id, userID: user.id, configType: configType, category: metadata.flow(job.catalogue).category,
            item: item, startedAt: job.now, expiresAt: expiresAt, activity: workflow.activity,
            fingerprintParent: registered.id)
        try job.transaction.insert(capture)
        try job.schedule(.captureTimeout, id, at: expiresAt)
        try job.record(.captureStarted, id, encoded: user.eventData)
        let steps = try job.entrupy.encoded(.steps(category: capture.category, configType, job.language)) {
            try Captures.steps(capture, job).map { CaptureStep($0.configured(job.language), uploaded: false) }
        }
        return StartedCapture(capture: capture, item: item, steps: steps)
    }
}

/// A capture that was just started. The long parts of its answer are already encoded.
package struct StartedCapture: Sendable {
    fileprivate let capture: CaptureRecord
    /// The item and the steps, as JSON.
    fileprivate let item: String
    fileprivate let steps: ByteBuffer

    /// The id of the capture.
    package var captureID: String { capture.id }

    /// The answer, ``EntrupyAPI/Capture``. End-to-end tests check that it equals what `GET /sdk/captures/{id}` shows.
    package func encoded() -> EncodedJSON {
        var text = JSONText()
        text.raw(#"{"capture_id":"#)
        text.string(capture.id)
        text.raw(#","config_type":"#)
        text.string(capture.configType.rawValue)
        text.raw(#","entrupy_id":null,"expires_at":"#)
        text.number(capture.expiresAt.epoch)
        text.raw(#","item":"#)
        text.raw(item.utf8)
        text.raw(#","started_at":"#)
        text.number(capture.startedAt.epoch)
        text.raw(#","status":"#)
        text.string(capture.status.rawValue)
        text.raw(#","steps":"#)
        text.raw(steps.readableBytesView)
        text.raw(#","submitted_at":null}"#)
        return EncodedJSON(bytes: ByteBuffer(bytes: text.bytes))
    }
}

/// `GET /sdk/captures/{id}`.
package enum ShowCapture: RuleByID, Reads {
    package static func perform(_ id: String, _ job: JobContext, as user: SDKUser) throws -> Capture {
        try Captures.render(Captures.find(id, of: user, job), job)
    }
}

/// `POST /sdk/captures/{id}/cancel`.
package enum CancelCapture: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as user: SDKUser) throws -> Capture {
        var capture = try Captures.find(id, of: user, job)
        try Captures.checkIsStarted(capture, job)
        capture.status = .cancelled
        try job.transaction.endCapture(id: id, .cancelled, endedAt: job.now)
        try Captures.releaseImages(of: id, job)
        try job.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try job.record(.captureCancelled, id)
        return try Captures.render(capture, job)
    }
}

/// `GET /sdk/captures`: the user's captures, newest first.
package struct ListCaptures: Operation, Reads {
    let status: Capture.Status?
    let limit: Int
    let cursor: String?

    /// The allowed sizes of a page ([S] for searches, [D capture-pages] here); ``defaultLimit`` applies if the caller
    /// gives none.
    static let limits = 1...25
    static let defaultLimit = 20

    package func perform(_ job: JobContext, as user: SDKUser) throws -> CapturePage {
        let query = ["captures", String(user.id), status?.rawValue ?? ""]
        let page = try Cursor.page(cursor, of: query, limit: limit, job, position: \.position) {
            try job.transaction.captures(userID: user.id, status: status, before: $0, limit: $1)
        }
        return CapturePage(items: try page.records.map { try Captures.render($0, job) }, next_cursor: page.next)
    }
}

extension ListCaptures {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        let status = query.word("status", Capture.Status.self)
        let (limit, cursor) = query.page(of: Self.limits, default: Self.defaultLimit)
        try query.finish()
        self.init(status: status, limit: limit, cursor: cursor)
    }
}
