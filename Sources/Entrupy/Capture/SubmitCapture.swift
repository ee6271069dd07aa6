import EntrupyAPI
import EntrupyStorage
import Simulation

/// `POST /sdk/captures/{id}/submit`: submits an item to the platform [S].
package enum SubmitCapture: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as user: SDKUser) throws -> EntrupyCaptureResult {
        let capture = try Captures.find(id, of: user, job)
        try Captures.checkIsStarted(capture, job)
        let uploaded = Set(try job.transaction.captureImages(captureID: id).map(\.regionID))
        let missing = try Captures.steps(capture, job).filter { $0.required && !uploaded.contains($0.regionID) }
        guard missing.isEmpty else { throw PlatformError.missingRegions(missing.map(\.regionID)) }

        if let retakeID = capture.retakeID { return try answer(retakeID, capture, job) }
        let metadata = try ItemMetadata(stored: capture.item)
        let brand = metadata.brand(job.catalogue)
        let facts = Decision.Facts(
            subject: ItemOutcome.Subject(
                brandID: brand.id, brandName: brand.name, customerItemID: metadata.text(.customerItemID),
                username: user.username, category: capture.category, configType: capture.configType,
                activity: capture.activity),
            // A fingerprint needs no brand.
            brandIsKnown: brand.isKnown || capture.activity != .authentication && metadata.text(.brand) == nil,
            typeIsKnown: metadata.flow(job.catalogue).isSupported, hasParent: capture.fingerprintParent != nil)
        let decided = try ItemOutcome.first(for: facts.subject, job)
        let decision = Decision.make(facts, outcome: decided, job.entrupy.settings)
        let entrupyID = try Items.nextID(job)
        var item = ItemRecord(
            entrupyID: entrupyID, captureID: id, organizationID: user.organization.id, userID: user.id,
            configType: capture.configType, category: capture.category, brandID: brand.id, brandName: brand.name,
            customerItemID: metadata.text(.customerItemID), metadata: capture.item,
            captureStartedAt: capture.startedAt, submittedAt: job.now,
            result: decision.result == .received ? .received : job.entrupy.settings.initialResult,
            decidedBy: decision.rule, activity: capture.activity)
        item.fingerprintParent = capture.fingerprintParent
        item.plannedResult = decision.result
        item.plannedReason = decision.reason

        try job.transaction.insert(item)
        try job.transaction.countSubmissions(userID: user.id)
        try end(capture, as: entrupyID, job)
        let fact = try decision.fact(facts, job)
        job.note(fact)
        try job.record(
            .itemSubmitted, entrupyID,
            [
                "capture_id": .string(id), "username": .string(user.username), "decision": .object(fact.members),
                "initial": .string(item.result.rawValue),
            ])
        if let rule = decided?.rule { try Outcomes.count(rule, for: entrupyID, job) }
        // The webhook says when the result is expected, and comes before that of a result at once.
        if decision.delay != .zero { try Results.plan(&item, decision, job) }
        try Webhooks.enqueue(.sessionUpdated, item, job)
        if decision.delay == .zero { try Results.plan(&item, decision, job) }
        return try ResultRendering(job).shown(item)
    }

    /// Ends the capture. Writes.
    private static func end(_ capture: CaptureRecord, as entrupyID: String, _ job: JobContext) throws {
        let id = capture.id
        try job.transaction.endCapture(id: id, .submitted, submittedAt: job.now, entrupyID: entrupyID)
        try job.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try job.record(.captureSubmitted, id, ["entrupy_id": .string(entrupyID)])
    }

    /// Submits the images of a retake. It belongs to an existing item, and no submission is counted [D retakes].
    private static func answer(
        _ retakeID: String, _ capture: CaptureRecord, _ job: JobContext
    ) throws -> EntrupyCaptureResult {
        guard let retake = try job.transaction.retake(id: retakeID) else {
            throw PlatformError.bug("capture \(capture.id) of an unknown retake")
        }
        try end(capture, as: retake.entrupyID, job)
        return try ResultRendering(job).shown(Retakes.answer(retakeID, with: capture, job))
    }
}
