import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// Flags, by which users report that a result may be wrong [S].
enum Flags {
    /// The results that the settings may list as flaggable.
    static let eligibleNames = Activity.authentication.results.filter(\.mayBeFlaggable).map(\.rawValue)

    /// Whether an item's result may be flagged: it is final, and listed in the settings or the seed
    /// [D flag-eligible]. Fingerprints are not flaggable [D fingerprints].
    static func isEligible(_ item: ItemRecord, _ job: JobContext) -> Bool {
        item.resultFinal && item.activity == .authentication
            && job.entrupy.settings.flagEligible.contains(item.result)
    }

    /// Throws if the item's result may not be flagged [S].
    static func checkIsEligible(_ item: ItemRecord, _ job: JobContext) throws {
        guard !isEligible(item, job) else { return try FlagWindow.check(item, job) }
        let eligible = job.entrupy.settings.flagEligible.map(\.rawValue).joined(separator: " or ")
        let got = "\(item.result.rawValue)\(item.resultFinal ? "" : ", not final")"
        let problem =
            item.activity == .authentication
            ? "needs a final result of \(eligible), got \(got)"
            : "is for authentications, and this item is a fingerprint"
        throw PlatformError.invalid(
            "the item is not eligible for flagging; check is_flaggable first", [ErrorDetail("flag", problem)])
    }

    /// Whether users of the organization may flag through the SDK [S].
    static func isSwitchedOn(_ organization: OrganizationRecord, _ job: JobContext) -> Bool {
        organization.sdkFlagging && job.entrupy.settings.sdkFlagging
    }

    /// The fact that flagging is switched off, and the change that did it, for the journal.
    fileprivate static func offReason(_ organization: OrganizationRecord, _ job: JobContext) -> Because {
        guard organization.sdkFlagging else {
            return Because(
                "the seed data has flagging.sdk: false for \(organization.name)", "seed", [.seedLoaded],
                named: organization.name)
        }
        let text = "the setting flagging.sdk is false"
        job.note(DecidingFact(.setting, "flagging.sdk", text, otherwise: "the setting flagging.sdk: true"))
        return Because(text)
    }

    /// Whether the SDK shows the item as flaggable, as renderings have it: without the time, on which ``FlagWindow`` decides
    /// when an answer is asked for. This depends only on the result and the switch, so it stays true while the item is flagged.
    static func isFlaggable(_ item: ItemRecord, _ organization: OrganizationRecord, _ job: JobContext) -> Bool {
        isSwitchedOn(organization, job) && isEligible(item, job)
    }

    static func status(_ item: ItemRecord, _ organization: OrganizationRecord, _ job: JobContext) -> FlagStatus {
        FlagStatus(
            id: item.flag, is_flaggable: isFlaggable(item, organization, job) && !FlagWindow.isOver(item, job),
            flag_info: info(item, job))
    }

    private static func info(_ item: ItemRecord, _ job: JobContext) -> FlagInfo? {
        guard item.flag != .unflagged, let reason = item.flagReasonID, let flaggedAt = item.flaggedAt
        else { return nil }
        let known = job.catalogue.texts.flagReasons.first { $0.id.isIdentical(to: reason) }
        return FlagInfo(
            id: reason, label: known?.label[job.language] ?? reason, message: item.flagMessage,
            flagged_at: flaggedAt.epoch, resolved_at: item.flagResolvedAt?.epoch, note: item.flagNote)
    }

    static func details(_ item: ItemRecord, _ user: SDKUser, _ job: JobContext) -> FlagDetails {
        FlagDetails(
            flag_status: status(item, user.organization, job),
            supported_flag_reasons: job.catalogue.texts.flagReasons.map {
                FlagReason(id: $0.id, label: $0.label[job.language])
            })
    }

    /// The state of an item's flag, for the journal.
    private static func state(_ item: ItemRecord) -> Because {
        let since = item.flag == .unflagged ? nil : item.flagResolvedAt ?? item.flaggedAt
        return Because(
            "the flag of \(item.entrupyID) is \(item.flag.rawValue)\(since.map { " since \($0.display)" } ?? "")",
            item.entrupyID, [.itemSubmitted, .flagSet, .flagCleared, .flagResolved])
    }

    /// Sets a flag. Throws if it is already set [D flag-states]. Writes.
    static func set(_ item: inout ItemRecord, reasonID: String, message: String?, _ job: JobContext) throws {
        guard item.flag == .unflagged || item.flag == .resolved else {
            throw PlatformError.wrongState(
                "the item is \(item.flag.rawValue) already",
                [ErrorDetail("flag", "is \(item.flag.rawValue); clear it first")], because: state(item))
        }
        let former = item.flag
        item.flag = .flagged
        item.flagReasonID = reasonID
        item.flagMessage = message
        item.flaggedAt = job.now
        item.flagResolvedAt = nil
        item.flagNote = nil
        try Items.save(&item, job)
        var data: JSONObject = ["flag_reason_id": .string(reasonID)]
        data["message"] = message.map { .string($0) }
        if former != .unflagged { data["from"] = .string(former.rawValue) }
        try job.record(.flagSet, item.entrupyID, data)
        try Webhooks.enqueue(.sessionUpdated, item, job)
    }

    /// Clears a flag with its reason, message and time [D flag-cleared]. Throws if it is not set [D flag-states].
    /// Writes.
    static func clear(_ item: inout ItemRecord, _ job: JobContext) throws {
        guard item.flag == .flagged else {
            throw PlatformError.wrongState(
                "the item is not flagged", [ErrorDetail("flag", "is \(item.flag.rawValue); there is nothing to clear")],
                because: state(item))
        }
        reset(&item)
        try Items.save(&item, job)
        try job.record(.flagCleared, item.entrupyID)
        try Webhooks.enqueue(.sessionUpdated, item, job)
    }

