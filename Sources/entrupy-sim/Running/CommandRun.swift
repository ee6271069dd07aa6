import Foundation
import NIOConcurrencyHelpers

/// Runs a command of the user's to its end: hands signals on, shares the terminal as a shell does, and ends it when its time is over.
struct CommandRun {
    struct Result {
        let ending: ChildProcess.Ending
        /// Whether the command was ended because its time was over.
        let isLate: Bool
        /// The processes of the command that run on; `nil` if none is known.
        let leftovers: Leftovers?
    }

    private enum Event: Sendable {
        case changed(ChildProcess.Change)
        case signal(Int32)
        case timeIsOver
        case graceIsOver
    }

    /// The time between SIGTERM and SIGKILL.
    static let grace = Duration.seconds(5)

    let words: [ChildProcess.RawText]
    let environment: [ChildProcess.RawText]
    /// An entry `NAME=value` of the environment that no process has but those of this command.
    let mark: String
    /// The longest time; `nil` for no limit.
    let timeout: Duration?

    /// After the command's end, a signal ends this program.
    func run() async throws(ChildProcess.StartFailure) -> Result {
        let resetting = [SIGPIPE, SIGTTOU].filter { SignalWatch.ignore($0) }
        let signals = SignalWatch.start([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT])
        let child = try ChildProcess(words, environment: environment, resetting: resetting)
        let terminal = SessionTerminal()
        terminal?.give(to: child.id)
        let (events, sink) = AsyncStream.makeStream(of: Event.self)
        let isOver = NIOLockedValueBox(false)
        Task { for await change in child.changes { sink.yield(.changed(change)) } }
        Task {
            for await number in signals {
                if isOver.withLockedValue(\.self), number != SIGCONT { exit(128 + number) }
                sink.yield(.signal(number))
            }
        }
        let clock = timeout.map { limit in
            Task {
                try await Task.sleep(for: limit)
                sink.yield(.timeIsOver)
                try await Task.sleep(for: Self.grace)
                sink.yield(.graceIsOver)
            }
        }
        let result = await follow(child, events, terminal)
        isOver.withLockedValue { $0 = true }
        clock?.cancel()
        terminal?.take(from: child.id)
        return result
    }

    private func follow(_ child: ChildProcess, _ events: AsyncStream<Event>, _ terminal: SessionTerminal?) async
        -> Result
    {
        var isLate = false
        for await event in events {
            switch event {
            case .signal(SIGCONT):
                terminal?.give(to: child.id)
                child.signal(SIGCONT)
            case .signal(let number):
                child.signal(number)
            case .timeIsOver:
                isLate = true
                child.signal(SIGTERM)
                // A stopped process gets the signal when it goes on.
                child.signal(SIGCONT)
            case .graceIsOver:
                child.signal(SIGKILL)
            case .changed(.stopped(let number)):
                stopped(child, by: number, terminal)
            case .changed(.ended(let ending)):
                if isLate { child.signal(SIGKILL) }
                return Result(
                    ending: ending, isLate: isLate, leftovers: await Leftovers.find(ofGroup: child.id, mark: mark))
            }
        }
        return Result(ending: .signalled(SIGKILL), isLate: isLate, leftovers: nil)
    }

    /// Stops this program's group with the command, as the terminal would if they were one, until the shell continues it.
    private func stopped(_ child: ChildProcess, by number: Int32, _ terminal: SessionTerminal?) {
        guard let terminal, [SIGTSTP, SIGTTIN, SIGTTOU].contains(number) else { return }
        let mayRead = terminal.isForeground(getpgrp()) || (number != SIGTSTP && terminal.isForeground(child.id))
        // The first program of a session has no shell that could continue it.
        if mayRead || getsid(0) == getpid() {
            terminal.give(to: child.id)
            return child.signal(SIGCONT)
        }
        terminal.take(from: child.id)
        kill(0, SIGSTOP)
    }
}
