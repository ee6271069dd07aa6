import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

enum Results {
    /// Sets a new item's result now if the delay is zero, or schedules it [P]. Writes.
    ///
    /// An item whose planned result is that with which it begins stays under review. One that begins as `received` may become
    /// `needs_review` [P]. Other results that are not final come as final ones do.
    static func plan(_ item: inout ItemRecord, _ decision: Decision, _ job: JobContext) throws {
        guard decision.result != item.result else { return }
        if decision.delay == .zero {
            try set(&item, decision.result, reason: decision.reason, rule: decision.rule, job)
        } else {
            try job.schedule(.result, item.entrupyID, at: job.now + decision.delay)
        }
    }

    /// Sets a planned result that is now due. Writes.
    static func setPlannedResult(entrupyID: String, _ job: JobContext) throws {
        guard var item = try job.transaction.item(entrupyID: entrupyID), let result = item.plannedResult else { return }
        try set(&item, result, reason: item.plannedReason, rule: item.decidedBy, job)
    }

    /// Sets an item's result, which is final unless it is `needs_review`. An authentic item gets a certificate.
    /// Writes.
    static func set(
        _ item: inout ItemRecord, _ result: ResultID, reason: String?, rule: DecisionRule, _ job: JobContext
    ) throws {
        let wasFinal = item.resultFinal
        let before = (item.result, item.resultReason)
        let isFirstFinal = item.initialResult == nil && result.isFinal
        try job.transaction.deleteDueResult(entrupyID: item.entrupyID)
        item.plannedResult = nil
        item.plannedReason = nil
        item.result = result
        item.resultFinal = result.isFinal
        item.resultReason = result == .invalid ? reason ?? defaultReason(job) : nil
        // An item that goes back under review keeps the time of its last final result.
        if item.resultFinal { item.resultAt = job.now }
        item.decidedBy = rule
        if item.resultFinal, item.initialResult == nil {
            item.initialResult = result
            item.initialResultAt = job.now
        }
        // Fingerprints have no certificate.
        if result == .authentic, item.certificateID == nil, item.activity == .authentication {
            // The certificate's id is the item's [P]. Older items keep theirs.
            item.certificateID = item.entrupyID
        }
        try Items.save(&item, job)
        let kind: EventKind =
            wasFinal ? .resultChanged : item.resultFinal || before.0 != result ? .resultSet : .resultUnplanned
        try job.record(
            kind, item.entrupyID, ["result": .string(result.rawValue), "rule": .string(rule.rawValue)],
            isOfClient: item.captureID != nil)
        // A flag's resolution sends its own webhook for both changes. Removing a planned result changes nothing
        // visible.
        if rule != .flagResolution, before != (item.result, item.resultReason) {
            try Webhooks.enqueue(isFirstFinal ? .sessionCompleted : .sessionUpdated, item, job)
        }
    }

    /// The reason of an invalid result without a given one: the seed's first, except for the debug configuration's
    /// [D invalid-reason].
    static func defaultReason(_ job: JobContext) -> String? {
        job.catalogue.texts.invalidReasons.map(\.id).first { $0 != ResultID.debugReason }
    }

    /// The events of an item, oldest first.
    ///
    /// Items generated in bulk share one entry in the event log. Their submission and first result are made from the
    /// item itself.
    static func timeline(_ item: ItemRecord, _ job: JobContext) throws -> [EventRecord] {
        let events = try job.transaction.events(entrupyID: item.entrupyID)
        guard item.captureID == nil, events.first?.kind != EventKind.itemSubmitted.name else { return events }
        var made = [(EventKind.itemSubmitted, GenerateItems.submission)]
        // The first result was set when the item was generated, unless the log says that it was set later.
        let results = [EventKind.resultSet.name, EventKind.resultChanged.name]
        if let first = item.initialResult,
            events.first(where: { results.contains($0.kind) })?.kind != EventKind.resultSet.name
        {
            made.append((.resultSet, GenerateItems.result(first)))
        }
        return try made.map { kind, data in
            EventRecord(
                sequence: 0, at: item.submittedAt, kind: kind.name, subject: item.entrupyID,
                data: try StoredJSON.encode(JSONValue.object(data)))
        } + events
    }

    /// The state of an item's result, for the journal.
    static func state(_ item: ItemRecord, _ job: JobContext) throws -> Because {
        let state = "the result of \(item.entrupyID) is \(item.result.rawValue), "
        let rest = item.resultFinal ? "final" : "not final: \(try review(item.entrupyID, job))"
        return Because(state + rest, item.entrupyID, changes + [.retakeRequested])
    }

