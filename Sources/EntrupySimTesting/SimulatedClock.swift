import SimulationAPI

/// The clock of a namespace. Advancing it makes everything happen that falls due: results, time-outs, webhooks.
public struct SimulatedClock: Sendable {
    let control: ControlConnection

    /// The time and whether it is frozen.
    public var state: ClockState {
        get async throws { try await control.send("GET", "/_sim/clock", as: ClockState.self) }
    }

    /// Freezes the clock, now or at a later moment in ISO 8601.
    @discardableResult public func freeze(at moment: String? = nil) async throws -> ClockState {
        try await control.send("POST", "/_sim/clock/freeze", ["at": moment], as: ClockState.self)
    }

    /// Moves the clock forward and waits until everything that fell due has happened. The answer's `reached` is false if
    /// webhook receivers took longer than 60 s in all.
    @discardableResult public func advance(by duration: SimulatedDuration) async throws -> ClockState {
        try await control.send(
            "POST", "/_sim/clock/advance", ["by": duration], as: ClockState.self, timeout: ControlConnection.work)
    }

    /// Moves the clock to a moment in ISO 8601, or to the `next` one at which something falls due. If nothing is due, the
    /// answer's `reached` is false and its `nothing_due` true, so a loop ends:
    /// `while try await clock.advance(to: "next").reached == true {}`.
    @discardableResult public func advance(to moment: String) async throws -> ClockState {
        try await control.send(
            "POST", "/_sim/clock/advance", ["to": moment], as: ClockState.self, timeout: ControlConnection.work)
    }

    /// Resumes the clock at its present time.
    @discardableResult public func resume() async throws -> ClockState {
        try await control.send("POST", "/_sim/clock/resume", as: ClockState.self)
    }
}
