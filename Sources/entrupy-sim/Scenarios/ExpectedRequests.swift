import Foundation
import Server
import SimulationAPI

/// The last requests of a run, as expectations of a scenario. What a fault or a limit decided is never one.
struct ExpectedRequests {
    private let requests: [JournaledRequest]
    /// The ids that the run made, which differ in the next one.
    private let ids: Set<String>
    /// The faults that end by themselves, or were removed: a request that comes after them is answered.
    private let passingFaults: Set<String>
    /// The routes and methods of which the run's own scenario expects no request.
    private let forbidden: [(route: ServerGlob, method: String?)]
    /// The expectations, oldest request first.
    private(set) var parts: [ScenarioDraft.Part] = []
    /// Sentences about requests that are not expected, and need a decision.
    private(set) var comments: [String] = []

    /// The maximum number of expectations.
    static let maxParts = 10

    /// - Parameter expected: what the run's own scenario expects.
    init(_ facts: BundleFacts, beside expected: [JSONValue]) {
        requests = facts.requests
        forbidden = expected.compactMap(\.members).filter { $0["times"] == 0 || $0["at_most"] == 0 }.compactMap {
            members in
            // A star crosses slashes here: a little more than the scenario names is not expected.
            members["route"]?.text.map { (ServerGlob($0), members["method"]?.text) }
        }
        ids = Set(facts.events.map(\.subject)).union(
            facts.items.flatMap { [$0.entrupy_id, $0.capture_id].compactMap { $0 } })
        let (added, removed) = (
            facts.events.filter { $0.kind == "fault.added" }, facts.events.filter { $0.kind == "fault.removed" }
        )
        passingFaults = Set(
            added.filter { event in
                let rule = event.data.members?["rule"]?.members ?? [:]
                return ["times", "probability"].contains { rule[$0] ?? .null != .null }
            }.map(\.subject) + removed.flatMap { $0.subject == "*" ? added.map(\.subject) : [$0.subject] })
        choose()
    }

    /// Chooses an expectation for each of the last requests; equal ones once.
    private mutating func choose() {
        var seen: Set<[String]> = []
        var answered: Set<[String]> = []
        for entry in requests.reversed() {
            guard parts.count + comments.count < Self.maxParts else { break }
            let isForbidden = forbidden.contains { route, method in
                (method ?? entry.method) == entry.method && route.matches(entry.path)
            }
            if isForbidden { continue }
            let name = [entry.method, entry.path]
            if isSuccess(entry) { answered.formUnion([name, name + [entry.username ?? ""]]) }
            // A refusal after which the client came again, and was answered, is none that it failed of.
            guard !isDecided(entry) || !answered.contains(name + (entry.username.map { [$0] } ?? [])) else { continue }
            let kind = isDecided(entry) ? "!" : isInQuestion(entry) ? "?" : entry.answerText
            guard seen.insert([entry.method, route(entry.path), entry.username ?? "", kind]).inserted else { continue }
            if isDecided(entry) { addDecided(entry) } else { parts.append(part(for: entry)) }
        }
        parts.reverse()
        comments.reverse()
    }

    /// The refusal that nothing decided, and the loss that no fault caused, are what a run fails of: a person says what should have
    /// come. Other answers are expected as they were.
    private func part(for entry: JournaledRequest) -> ScenarioDraft.Part {
        guard isInQuestion(entry) else {
            return ScenarioDraft.Part(members(entry, status: .number(JSONNumber(entry.status ?? 0))))
        }
        let because = entry.because.map { ", because \($0)" } ?? ""
        return ScenarioDraft.Part(
            members(entry, status: "2xx", atLeast: count(entry) { isInQuestion($0) || isAnswered($0) }),
            [
                "CHOOSE: \(name(entry)) was \(entry.answerText)\(because). If that is right, expect \(expectation(of: entry))."
            ])
    }

    /// Adds what the client should have reached after a fault or a limit, where that is known, and else a sentence.
    ///
    /// Another client may need fewer requests that a limit counts, so only the first answer is known then.
    private mutating func addDecided(_ entry: JournaledRequest) {
        // An injected success is no failure.
        let isHandled = !effects(entry).isDisjoint(with: SimulatedEffects.proving(.handling))
        guard !isAnswered(entry) || isHandled else { return }
        let answered = count(entry) { isAnswered($0) }
        let (decided, isKnown) =
            if let fault = entry.decided_by.fault {
                ("the fault \(fault)", passingFaults.contains(fault))
            } else {
                (entry.decided_by.limits.joined(separator: ", "), answered == 0)
            }
        let text = "CHOOSE: \(name(entry)) was \(entry.answerText), by \(decided)"
        guard isKnown else {
            comments.append("\(text), and is not expected. Expect what your client should do then.")
            return
        }
        parts.append(
            ScenarioDraft.Part(
                members(entry, status: "2xx", atLeast: answered + 1),
                ["\(text). If your client need not try again, remove this."]))
    }

    private func members(_ entry: JournaledRequest, status: JSONValue, atLeast: Int? = nil) -> [(String, JSONValue?)] {
        [
            ("route", .string(route(entry.path))), ("method", .string(entry.method)),
            ("username", entry.username.map { .string($0) }), ("status", status),
            ("at_least", atLeast.map { .number(JSONNumber($0)) }),
        ]
    }

    private func name(_ entry: JournaledRequest) -> String { entry.sequence.map { "#\($0)" } ?? entry.id }

    private func expectation(of entry: JournaledRequest) -> String {
        [entry.status.map { "status \($0)" }, entry.delivered ? nil : "delivered false"].compactMap(\.self)
            .joined(separator: " and ")
    }

    // MARK: What decided

    private func effects(_ entry: JournaledRequest) -> Set<String> { Set((entry.effect ?? [:]).keys) }

    /// Whether a fault or a limit decided what the client got.
    private func isDecided(_ entry: JournaledRequest) -> Bool {
        guard entry.decided_by.fault != nil else { return !entry.decided_by.limits.isEmpty }
        let isRefused = (entry.status ?? 0) >= 400
        guard entry.delivered, entry.effect != nil else { return !entry.delivered || isRefused }
        // The answer to a held request is its own where nobody released it otherwise.
        return !effects(entry).isSubset(of: SimulatedEffects.proving(.answer).union(isRefused ? [] : ["hold"]))
    }

    private func isInQuestion(_ entry: JournaledRequest) -> Bool {
        !isDecided(entry) && ((entry.status ?? 0) >= 400 || !entry.delivered)
    }

    private func isAnswered(_ entry: JournaledRequest) -> Bool {
        entry.delivered && (200..<300).contains(entry.status ?? 0)
    }

    private func isSuccess(_ entry: JournaledRequest) -> Bool { !isDecided(entry) && !isInQuestion(entry) }

    /// The number of requests like one.
    private func count(_ entry: JournaledRequest, _ condition: (JournaledRequest) -> Bool) -> Int {
        let route = ServerGlob(route(entry.path))
        return requests.count { other in
            other.method == entry.method && (entry.username == nil || other.username == entry.username)
                && route.matches(other.path) && condition(other)
        }
    }

    // MARK: Routes

    /// A path as a glob: `*` stands for the ids that the run made and for hashes.
    func route(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            let text = part.removingPercentEncoding ?? String(part)
            let isHash = text.utf8.count == 64 && text.utf8.allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
            return isHash || ids.contains(text) ? "*" : String(part)
        }.joined(separator: "/")
    }
}
