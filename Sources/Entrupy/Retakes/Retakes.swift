import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// Retakes, in which support asks for new images of an item, and questions from support [P].
///
/// While a retake is open, a planned result waits. It comes after the namespace's delay once the retake is answered
/// [D retakes].
enum Retakes {
    /// Limits of messages from support: the longest text and the longest option, in Unicode scalars, and the number
    /// of options [D support-message-sizes].
    static let maxText = 2000
    static let maxOptions = 20
    static let maxOption = 200

    /// The item's open retake; an item has at most one.
    static func open(_ entrupyID: String, _ job: JobContext) throws -> RetakeRecord? {
        try job.transaction.retakes(entrupyID: entrupyID).last { $0.answeredAt == nil }
    }

    /// The images a retake asks for, in the order of the workflow.
    static func steps(_ retake: RetakeRecord, of category: Catalogue.Category, _ type: ConfigType) -> [Catalogue.Step] {
        let regions = retake.regions.split(separator: " ").map(String.init)
        return category.steps(type).filter { $0.regionID.isOne(of: regions) }.map {
            Catalogue.Step(regionID: $0.regionID, required: true, displayName: $0.displayName, guidance: $0.guidance)
        }
    }

    /// Answers a retake with the images of a capture. Writes.
    static func answer(_ retakeID: String, with capture: CaptureRecord, _ job: JobContext) throws -> ItemRecord {
        let found = try job.transaction.retake(id: retakeID)
        guard let retake = found, retake.answeredAt == nil,
            var item = try job.transaction.item(entrupyID: retake.entrupyID)
        else {
            throw PlatformError.wrongState(
                "another capture has already answered the retake", because: found.map { answered($0, of: $0.entrupyID) }
            )
        }
        try job.transaction.answerRetake(id: retakeID, at: job.now, captureID: capture.id)
        try Items.save(&item, job)
        try job.record(.retakeAnswered, item.entrupyID, ["retake_id": .string(retakeID)])
        if item.plannedResult != nil {
            try job.schedule(.result, item.entrupyID, at: job.now + job.entrupy.settings.resultDelay)
        }
        return item
    }

    /// The answer to a retake in words, for the journal.
    ///
    /// - Parameter retake: the item's last retake; `nil` if support asked for none.
    static func answered(_ retake: RetakeRecord?, of entrupyID: String) -> Because {
        guard let retake else {
            return Because("support has not asked for new images of the item", entrupyID, [.itemSubmitted])
        }
        let at = retake.answeredAt.map { " at \($0.display)" } ?? ""
        return Because(
            "the retake \(retake.id) was answered\(at) by the capture \(retake.captureID ?? "of another session")",
            entrupyID, [.retakeAnswered], named: retake.id)
    }

    static func render(_ retake: RetakeRecord, _ job: JobContext) throws -> ItemToRetake {
        guard let item = try job.transaction.item(entrupyID: retake.entrupyID),
            let category = job.catalogue.category(item.category)
        else { throw PlatformError.bug("retake \(retake.id) without an item") }
        let request = Retake(
            retake_id: retake.id,
            regions: steps(retake, of: category, item.configType).map {
                .init(
                    region_id: $0.regionID, display_name: $0.displayName[job.language],
                    guidance: $0.guidance[job.language])
            },
            message: retake.message, requested_at: retake.askedAt.epoch)
        return ItemToRetake(item: try ResultRendering(job).shown(item), retake: request)
    }
}

/// `POST /_sim/authentications/{entrupy_id}/retake`: support asks for new images.
package struct AskForRetake: Operation, Writes {
    let entrupyID: String
    let request: RetakeRequest

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        var problems: [ErrorDetail] = []
        if request.regions?.isEmpty == true { problems.add("regions", "must name at least one region") }
        problems.add("message", request.message.flatMap { TextRules.tooLong($0, scalars: Retakes.maxText) })
        try problems.check()
        var item = try Results.find(entrupyID, job)
        guard let category = job.catalogue.category(item.category) else {
            throw PlatformError.bug("item \(entrupyID) of an unknown category")
        }
        let steps = category.steps(item.configType)
        let known = steps.map(\.regionID)
        for (index, region) in (request.regions ?? []).enumerated() where !region.isOne(of: known) {
            problems.add("regions[\(index)]", "must be one of \(known.joined(separator: ", "))")
        }
        try problems.check()
        guard try Retakes.open(entrupyID, job) == nil else {
            throw PlatformError.wrongState(
                "the item already has an open retake, which must be answered first",
                because: "support has asked for new images of \(entrupyID) already")
        }
        let regions = steps.filter { step in request.regions.map(step.regionID.isOne) ?? step.required }.map(\.regionID)
        let retake = RetakeRecord(
            id: try job.nextID(.retake), entrupyID: entrupyID, userID: item.userID,
            regions: regions.joined(separator: " "), message: request.message, askedAt: job.now)
        try job.transaction.insert(retake)
        // A planned result waits for the answer.
        try job.transaction.deleteDueResult(entrupyID: entrupyID)
        try Items.save(&item, job)
        let asked = JSONValue.array(regions.map { .string($0) })
        var data: JSONObject = ["retake_id": .string(retake.id), "regions": asked]
        data["message"] = request.message.map { .string($0) }
        try job.record(.retakeRequested, entrupyID, data)
        var message: JSONObject = ["type": .string("retake"), "id": .string(retake.id), "regions": asked]
        message["message"] = request.message.map { .string($0) } ?? .null
        try Webhooks.enqueue(.supportMessage, item, adding: ["support_message": .object(message)], job)
        return try AuthenticationInfo(item, job)
    }
}