    /// The kinds of events that set or keep an item's result.
    static let changes: [EventKind] = [.itemSubmitted, .resultSet, .resultChanged, .resultUnplanned]

    /// When an item gets its result, for the journal.
    private static func review(_ entrupyID: String, _ job: JobContext) throws -> String {
        if let due = try job.transaction.resultDueTime(entrupyID: entrupyID) {
            let seconds = Span(microseconds: due.microseconds - job.now.microseconds).roundedUpSeconds
            let time = seconds < 60 ? "\(seconds) s" : DurationText.text(microseconds: Int64(seconds) * 1_000_000)
            return "under review, due in \(time)"
        }
        return try Retakes.open(entrupyID, job) == nil
            ? "under review, and no result is due" : "under review: support asked for new images of it"
    }

    /// Notes for the journal that an item is read before it has a final result, the first mistake of a new client, and that its
    /// result is that of a brand or an item type which the catalogue lacks.
    static func noteReview(_ item: FoundItem, _ job: JobContext) throws {
        guard !item.isFinal else {
            guard item.isUnknownToCatalogue, let record = try job.transaction.item(entrupyID: item.entrupyID) else {
                return
            }
            let reason =
                record.decidedBy == .unknownBrand
                ? unknownBrand(record.brandName, job) : unknownItemType(try ItemMetadata(stored: record.metadata), job)
            return job.note { $0.because = "item \(record.entrupyID) is \(record.result.rawValue): \(reason)" }
        }
        let review = try review(item.entrupyID, job)
        job.note { $0.because = "item \(item.entrupyID) \(review)" }
    }

    /// The fact that the catalogue lacks a brand, with the nearest that it has.
    static func unknownBrand(_ name: String, _ job: JobContext) -> String {
        let names = job.catalogue.brands.map(\.name)
        let near = NearestName.nearest(to: name, among: names).map { "; is \($0) meant?" } ?? ""
        return "the catalogue lacks the brand \"\(name.excerpt)\"\(near)"
    }

    /// The fact that the catalogue lacks an item's type, with the nearest that it has, or that the item's brand has no such type.
    static func unknownItemType(_ metadata: ItemMetadata, _ job: JobContext) -> String {
        let (name, brand) = (metadata.text(.itemType) ?? "", metadata.brand(job.catalogue).name)
        if let type = metadata.itemType(job.catalogue) {
            return "the brand \(brand.excerpt) has no items of the type \(type.id) in the catalogue"
        }
        let types = job.catalogue.itemTypes.listed.map(\.id)
        let near = NearestName.nearest(to: name, among: types).map { "; is \($0) meant?" } ?? ""
        return "the catalogue lacks the item type \"\(name.excerpt)\"\(near)"
    }

    /// Any item of the namespace, for the control API.
    static func find(_ entrupyID: String, _ job: JobContext) throws -> ItemRecord {
        guard let item = try job.transaction.item(entrupyID: entrupyID) else {
            throw PlatformError.notFound(
                "there is no item \"\(entrupyID.excerpt)\" in this namespace",
                because: try Ownership.Thing.item.missing(entrupyID, job))
        }
        return item
    }
}

extension SDKUser: ItemOwner {
    package var author: String { username }

    package func item(_ entrupyID: String, _ job: JobContext) throws -> ItemRecord {
        let found = try job.transaction.item(entrupyID: entrupyID)
        guard let item = found, item.userID == id else { throw try missing(entrupyID, found?.userID, job) }
        return item
    }

    /// - Parameter ownerID: the user it belongs to; `nil` if there is no such item.
    fileprivate func missing(_ entrupyID: String, _ ownerID: Int64?, _ job: JobContext) throws -> PlatformError {
        .notFound(
            "the user has no item with this id",
            because: try Ownership.because(.item, entrupyID, of: ownerID, asked: self, job))
    }
}

/// `GET /sdk/results/{entrupy_id}`. No ``ByID``, which the compiler does not specialize here: clients ask for this most.
package struct ShowResult: Operation, Reads {
    let entrupyID: String

    package init(_ entrupyID: String) {
        self.entrupyID = entrupyID
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> EncodedJSON {
        let found = try job.transaction.foundItem(entrupyID: entrupyID, key: job.renderingKey)
        guard let item = found, item.userID == user.id else { throw try user.missing(entrupyID, found?.userID, job) }
        try Results.noteReview(item, job)
        return EncodedJSON(bytes: try Renderings(job).sdk(item))
    }
}
