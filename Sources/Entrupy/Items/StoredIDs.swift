import EntrupyAPI
import EntrupyStorage

// The database has the ids of results, flags and states as text. Only this file converts them.

extension ItemRecord {
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
    var state: Capture.Status {
        get { Capture.Status(rawValue: status) }
        set { status = newValue.rawValue }
    }
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