    /// Sets an item's flag to any state, for the control API only. Writes.
    static func force(_ item: inout ItemRecord, _ flag: FlagID, _ job: JobContext) throws {
        let kind: EventKind
        switch flag {
        case .unflagged:
            reset(&item)
            kind = .flagCleared
        case .resolved:
            item.flagResolvedAt = job.now
            kind = .flagResolved
        case .flagged, .other:
            item.flagResolvedAt = nil
            item.flagNote = nil
            kind = .flagSet
        }
        item.flag = flag
        if flag != .unflagged {
            item.flagReasonID = item.flagReasonID ?? job.catalogue.texts.flagReasons[0].id
            item.flaggedAt = item.flaggedAt ?? job.now
        }
        try Items.save(&item, job)
        try job.record(kind, item.entrupyID, ["flag": .string(flag.rawValue), "by": .string("control")])
        try Webhooks.enqueue(.sessionUpdated, item, job)
    }

    private static func reset(_ item: inout ItemRecord) {
        item.flag = .unflagged
        item.flagReasonID = nil
        item.flagMessage = nil
        item.flaggedAt = nil
        item.flagResolvedAt = nil
        item.flagNote = nil
    }

    /// The longest message of a flag and the longest note of a resolution, in Unicode scalars [D flag-reasons].
    static let maxText = 2000
}

/// `GET /sdk/results/{entrupy_id}/flag`.
package enum ShowFlag: RuleByID, Reads {
    package static func perform(_ entrupyID: String, _ job: JobContext, as user: SDKUser) throws -> FlagDetails {
        Flags.details(try user.item(entrupyID, job), user, job)
    }
}

/// `PUT /sdk/results/{entrupy_id}/flag`. If flagging is switched off, neither setting nor clearing is allowed
/// [D flagging-off].
package struct SetFlag: Operation, Writes {
    let entrupyID: String
    let request: SetFlagRequest

    package func perform(_ job: JobContext, as user: SDKUser) throws -> FlagDetails {
        let reasons = job.catalogue.texts.flagReasons.map(\.id)
        let reason = request.flag_reason_id ?? reasons[0]
        var problems: [ErrorDetail] = []
        if !reason.isOne(of: reasons) {
            problems.add("flag_reason_id", "must be one of \(reasons.joined(separator: ", "))")
        }
        problems.add("message", request.message.flatMap { TextRules.tooLong($0, scalars: Flags.maxText) })
        try problems.check()

        var item = try user.item(entrupyID, job)
        guard Flags.isSwitchedOn(user.organization, job) else {
            throw PlatformError.forbidden(
                "flagging through the SDK is switched off for \(user.organization.name): the setting flagging.sdk and the organization's seed data turn it on",
                because: Flags.offReason(user.organization, job))
        }
        try Flags.checkIsEligible(item, job)
        if request.flag {
            try Flags.set(&item, reasonID: reason, message: request.message, job)
        } else {
            try Flags.clear(&item, job)
        }
        return Flags.details(item, user, job)
    }
}

extension SetFlag {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        let flag = fields.bool("flag")
        // Clearing ignores reason and message, whatever they hold: the newest SDK sends "" and null [P].
        let wanted = SetFlagRequest(
            flag: flag, flag_reason_id: flag ? fields.optionalString("flag_reason_id") : nil,
            message: flag ? fields.optionalString("message") : nil)
        try fields.finish()
        self.init(entrupyID: input.path("entrupy_id"), request: wanted)
    }
}

/// `POST /_sim/authentications/{entrupy_id}/flag/resolve`: support answers a flag and may change the result [S].
package struct ResolveFlag: Operation, Writes {
    let entrupyID: String
    let note: String
    let result: ResultID?

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ entrupyID: String, note: String, result: ResultID?) throws {
        self.entrupyID = entrupyID
        self.note = note
        self.result = result
        var problems: [ErrorDetail] = []
        problems.add("note", note.isEmpty ? "must not be empty" : TextRules.tooLong(note, scalars: Flags.maxText))
        try problems.check()
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["note", "result"])
        let note = fields.string("note")
        let result = fields.word("result", ResultID.self)
        try fields.finish()
        try self.init(input.path("entrupy_id"), note: note, result: result)
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        var item = try Results.find(entrupyID, job)
        guard item.flag == .flagged else {
            throw PlatformError.wrongState(
                "the item is not flagged",
                [ErrorDetail("flag", "is \(item.flag.rawValue); there is nothing to resolve")],
                because: "the flag of \(entrupyID) is \(item.flag.rawValue)")
        }
        if let result { try item.activity.check(result) }
        let flagged = try job.transaction.events(entrupyID: entrupyID).last { $0.kind == EventKind.flagSet.name }
        let isOfClient = if case .request = flagged?.cause?.kind { true } else { false }
        let hadFinalResult = item.initialResult != nil
        if let result, result != item.result {
            try Results.set(&item, result, reason: nil, rule: .flagResolution, job)
        }
        item.flag = .resolved
        item.flagResolvedAt = job.now
        item.flagNote = note
        try Items.save(&item, job)
        try job.record(
            .flagResolved, entrupyID, ["note": .string(note), "result": .string(item.result.rawValue)],
            isOfClient: isOfClient)
        let isFirstFinal = !hadFinalResult && item.initialResult != nil
        try Webhooks.enqueue(isFirstFinal ? .sessionCompleted : .sessionUpdated, item, job)
        return try AuthenticationInfo(item, job)
    }
}
