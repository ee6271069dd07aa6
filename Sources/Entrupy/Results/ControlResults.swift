import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// `GET /_sim/authentications/{entrupy_id}`.
package enum ShowAuthentication: RuleByID, Reads {
    package static func perform(_ id: String, _ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        try AuthenticationInfo(Results.find(id, job), job)
    }
}

/// `PATCH /_sim/authentications/{entrupy_id}`: gives an item a result, as the platform's experts would.
package struct PatchAuthentication: Operation, Writes {
    let entrupyID: String
    /// A documented result; `needs_review` puts the item back under review.
    var result: ResultID?
    /// One of the seed's reasons; allowed for an invalid result only.
    var reason: String?
    /// Any id, even one the SDK does not know, to test a client's `.other` case [S].
    var flag: FlagID?
    /// A merge patch for the item's catalogue data.
    var catalog: JSONObject?
    /// The market data, in place of what the item was given before [D market-edge]; null if it follows from the item again.
    var marketEdge = GivenMarketEdge.Part<JSONObject>.absent

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        try checkParameters(job)
        var item = try Results.find(entrupyID, job)
        if let result { try item.activity.check(result) }
        if let reason, (result ?? item.result) != .invalid {
            throw PlatformError.invalid(
                field: "reason", "\"\(reason)\" needs the result invalid, got \((result ?? item.result).rawValue)")
        }
        // A result or flag that the item already has causes no event.
        let isSame =
            item.plannedResult == nil && (result ?? item.result) == item.result
            && (reason == nil || reason == item.resultReason)
        if result != nil || reason != nil, !isSame {
            try Results.set(&item, result ?? item.result, reason: reason, rule: .control, job)
        }
        if let flag, flag != item.flag { try Flags.force(&item, flag, job) }
        if let catalog { try CatalogData.patch(&item, catalog, job) }
        switch marketEdge {
        case .given(let given): try MarketEdges.set(&item, given, job)
        case .null: try MarketEdges.set(&item, nil, job)
        case .absent: break
        }
        return try AuthenticationInfo(item, job)
    }

    private func checkParameters(_ job: JobContext) throws {
        var problems: [ErrorDetail] = []
        if result == nil, reason == nil, flag == nil, catalog == nil, case .absent = marketEdge {
            problems.add(
                "", "the body changes nothing; give at least one of result, reason, flag, catalog, market_edge")
        }
        let reasons = job.catalogue.texts.invalidReasons.map(\.id)
        if let reason, !reason.isOne(of: reasons) {
            problems.add("reason", "must be one of \(reasons.joined(separator: ", "))")
        }
        if let id = flag?.rawValue.utf8,
            !(1...40).contains(id.count)
                || !id.allSatisfy({ (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f })
        {
            problems.add("flag", "must be an id of 1 to 40 of a-z, 0-9 and _, for instance flagged")
        }
        problems += CatalogData.problems(catalog ?? [:])
        try problems.check()
    }
}

extension PatchAuthentication {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["result", "reason", "flag", "catalog", "market_edge"])
        let result = fields.word("result", ResultID.self)
        let reason = fields.optionalString("reason")
        let flag = fields.optionalString("flag").map(FlagID.init(rawValue:))
        let catalog = fields.members("catalog")
        let marketEdge = fields.marketEdge().map { GivenMarketEdge.Part.given($0) }
        let isRemoved = fields.has("market_edge")
        try fields.finish()
        self.init(
            entrupyID: input.path("entrupy_id"), result: result, reason: reason, flag: flag, catalog: catalog,
            marketEdge: marketEdge ?? (isRemoved ? .null : .absent))
    }
}

extension AuthenticationInfo {
    init(_ item: ItemRecord, _ job: JobContext) throws {
        let partner = try PartnerRendering(item, job)
        self.init(
            entrupy_id: item.entrupyID, username: partner.user.username, customer_item_id: item.customerItemID,
            capture_id: item.captureID,
            result: .init(id: item.result, final: item.resultFinal, reason: item.resultReason),
            decided_by: item.decidedBy.rawValue,
            result_due_at: try job.transaction.resultDueTime(entrupyID: item.entrupyID)?.epoch,
            flag: Flags.status(item, partner.organization, job), certificate_id: item.certificateID,
            pictures: try ResultRendering(job).pictures(item).map {
                .init(region_id: $0.step.regionID, url: $0.url, bytes: $0.bytes)
            },
            timeline: try Results.timeline(item, job).map {
                .init(at: $0.at.epoch, event: $0.kind, data: try StoredJSON.decode($0.data))
            },
            item: try StoredJSON.decode(item.metadata),
            market_edge: try item.marketEdge.map { try StoredJSON.decode($0) },
            sdk: try ResultRendering(job).shown(item), v1: try partner.v1(minor: PartnerVersion.lastMinor),
            v2: try partner.v2(PartnerParts(images: true, catalog: true)))
    }
}
