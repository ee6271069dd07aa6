import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

// The results of fingerprints [D fingerprints].
extension Activity {
    /// The results that an item of this activity can have.
    var results: [ResultID] {
        switch self {
        case .authentication: ResultID.allCases.filter { !$0.isOfComparisonsOnly && !$0.isOfRegistrationsOnly }
        case .fingerprintRegister: ResultID.allCases.filter { !$0.isOfComparisonsOnly }
        case .fingerprintCompare:
            [
                .match, .noMatch, .matchFound, .noMatchFound, .unknown, .needsReview, .invalid, .canceled,
                .dataRequired, .notAvailable, .received,
            ]
        }
    }

    /// Throws if an item of this activity cannot have a result.
    func check(_ result: ResultID) throws {
        guard !results.contains(result) else { return }
        throw PlatformError.invalid(
            field: "result", "must be one of \(results.map(\.rawValue).joined(separator: ", ")) for \(rawValue)")
    }

    /// The result if no rule decides otherwise.
    ///
    /// - Parameter hasParent: whether the item is compared with a registered one. With none it is no match [D fingerprints].
    func defaultResult(_ settings: EntrupySettings, hasParent: Bool) -> ResultID {
        switch self {
        case .authentication: settings.defaultResult
        case .fingerprintRegister: settings.fingerprints.registered
        case .fingerprintCompare: hasParent ? settings.fingerprints.match : settings.fingerprints.noMatch
        }
    }
}

/// The workflow of a fingerprint that a capture asks for, or none [P].
struct FingerprintWorkflow {
    static let key = "capture_workflow"

    /// The item without the members that choose the workflow and what it compares with. They are no metadata.
    let item: JSONObject
    /// The service that the capture asks for.
    let activity: Activity
    /// Whether the item names the workflow, which then needs less of it.
    let isNamed: Bool
    /// The registered item that the item names.
    private let entrupyID: String?
    /// The registered item that is named beside the item.
    private let parent: String?

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ request: StartCaptureRequest) throws {
        parent = request.fingerprint_parent
        var item = request.item
        let workflow = item[Self.key] ?? .null
        item[Self.key] = nil
        guard workflow != .null else {
            self.item = item
            activity = request.activity ?? .authentication
            (isNamed, entrupyID) = (false, nil)
            return
        }
        let known: [Activity] = [.fingerprintRegister, .fingerprintCompare]
        guard let named = known.first(where: { workflow == .string($0.rawValue) }) else {
            throw PlatformError.invalid(
                field: "item.\(Self.key)",
                "must be \(known.map(\.rawValue).joined(separator: " or ")), got \(workflow.quoted)")
        }
        if let asked = request.activity, asked != named {
            throw PlatformError.invalid(
                field: "activity", "is \(asked.rawValue), but item.\(Self.key) is \(named.rawValue); leave one out")
        }
        switch item["entrupy_id"] {
        case nil, .null, .string(""): entrupyID = nil
        case .string(let id):
            guard named == .fingerprintCompare else {
                throw PlatformError.invalid(
                    field: "item.entrupy_id", "is allowed only with the workflow fingerprint_compare")
            }
            entrupyID = id
        case .some(let other):
            throw PlatformError.invalid(field: "item.entrupy_id", "must be a string, got \(other.typeName)")
        }
        item["entrupy_id"] = nil
        (self.item, activity, isNamed) = (item, named, true)
    }

    /// The registered item that the item is compared with; `nil` if there is none [D fingerprints].
    ///
    /// The item's `entrupy_id` comes first, then the capture's `fingerprint_parent`, then the organization's latest registered item
    /// with the `customer_item_id`. Each of the first two must be a registered item, also where the other counts.
    ///
    /// - Returns: the item's id, and the conflict of a registration that has no final result yet. It comes after all other errors.
    func registeredItem(of user: SDKUser, _ job: JobContext) throws -> (id: String?, conflict: PlatformError?) {
        let field = "fingerprint_parent"
        guard activity == .fingerprintCompare else {
            guard parent != nil else { return (nil, nil) }
            throw PlatformError.invalid(field: field, "is allowed only with the activity fingerprint_compare")
        }
        if !isNamed, parent == nil {
            throw PlatformError.invalid(
                field: field, "is missing: name an item of the activity fingerprint_register")
        }
        let conflicts = try [("item.entrupy_id", entrupyID), (field, parent)].map { field, id in
            try id.flatMap { try Self.conflict(of: $0, field, user, job) }
        }
        if let known = entrupyID ?? parent { return (known, conflicts.compactMap(\.self).first) }
        guard let id = ItemMetadata(members: item).text(.customerItemID) else { return (nil, nil) }
        let latest = try job.transaction.latestItem(
            organizationID: user.organization.id, customerItemID: id,
            activity: .fingerprintRegister, results: Self.registered)
        return (latest, nil)
    }

    /// The final results of a registered item.
    private static let registered: [ResultID] = [.registered, .authentic]

    /// The conflict of a registration that has no final result yet; `nil` if the item is registered.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` for any other item.
    private static func conflict(
        of id: String, _ field: String, _ user: SDKUser, _ job: JobContext
    ) throws -> PlatformError? {
        guard let item = try job.transaction.item(entrupyID: id), item.organizationID == user.organization.id,
            item.activity == .fingerprintRegister
        else {
            throw PlatformError.invalid(field: field, "must be the id of an item that the organization registered")
        }
        guard item.resultFinal else {
            return PlatformError.wrongState(
                "the registration of \(item.entrupyID) has no final result yet",
                [ErrorDetail(field, "names a registration that is \(item.result.rawValue); wait for its result")],
                because: try Results.state(item, job))
        }
        guard registered.contains(item.result) else {
            throw PlatformError.invalid(
                field: field,
                "must be an item whose registration ended registered or authentic; this one is \(item.result.rawValue)")
        }
        return nil
    }
}
