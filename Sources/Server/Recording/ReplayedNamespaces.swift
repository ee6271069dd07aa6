import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// The end of a replay: the namespace that is looked at, and the last request that is replayed.
package struct ReplayEnd: Sendable {
    /// A name of a request.
    package enum Request: Sendable, CustomStringConvertible {
        case id(String)
        /// Its number in the journal of the namespace.
        case sequence(Int64)

        package var description: String {
            switch self {
            case .id(let id): id
            case .sequence(let number): "sequence:\(number)"
            }
        }
    }

    package let namespace: String
    /// `nil` for the end of the recording.
    package let until: Request?

    package init(namespace: String, until: Request?) {
        self.namespace = namespace
        self.until = until
    }
}

extension ReplayServer {
    /// Replays a recording up to an end, and writes the bundle of a namespace as it is then [D replay-serve].
    ///
    /// - Parameter write: takes the parts of the bundle. Not called if an answer differs, or if the replay was interrupted.
    /// - Returns: the report; and whether a bundle was written.
    /// - Throws: ``ReplayRefusal`` if the file cannot be replayed so, or an error of `write`.
    package static func bundle(
        _ plan: ReplayPlan, _ end: ReplayEnd, write: @escaping @Sendable (Data) throws -> Void
    ) async throws -> (report: ReplayReport, isWritten: Bool) {
        let replay: Replay
        switch try await find(end, plan) {
        case .ended(let report): return (report, false)
        case .found(let found): replay = found
        }
        return try await playToEnd(replay, on: try plan.server(of: replay), plan) { namespaces in
            try await writeBundle(of: end.namespace, namespaces, plan, write)
            return true
        }
    }

    /// Replays on `server`, then runs `finish` while the namespaces are still open, unless an answer differs or the replay was
    /// interrupted.
    ///
    /// - Parameter finish: returns whether the namespaces are closed then. They are if it throws.
    /// - Returns: the report; and whether `finish` ran.
    private static func playToEnd(
        _ replay: Replay, on server: SimServer, _ plan: ReplayPlan,
        finish: @escaping @Sendable (Namespaces) async throws -> Bool
    ) async throws -> (ReplayReport, Bool) {
        let finished = NIOLockedValueBox<Result<Bool, any Error>>(.success(false))
        let report = try await play(
            replay, on: server, plan,
            ended: { report, namespaces in
                guard report.difference == nil, !replay.isStopped else { return true }
                do {
                    let closes = try await finish(namespaces)
                    finished.withLockedValue { $0 = .success(true) }
                    return closes
                } catch {
                    finished.withLockedValue { $0 = .failure(error) }
                    return true
                }
            })
        return (report, try finished.withLockedValue { $0 }.get())
    }

    private static func writeBundle(
        of name: String, _ namespaces: Namespaces, _ plan: ReplayPlan,
        _ write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        guard let namespace = namespaces.find(name) else {
            let names = namespaces.all().map(\.name).joined(separator: ", ")
            throw ReplayRefusal(
                .notFound, "there is no namespace \"\(name)\" at the end of the replay",
                next: "name one of these with --namespace: \(names)")
        }
        let download = try await namespace.bundle(version: plan.version, .background).result.get()
        try await namespaces.environment.offload { while let part = try download.next() { try write(part) } }
    }

    /// Replays a recording up to an end, and prepares a server that goes on with the namespaces as they are then: clocks stand, and
    /// nothing is sent until one is advanced [D replay-serve].
    ///
    /// - Parameters:
    ///   - logger: the logger of the server that goes on.
    ///   - configure: sets where and how the server listens.
    /// - Returns: the report; and the server, `nil` if the replay found a difference or was interrupted.
    /// - Throws: ``ReplayRefusal`` if the file cannot be replayed so, or the error that keeps the server from starting.
    package static func continued(
        _ plan: ReplayPlan, _ end: ReplayEnd, logger: Logger, configure: (inout ServerConfiguration) throws -> Void
    ) async throws -> (report: ReplayReport, server: SimServer?) {
        let replay: Replay
        switch try await find(end, plan) {
        case .ended(let report): return (report, nil)
        case .found(let found): replay = found
        }
        let first = try plan.server(of: replay)
        var configuration = ServerConfiguration(version: plan.version, namespaces: first.configuration.namespaces)
        configuration.namespaces.allowsAnyTarget = false
        do {
            try configure(&configuration)
        } catch {
            try await first.close()
            throw error
        }
        let (report, continues) = try await playToEnd(replay, on: first, plan) { namespaces in
            try await replay.resume(with: namespaces)
            return false
        }
        guard continues else { return (report, nil) }
        return (report, SimServer(continuing: first, configuration, logger: logger))
    }
}

// MARK: Requests by name

extension ReplayServer {
    /// The replay that ends as asked, or the report of one that ended before.
    fileprivate enum Found {
        case found(Replay)
        case ended(ReplayReport)
    }

