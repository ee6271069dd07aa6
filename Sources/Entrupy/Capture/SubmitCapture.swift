import EntrupyAPI
import EntrupyStorage
import Simulation

/// `POST /sdk/captures/{id}/submit`: submits an item to the platform [S].
package struct SubmitCapture: Operation {
    package static let access = Access.writes
    let id: String

    package init(_ id: String) {
        self.id = id
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> EntrupyCaptureResult {
        let capture = try Captures.find(id, of: user, job)
        try Captures.checkIsStarted(capture)
        let uploaded = Set(try job.transaction.captureImages(captureID: id).map(\.regionID))
        let missing = try Captures.steps(capture, job).filter { $0.required && !uploaded.contains($0.regionID) }
        guard missing.isEmpty else { throw PlatformError.missingRegions(missing.map(\.regionID)) }

        if let retakeID = capture.retakeID { return try answer(retakeID, capture, job) }
        let metadata = ItemMetadata(members: try StoredJSON.decode(capture.item).members ?? [:])
        let activity = try capture.service
        let brand = metadata.brand(job.catalogue)
        let decided = try ItemOutcome.first(
            for: ItemOutcome.Subject(
                brandID: brand.id, brandName: brand.name, customerItemID: metadata.text(.customerItemID),
                username: user.username, category: capture.category, configType: capture.type,
                activity: activity), job)
        let decision = try Decision.make(
            configType: capture.type, customerItemID: metadata.text(.customerItemID),
            // A fingerprint needs no brand.
            brandIsKnown: brand.isKnown || activity != .authentication && metadata.text(.brand) == nil,
            typeIsKnown: metadata.flow(job.catalogue).isSupported, outcome: decided?.outcome, activity: activity,
            hasParent: capture.fingerprintParent != nil, settings: job.entrupy.settings)
        let entrupyID = try Items.nextID(job)
        var item = ItemRecord(
            entrupyID: entrupyID, captureID: id, organizationID: user.organization.id, userID: user.id,
            type: try capture.type, category: capture.category, brandID: brand.id, brandName: brand.name,
            customerItemID: metadata.text(.customerItemID), metadata: capture.item,
            captureStartedAt: capture.startedAt, submittedAt: job.now, result: .needsReview,
            decidedBy: decision.rule, activity: activity)
        item.fingerprintParent = capture.fingerprintParent
        item.plannedResult = decision.result
        item.plannedReason = decision.reason

        try job.transaction.insert(item)
        try job.transaction.endCapture(
            id: id, .submitted, submittedAt: job.now, entrupyID: entrupyID)
        try job.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try job.transaction.countSubmission(userID: user.id)
        try job.record(.captureSubmitted, id, ["entrupy_id": .string(entrupyID)])
        try job.record(.itemSubmitted, entrupyID, ["capture_id": .string(id), "username": .string(user.username)])
        if let rule = decided?.rule { try Outcomes.count(rule, for: entrupyID, job) }
        // The webhook says when the result is expected, and comes before that of a result at once.
        if decision.isLater { try Results.plan(&item, decision, job) }
        try Webhooks.enqueue(.sessionUpdated, item, job)
        if !decision.isLater { try Results.plan(&item, decision, job) }
        return try ResultRendering(job).render(item)
    }

    /// Submits the images of a retake. It belongs to an existing item, and no submission is counted [D retakes].
    private func answer(_ retakeID: String, _ capture: CaptureRecord, _ job: JobContext) throws -> EntrupyCaptureResult
    {
        guard let retake = try job.transaction.retake(id: retakeID) else {
            throw PlatformError.bug("capture \(capture.id) of an unknown retake")
        }
        try job.transaction.endCapture(
            id: id, .submitted, submittedAt: job.now, entrupyID: retake.entrupyID)
        try job.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try job.record(.captureSubmitted, id, ["entrupy_id": .string(retake.entrupyID)])
        return try ResultRendering(job).render(Retakes.answer(retakeID, with: capture, job))
    }
}
