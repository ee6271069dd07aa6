import EntrupyAPI
import EntrupyStorage
import Simulation
import Storage

// The database has the ids of results, flags, states, workflows and rules as text. Only this file converts them.

extension ItemRecord {
    init(
        entrupyID: String, captureID: String?, organizationID: Int64, userID: Int64, type: ConfigType, category: String,
        brandID: String, brandName: String, customerItemID: String?, metadata: String, captureStartedAt: Instant?,
        submittedAt: Instant, result: ResultID, decidedBy rule: Decision.Rule, activity: Activity = .authentication
    ) {
        self.init(
            entrupyID: entrupyID, captureID: captureID, organizationID: organizationID, userID: userID,
            configType: type.rawValue, category: category, brandID: brandID, brandName: brandName,
            customerItemID: customerItemID, metadata: metadata, captureStartedAt: captureStartedAt,
            submittedAt: submittedAt, resultID: result.rawValue, decidedBy: rule.rawValue,
            activityID: activity.rawValue)
    }

    /// The service that the platform performed.
    ///
    /// - Throws: ``PlatformError/bug(_:)`` if it is not known.
    var activity: Activity {
        get throws { try known(activityID, "item \(entrupyID)") }
    }

    /// The workflow of the item's capture.
    ///
    /// - Throws: ``PlatformError/bug(_:)`` if it is not known. An uploaded file that has such a value is refused.
    var type: ConfigType {
        get throws { try known(configType, "item \(entrupyID)") }
    }

    /// The rule that decided the result.
    ///
    /// - Throws: ``PlatformError/bug(_:)`` if it is not known.
    var rule: Decision.Rule {
        get throws { try known(decidedBy, "item \(entrupyID)") }
    }

    mutating func decide(by rule: Decision.Rule) {
        decidedBy = rule.rawValue
    }

    /// The current result, which is ``ResultID/needsReview`` until the first final one.
    var result: ResultID {
        get { ResultID(rawValue: resultID) }
        set { resultID = newValue.rawValue }
    }

    /// The first final result; never changes. `nil` if there was none yet.
    var initialResult: ResultID? {
        get { initialResultID.map(ResultID.init(rawValue:)) }
        set { initialResultID = newValue?.rawValue }
    }

    /// The result that is still due; `nil` if none is.
    var plannedResult: ResultID? {
        get { plannedResultID.map(ResultID.init(rawValue:)) }
        set { plannedResultID = newValue?.rawValue }
    }

    var flag: FlagID {
        get { FlagID(rawValue: flagID) }
        set { flagID = newValue.rawValue }
    }
}

extension CaptureRecord {
    /// A capture that starts.
    init(
        id: String, userID: Int64, type: ConfigType, category: String, item: String, startedAt: Instant,
        expiresAt: Instant, retakeID: String? = nil, service: Activity = .authentication,
        fingerprintParent: String? = nil
    ) {
        self.init(
            id: id, userID: userID, status: Capture.Status.started.rawValue, configType: type.rawValue,
            category: category, item: item, startedAt: startedAt, expiresAt: expiresAt, retakeID: retakeID,
            activity: service.rawValue, fingerprintParent: fingerprintParent)
    }

    /// The service that the platform performs.
    ///
    /// - Throws: ``PlatformError/bug(_:)`` if it is not known.
    var service: Activity {
        get throws { try known(activity, "capture \(id)") }
    }

    /// The workflow.
    ///
    /// - Throws: ``PlatformError/bug(_:)`` if it is not known.
    var type: ConfigType {
        get throws { try known(configType, "capture \(id)") }
    }

    var state: Capture.Status {
        get { Capture.Status(rawValue: status) }
        set { status = newValue.rawValue }
    }
}

extension Transaction {
    func hasEvent(_ kind: EventKind, entrupyID: String) throws -> Bool {
        try hasEvent(named: kind.name, entrupyID: entrupyID)
    }

    /// Moves a started capture to its final state. Writes.
    func endCapture(
        id: String, _ state: Capture.Status, submittedAt: Instant? = nil, endedAt: Instant? = nil,
        entrupyID: String? = nil
    ) throws {
        try endCapture(
            id: id, status: state.rawValue, submittedAt: submittedAt, endedAt: endedAt, entrupyID: entrupyID)
    }
}

private func known<Value: RawRepresentable<String>>(_ text: String, _ owner: String) throws -> Value {
    guard let value = Value(rawValue: text) else { throw PlatformError.bug("\(owner) has \"\(text)\"") }
    return value
}

extension ResultID {
    /// The ids of the documented results.
    static let names = allCases.map(\.rawValue)

    /// The reason of an invalid result that the debug configuration decided.
    static let debugReason = "debug_configuration"
}

extension FlagID {
    /// The ids of the documented flags.
    static let names = allCases.map(\.rawValue)
}

extension Capture.Status {
    /// The known states as text.
    static let names = allCases.map(\.rawValue)
}