    /// Finds the last request to replay, and prepares the replay.
    ///
    /// - Throws: ``ReplayRefusal`` if the recording has no such request in its complete part.
    fileprivate static func find(_ end: ReplayEnd, _ plan: ReplayPlan) async throws -> Found {
        guard let recording = try await plan.read() else { return .ended(plan.interrupted) }
        guard let until = end.until else { return .found(Replay(recording)) }
        let last: Int
        switch until {
        case .id(let id):
            let named = try named(id, in: end.namespace, recording)
            if named.count > 1 { return .ended(try await listSequences(of: named, id, end.namespace, recording, plan)) }
            last = named[0].lastPlace
        case .sequence(let number):
            let search = SequenceSearch(namespace: end.namespace, wanted: number)
            let report = try await search.run(Replay(recording), plan)
            guard let place = search.places[number] else {
                if report.difference != nil || search.wasInterrupted { return .ended(report) }
                throw ReplayRefusal(
                    .notFound,
                    "the recording has no request \(until) in the namespace \"\(end.namespace)\""
                        + (recording.isCut ? ", as far as it is whole" : ""),
                    next: "a sequence is a request's number in its namespace's journal, from 1")
            }
            last = place
        }
        guard last < recording.end else {
            throw ReplayRefusal(
                .afterGap, "the request \(until) comes after the first missing entry of the recording",
                next: "leave --until out to replay what comes before")
        }
        return .found(Replay(recording, upTo: last))
    }

    /// The entries of the requests that have an id in a namespace; not empty.
    ///
    /// - Throws: ``ReplayRefusal`` if there are none.
    private static func named(
        _ id: String, in namespace: String, _ recording: Recording
    ) throws -> [RecordedEntry] {
        let all = recording.entries.filter { $0.request?.requestID?.isIdentical(to: id) == true }
        // Requests to the control API are not in the journal. Only where no other has the id, the last of them is meant.
        let journaled = all.filter { $0.request.map { !Target($0.target).isControl } ?? false }
        let named = journaled.isEmpty ? Array(all.suffix(1)) : journaled
        let here = named.filter { $0.request?.namespace.isIdentical(to: namespace) == true }
        guard here.isEmpty else { return here }
        if let elsewhere = named.first?.request?.namespace {
            throw ReplayRefusal(
                .notFound, "the request \(id) is not in the namespace \"\(namespace)\" but in \"\(elsewhere)\"",
                next: "name it: --namespace \(elsewhere)")
        }
        throw ReplayRefusal(
            .notFound, "the recording has no request \(id)\(recording.isCut ? ", as far as it is whole" : "")",
            next:
                "an answer has its request's id in the header X-Request-Id; sequence:N is the Nth of a namespace's journal"
        )
    }

    /// Throws a refusal that lists the sequences of requests of one id.
    ///
    /// - Returns: the report, if the replay ended before they were known.
    private static func listSequences(
        of named: [RecordedEntry], _ id: String, _ namespace: String, _ recording: Recording, _ plan: ReplayPlan
    ) async throws -> ReplayReport {
        let search = SequenceSearch(namespace: namespace, wanted: nil)
        let report = try await search.run(Replay(recording), plan)
        if report.difference != nil || search.wasInterrupted { return report }
        let places = search.places.sorted { $0.key < $1.key }
        let lines = places.compactMap { sequence, place -> String? in
            guard let request = named.first(where: { $0.lastPlace == place })?.request else { return nil }
            return "sequence:\(sequence) (\(request.method) \(request.target), \(request.status))"
        }
        throw ReplayRefusal(
            .notFound, "\(named.count) requests have the id \(id)", next: "name one: \(lines.joined(separator: ", "))")
    }
}

/// Finds the numbers of requests in a namespace's journal by replaying a recording.
private final class SequenceSearch: Sendable {
    private let namespace: String
    /// The number that ends the search; `nil` for all.
    private let wanted: Int64?
    private let state = NIOLockedValueBox<(places: [Int64: Int], isStopped: Bool)>(([:], false))

    init(namespace: String, wanted: Int64?) {
        self.namespace = namespace
        self.wanted = wanted
    }

    /// The places of the last jobs of requests, by their numbers.
    var places: [Int64: Int] { state.withLockedValue { $0.places } }

    var wasInterrupted: Bool { state.withLockedValue { $0.isStopped } }

    func run(_ replay: Replay, _ plan: ReplayPlan) async throws -> ReplayReport {
        let report = try await ReplayServer.play(replay, on: try plan.server(of: replay), plan) {
            request, index, namespaces in
            let target = request.place
            guard target.namespace.isIdentical(to: self.namespace), !target.isControl, let id = request.requestID
            else { return }
            // The journal has the request before its answer is sent.
            let isFound = self.note(
                id, replay.lastPlace(index), namespaces.environment.journals.entries(of: self.namespace))
            if isFound { replay.stop() }
        }
        state.withLockedValue { state in
            state.isStopped = replay.isStopped && wanted.map { state.places[$0] == nil } ?? true
        }
        return report
    }

    /// Returns whether the wanted request is found.
    private func note(_ id: String, _ place: Int, _ journal: JournalSnapshot) -> Bool {
        state.withLockedValue { state in
            let found = journal.last { $0.requestID.isIdentical(to: id) && state.places[$0.sequence] == nil }
            guard let found else { return false }
            state.places[found.sequence] = place
            return found.sequence == wanted
        }
    }
}

extension RecordedRequest {
    /// The id in its answer; `nil` if the answer has none.
    fileprivate var requestID: String? {
        // The reader does not check the headers of answers.
        answer_headers.first { $0.count == 2 && $0[0].lowercased() == HTTPField.Name.requestID.canonicalName }?[1]
    }

    fileprivate var namespace: String { place.namespace }

    /// The namespace that it went to, and its path there.
    fileprivate var place: Target {
        var fields = HTTPFields()
        for header in headers where header[0].lowercased() == HTTPField.Name.namespace.canonicalName {
            fields[.namespace] = header[1]
        }
        let request = HTTPRequest(method: .get, scheme: nil, authority: host, path: target, headerFields: fields)
        return Target(target, outsidePath: NamespaceChoice.named(by: request))
    }
}
