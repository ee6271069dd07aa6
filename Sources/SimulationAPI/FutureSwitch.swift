/// The switches of the setting `future`, in the order of its documentation.
package enum FutureSwitch: String, CaseIterable, Sendable {
    case members, order, errors, events, opaque

    /// The beginning of the names of events that ``events`` adds.
    package static let eventPrefix = "session.x_"
}
