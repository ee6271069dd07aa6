import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// One line about a long operation, on the terminal of standard error alone, from the operation's second second on. It is
/// removed at the end. With `--json` and `--quiet`, in CI and on terminals that cannot overwrite a line there is none.
struct ProgressLine: Sendable {
    enum Unit {
        case things, bytes
    }

    private struct State {
        var done = 0
        var total: Int?
        var width = 0
        var isOver = false
    }

    private let terminal: Terminal
    private let what: String
    private let unit: Unit
    private let start = ContinuousClock.now
    private let state: NIOLockedValueBox<State>

    /// The operation's time from which on its progress is shown.
    static let patience = Duration.seconds(1)
    /// Some CI servers run their commands on a terminal, and keep all that it gets.
    private static let allowed: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return (environment["CI"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()
    private static let interval = Duration.milliseconds(250)

    /// Runs an operation and shows its progress.
    ///
    /// - Parameters:
    ///   - what: the operation, for instance `making items`.
    ///   - total: the number of things or bytes; `nil` if it is not known.
    static func showing<Value>(
        _ terminal: Terminal, _ what: String, of total: Int? = nil, in unit: Unit = .things,
        _ body: (ProgressLine) async throws -> Value
    ) async rethrows -> Value {
        let progress = ProgressLine(
            terminal: terminal, what: what, unit: unit, state: NIOLockedValueBox(State(total: total)))
        guard terminal.showsProgress, !terminal.isJSON, !terminal.isQuiet, allowed else {
            return try await body(progress)
        }
        let ticker = Task {
            try await Task.sleep(for: patience)
            while !Task.isCancelled {
                progress.show()
                try await Task.sleep(for: interval)
            }
        }
        defer {
            ticker.cancel()
            progress.remove()
        }
        return try await body(progress)
    }

    func note(_ done: Int, of total: Int? = nil) {
        state.withLockedValue {
            $0.done = done
            $0.total = total ?? $0.total
        }
    }

    func add(_ count: Int) { state.withLockedValue { $0.done += count } }

    private func show() {
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        state.withLockedValue {
            guard !$0.isOver else { return }
            let line = Self.line(what, $0.done, of: $0.total, in: unit, seconds: elapsed)
            $0.width = terminal.overwrite(line, width: $0.width)
        }
    }

    private func remove() {
        state.withLockedValue {
            if $0.width > 0 { $0.width = terminal.overwrite("", width: $0.width) }
            $0.isOver = true
        }
    }

    /// The line after a time: what is done with its rate, and the time left if the total is known.
    static func line(_ what: String, _ done: Int, of total: Int?, in unit: Unit, seconds: Double) -> String {
        let elapsed = DurationText.text(seconds: seconds.rounded(.down))
        let rate = Double(done) / max(seconds, 0.001)
        func text(_ count: Double) -> String {
            let whole = Int(min(count.rounded(), 1e15))
            return unit == .bytes ? SizeText.text(whole) : "\(whole)"
        }
        guard done > 0 else { return "\(what): \(elapsed)" }
        let speed = "\(text(rate))\(unit == .bytes ? "/s" : " a second")"
        guard let total, total > 0 else { return "\(what): \(text(Double(done))), \(speed), \(elapsed)" }
        let amount = "\(text(Double(done))) of \(text(Double(total)))"
        guard done < total else { return "\(what): \(amount), finishing, \(elapsed)" }
        let left = DurationText.text(seconds: (Double(total - done) / rate).rounded(.up))
        return "\(what): \(amount) (\(Int(Double(done) / Double(total) * 100))%), \(speed), \(left) left"
    }
}
