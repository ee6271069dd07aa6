import Foundation
import Simulation

/// The real time, which drives the namespaces' running clocks: the machine's time at the start of the program, and the time that has
/// passed since. Somebody who sets the machine's clock changes it only for the next start [D clock].
enum SystemTime {
    /// The machine's clock less the time since it was booted, at the start of the program.
    private static let start = difference()

    static func now() -> Instant { Instant(microseconds: start + elapsed()) }

    /// The whole seconds by which the machine's clock was set forward since the start of the program, or back; `nil` if it was not.
    static var step: Span? { step(from: start, to: difference()) }

    /// - Parameters:
    ///   - start: the difference of both clocks at the start of the program, in microseconds.
    ///   - now: that of now. Readings differ by microseconds, and a clock that runs slow or fast is corrected in milliseconds.
    static func step(from start: Int64, to now: Int64) -> Span? {
        let seconds = (Double(now - start) / 1_000_000).rounded()
        return seconds != 0 ? Span(microseconds: Int64(seconds) * 1_000_000) : nil
    }

    private static func difference() -> Int64 { read(CLOCK_REALTIME) - elapsed() }

    /// The time since the machine was booted, asleep or not, in microseconds.
    private static func elapsed() -> Int64 {
        #if os(Linux)
            read(CLOCK_BOOTTIME)
        #else
            read(CLOCK_MONOTONIC)
        #endif
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
