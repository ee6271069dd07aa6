import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

// The results of fingerprints [D fingerprints].
extension Activity {
    /// The results that an item of this activity can have.
    var results: [ResultID] {
        switch self {
        case .authentication, .fingerprintRegister: ResultID.allCases.filter { !$0.isOfComparisonsOnly }
        case .fingerprintCompare: [.match, .noMatch, .unknown, .needsReview, .invalid]
        }
    }

    /// Throws if an item of this activity cannot have a result.
    func check(_ result: ResultID) throws {
        guard !results.contains(result) else { return }
        throw PlatformError.invalid(
            field: "result", "must be one of \(results.map(\.rawValue).joined(separator: ", ")) for \(rawValue)")
    }

    /// The result if no rule decides otherwise.
    func defaultResult(_ settings: EntrupySettings) -> ResultID {
        switch self {
        case .authentication: settings.defaultResult
        case .fingerprintRegister: .authentic
        case .fingerprintCompare: .match
        }
    }
}

/// Rules of fingerprints.
enum Fingerprints {
    /// Throws if the item of a capture cannot be compared: its parent must be an item that the organization registered
    /// [D fingerprints].
    static func check(
        _ activity: Activity, parent: String?, of user: SDKUser, _ job: JobContext
    ) throws {
        let field = "fingerprint_parent"
        guard activity == .fingerprintCompare else {
            guard parent != nil else { return }
            throw PlatformError.invalid(field: field, "is allowed only with the activity fingerprint_compare")
        }
        guard let parent else {
            throw PlatformError.invalid(
                field: field, "is missing: name an item of the activity fingerprint_register")
        }
        guard let item = try job.transaction.item(entrupyID: parent), item.organizationID == user.organization.id,
            try item.activity == .fingerprintRegister
        else {
            throw PlatformError.invalid(field: field, "must be the id of an item that the organization registered")
        }
        guard item.result == .authentic else {
            throw PlatformError.invalid(
                field: field, "must be an item whose registration ended authentic; this one is \(item.resultID)")
        }
    }
}