extension AskForRetake {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["regions", "message"])
        let wanted = RetakeRequest(regions: fields.texts("regions"), message: fields.optionalString("message"))
        try fields.finish()
        self.init(entrupyID: input.path("entrupy_id"), request: wanted)
    }
}

/// `POST /_sim/authentications/{entrupy_id}/support-message`: support asks a question [D support-messages].
package struct SendSupportMessage: Operation, Writes {
    let entrupyID: String
    let request: SupportMessageRequest

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ entrupyID: String, _ request: SupportMessageRequest) throws {
        self.entrupyID = entrupyID
        self.request = request
        var problems: [ErrorDetail] = []
        func check(_ field: String, _ text: String, _ maxScalars: Int) {
            problems.add(field, text.isEmpty ? "must not be empty" : TextRules.tooLong(text, scalars: maxScalars))
        }
        check("message", request.message, Retakes.maxText)
        if let options = request.options {
            if !(1...Retakes.maxOptions).contains(options.count) {
                problems.add("options", "must be 1 to \(Retakes.maxOptions) options, or left out")
            }
            for (index, option) in options.prefix(Retakes.maxOptions).enumerated() {
                check("options[\(index)]", option, Retakes.maxOption)
            }
        }
        try problems.check()
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["message", "options"])
        let wanted = SupportMessageRequest(message: fields.string("message"), options: fields.texts("options"))
        try fields.finish()
        try self.init(input.path("entrupy_id"), wanted)
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        let item = try Results.find(entrupyID, job)
        let id = try job.nextID(.supportMessage)
        let message: JSONObject = [
            "type": .string("question"), "id": .string(id), "message": .string(request.message),
            "options": request.options.map { .array($0.map { .string($0) }) } ?? .null,
        ]
        try job.record(.supportMessage, entrupyID, message)
        try Webhooks.enqueue(.supportMessage, item, adding: ["support_message": .object(message)], job)
        return try AuthenticationInfo(item, job)
    }
}

/// `GET /sdk/retakes`: the user's items with an open retake, newest request first, all on one page [P].
package struct ListRetakes: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as user: SDKUser) throws -> RetakePage {
        RetakePage(
            items: try job.transaction.openRetakes(userID: user.id).reversed().map { try Retakes.render($0, job) })
    }
}

/// `POST /sdk/results/{entrupy_id}/retake`: starts a capture of the requested images. Uploads and submission follow
/// as for any capture.
package enum StartRetake: RuleByID, Writes {
    package static func perform(_ entrupyID: String, _ job: JobContext, as user: SDKUser) throws -> Capture {
        let item = try user.item(entrupyID, job)
        guard let retake = try Retakes.open(entrupyID, job) else {
            throw PlatformError.wrongState(
                "the item has no open retake", [ErrorDetail("entrupy_id", "GET /sdk/retakes lists open ones")],
                because: Retakes.answered(try job.transaction.retakes(entrupyID: entrupyID).last, of: entrupyID))
        }
        try Captures.checkOpen(user, job)
        let capture = CaptureRecord(
            id: try job.nextID(.capture), userID: user.id, configType: item.configType, category: item.category,
            item: item.metadata, startedAt: job.now,
            expiresAt: job.now + job.entrupy.settings.captureTimeout, retakeID: retake.id)
        try job.transaction.insert(capture)
        try job.schedule(.captureTimeout, capture.id, at: capture.expiresAt)
        try job.record(
            .captureStarted, capture.id,
            ["username": .string(user.username), "entrupy_id": .string(entrupyID), "retake_id": .string(retake.id)])
        return try Captures.render(capture, job)
    }
}
