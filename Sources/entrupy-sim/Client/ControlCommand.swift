import ArgumentParser
import Foundation
import SimulationAPI

/// The call of a command on a server, with its options.
///
/// ``command`` makes a command of it, which also has ``ControlOptions``.
protocol ControlAction: ParsableArguments {
    /// The command's name; that of the type in lower case unless declared.
    static var name: String { get }
    static var abstract: String { get }
    static var discussion: String { get }
    /// The options and arguments that members of the request come from, where their names differ: refusals name these.
    static var optionNames: [String: String] { get }
    func run(_ client: ControlClient, _ terminal: Terminal) async throws
}

extension ControlAction {
    static var name: String { "\(Self.self)".lowercased() }
    static var discussion: String { "" }
    static var optionNames: [String: String] { [:] }
    static var command: any ParsableCommand.Type { ControlCommand<Self>.self }
}

/// An action that is one request of the control API.
protocol Endpoint: ControlAction {
    /// The request, and how its answer is printed.
    func call() throws -> ControlCall
    /// Changes a refusal of the server, for instance what to do next.
    func explain(_ refusal: inout Refusal, _ terminal: Terminal)
}

extension Endpoint {
    func explain(_ refusal: inout Refusal, _ terminal: Terminal) {}

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        try await answer(client, terminal)
    }

    /// Sends the request and prints the answer.
    @discardableResult func answer(_ client: ControlClient, _ terminal: Terminal) async throws -> ControlClient.Answer {
        let call = try call()
        let answer: ControlClient.Answer
        do {
            answer = try await client.send(call)
        } catch var refusal as Refusal {
            explain(&refusal, terminal)
            refusal.leaveOutMembers()
            throw refusal
        }
        try terminal.show(answer, of: call)
        return answer
    }

    /// Sends a request and prints the answer. The progress is what the server tells meanwhile, not the bytes of the answer.
    ///
    /// - Parameter note: notes the progress that the server tells.
    @discardableResult func answer(
        _ call: ControlCall, _ client: ControlClient, _ terminal: Terminal, _ doing: String, of total: Int? = nil,
        in unit: ProgressLine.Unit, noting note: @escaping @Sendable (ServerInfo, ProgressLine) -> Void
    ) async throws -> ControlClient.Answer {
        let call = call.showing(nil)
        let answer = try await ProgressLine.showing(terminal, doing, of: total, in: unit) { progress in
            let watching = Task {
                try await Task.sleep(for: ProgressLine.patience)
                while !Task.isCancelled {
                    note(try await client.get("/_sim/info"), progress)
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
            defer { watching.cancel() }
            return try await client.send(call)
        }
        try terminal.show(answer, of: call)
        return answer
    }
}

/// The command of a ``ControlAction``.
struct ControlCommand<Action: ControlAction>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Action.name, abstract: Action.abstract, discussion: Action.discussion)
    }

    // Help shows the options in this order.
    @OptionGroup var action: Action
    @OptionGroup var control: ControlOptions

    func run() async throws {
        let terminal = Terminal(isJSON: control.json, isQuiet: control.quiet, place: control.place)
        do {
            try await action.run(ControlClient(options: control, terminal: terminal), terminal)
        } catch var refusal as Refusal {
            if refusal.code == .usage { refusal.name(options: Action.optionNames) }
            terminal.show(refusal)
            throw ExitCode(refusal.code.rawValue)
        }
    }
}
