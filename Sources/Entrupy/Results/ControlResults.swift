import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// `GET /_sim/authentications/{entrupy_id}`.
package struct ShowAuthentication: Operation {
    package static let access = Access.reads
    let entrupyID: String

    package init(_ entrupyID: String) {
        self.entrupyID = entrupyID
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        try AuthenticationInfo(Results.find(entrupyID, job), job)
    }
}

/// `PATCH /_sim/authentications/{entrupy_id}`: gives an item a result, as the platform's experts would.
package struct PatchAuthentication: Operation {
    package static let access = Access.writes
    let entrupyID: String
    let result: ResultID?
    let reason: String?
    let flag: FlagID?
    let catalog: JSONObject?
    let marketEdge: MarketEdgeChange?

    /// A change of the market data that an item was given.
    package enum MarketEdgeChange: Sendable {
        case set(JSONObject)
        /// The data follows from the item again.
        case remove
    }

    /// - Parameters:
    ///   - result: a documented result; `needs_review` puts the item back under review.
    ///   - reason: one of the seed's reasons; allowed for an invalid result only.
    ///   - flag: any id, even one the SDK does not know, to test a client's `.other` case [S].
    ///   - catalog: a merge patch for the item's catalogue data.
    ///   - marketEdge: the item's market data, in place of what it was given before [D market-edge].
    init(
        _ entrupyID: String, result: ResultID? = nil, reason: String? = nil, flag: FlagID? = nil,
        catalog: JSONObject? = nil, marketEdge: MarketEdgeChange? = nil
    ) {
        self.catalog = catalog
        self.marketEdge = marketEdge
        self.entrupyID = entrupyID
        self.result = result
        self.reason = reason
        self.flag = flag
    }

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
        if let flag, flag != item.flag {
            try Flags.force(&item, flag, job)
        }
        if let catalog { try CatalogData.patch(&item, catalog, job) }
        switch marketEdge {
        case .set(let given): try MarketEdges.set(&item, given, job)
        case .remove: try MarketEdges.set(&item, nil, job)
        case nil: break
        }
        return try AuthenticationInfo(item, job)
    }

    private func checkParameters(_ job: JobContext) throws {
        var problems: [ErrorDetail] = []
        if result == nil, reason == nil, flag == nil, catalog == nil, marketEdge == nil {
            problems.append(
                ErrorDetail(
                    "", "the body changes nothing; give at least one of result, reason, flag, catalog, market_edge"))
        }
        let reasons = job.catalogue.texts.invalidReasons.map(\.id)
        if let reason, !reasons.contains(where: { $0.isIdentical(to: reason) }) {
            problems.append(ErrorDetail("reason", "must be one of \(reasons.joined(separator: ", "))"))
        }
        if let id = flag?.rawValue.utf8,
            !(1...40).contains(id.count)
                || !id.allSatisfy({ (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f })
        {
            problems.append(ErrorDetail("flag", "must be an id of 1 to 40 of a-z, 0-9 and _, for instance flagged"))
        }
        problems += CatalogData.problems(catalog ?? [:])
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }
}

extension PatchAuthentication {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["result", "reason", "flag", "catalog", "market_edge"])
        let result = fields.word("result", ResultID.self)
        let reason = fields.optionalString("reason")
        let flag = fields.optionalString("flag").map(FlagID.init(rawValue:))
        let catalog = fields.members("catalog")
        let marketEdge = fields.marketEdge()
        let removesMarketEdge = fields.has("market_edge") && marketEdge == nil
        try fields.finish()
        self.init(
            input.path("entrupy_id"), result: result, reason: reason, flag: flag, catalog: catalog,
            marketEdge: removesMarketEdge ? .remove : marketEdge.map { .set($0) })
    }
}

extension AuthenticationInfo {
    init(_ item: ItemRecord, _ job: JobContext) throws {
        guard let user = try job.transaction.user(id: item.userID),
            let organization = try job.transaction.organization(id: item.organizationID)
        else { throw PlatformError.bug("item \(item.entrupyID) without an owner") }
        let partner = try PartnerRendering(item, job)
        self.init(
            entrupy_id: item.entrupyID, username: user.username, customer_item_id: item.customerItemID,
            capture_id: item.captureID,
            result: .init(id: item.result, final: item.resultFinal, reason: item.resultReason),
            decided_by: item.decidedBy.rawValue,
            result_due_at: try job.transaction.resultDueTime(entrupyID: item.entrupyID)?.epoch,
            flag: Flags.status(item, organization, job), certificate_id: item.certificateID,
            pictures: try ResultRendering(job).pictures(item).map {
                .init(region_id: $0.step.regionID, url: $0.url, bytes: $0.bytes)
            },
            timeline: try Results.timeline(item, job).map {
                .init(at: $0.at.epoch, event: $0.kind, data: try StoredJSON.decode($0.data))
            },
            item: try StoredJSON.decode(item.metadata),
            market_edge: try item.marketEdge.map { try StoredJSON.decode($0) },
            sdk: try ResultRendering(job).render(item), v1: try partner.v1(minor: PartnerVersion.lastMinor),
            v2: try partner.v2(PartnerParts(images: true, catalog: true)))
    }
}
