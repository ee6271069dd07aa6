import EntrupyAPI
import Storage

/// `POST /sdk/captures/{id}/submit`: hands an item to the platform [S].
package struct SubmitCapture: UserOperation {
    package static let access = Access.writes
    let id: String

    package init(_ id: String) {
        self.id = id
    }

    package func perform(_ visit: Visit, for user: SignedInUser) throws -> EntrupyCaptureResult {
        let capture = try Captures.find(id, of: user, visit)
        try Captures.mustBeStarted(capture)
        let uploaded = Set(try visit.transaction.captureImages(captureID: id).map(\.regionID))
        let missing = try Captures.steps(capture, visit).filter { $0.required && !uploaded.contains($0.regionID) }
        guard missing.isEmpty else { throw PlatformError.missingRegions(missing.map(\.regionID)) }

        if let retakeID = capture.retakeID { return try answer(retakeID, capture, visit) }
        let metadata = ItemMetadata(members: try StoredJSON.decode(capture.item).members ?? [:])
        let brand = metadata.brand(visit.catalogue)
        let outcome = try Outcomes.match(
            OutcomeRule.Subject(
                brandID: brand.id, brandName: brand.name, customerItemID: metadata.text(.customerItemID),
                username: user.username, category: capture.category, configType: capture.configType), visit)
        let decision = try Decision.make(
            configType: capture.configType, customerItemID: metadata.text(.customerItemID), brandIsKnown: brand.isKnown,
            outcome: outcome, settings: visit.settings)
        let entrupyID = try visit.draw(.item)
        var item = ItemRecord(
            entrupyID: entrupyID, captureID: id, organizationID: user.organization.id, userID: user.id,
            configType: capture.configType, category: capture.category, brandID: brand.id, brandName: brand.name,
            customerItemID: metadata.text(.customerItemID), metadata: capture.item,
            captureStartedAt: capture.startedAt, submittedAt: visit.now, resultID: ResultID.needsReview,
            decidedBy: decision.rule.rawValue)
        item.plannedResultID = decision.resultID
        item.plannedReason = decision.reason

        try visit.transaction.insertItem(item)
        try visit.transaction.endCapture(
            id: id, status: Capture.Status.submitted.rawValue, submittedAt: visit.now, entrupyID: entrupyID)
        try visit.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try visit.transaction.countSubmission(userID: user.id)
        try visit.record(.captureSubmitted, id, ["entrupy_id": .string(entrupyID)])
        try visit.record(.itemSubmitted, entrupyID, ["capture_id": .string(id), "username": .string(user.username)])
        if let outcome { try Outcomes.count(outcome, for: entrupyID, visit) }
        try Webhooks.fire(.sessionUpdated, item, visit)
        try Results.plan(&item, decision, visit)
        return try ResultRendering(visit).render(item)
    }

    /// Hands in the pictures of a retake: the item is the one there is, and no submission is counted [D].
    private func answer(_ retakeID: String, _ capture: CaptureRecord, _ visit: Visit) throws -> EntrupyCaptureResult {
        guard let retake = try visit.transaction.retake(id: retakeID) else {
            throw PlatformError.bug("capture \(capture.id) of an unknown retake")
        }
        try visit.transaction.endCapture(
            id: id, status: Capture.Status.submitted.rawValue, submittedAt: visit.now, entrupyID: retake.entrupyID)
        try visit.unschedule(.captureTimeout, id, at: capture.expiresAt)
        try visit.record(.captureSubmitted, id, ["entrupy_id": .string(retake.entrupyID)])
        return try ResultRendering(visit).render(Retakes.answer(retakeID, with: capture, visit))
    }
}
