import Foundation
import SimulationAPI

/// The last requests of a run, as expectations of a scenario.
struct ExpectedRequests {
    private let requests: [JournaledRequest]
    /// The ids that the run made, which differ in the next one.
    private let ids: Set<String>

    /// The maximum number of expectations.
    static let maxParts = 10

    init(_ facts: BundleFacts) {
        requests = facts.requests
        ids = Set(facts.events.map(\.subject)).union(
            facts.items.flatMap { [$0.entrupy_id, $0.capture_id].compactMap { $0 } })
    }

    /// An expectation for each of the last requests, oldest first; equal ones once.
    func parts() -> [ScenarioDraft.Part] {
        var parts: [ScenarioDraft.Part] = []
        var seen: Set<[String]> = []
        for entry in requests.reversed() {
            guard parts.count < Self.maxParts else { break }
            let key = [
                entry.method, route(entry.path), entry.username ?? "", isInQuestion(entry) ? "?" : entry.answerText,
            ]
            guard seen.insert(key).inserted else { continue }
            parts.append(part(for: entry))
        }
        return parts.reversed()
    }

    /// The refusal that neither a fault nor a limit decided, and the loss that no fault caused, are what a run fails of: a person
    /// says what should have come. All else is expected as it was.
    private func part(for entry: JournaledRequest) -> ScenarioDraft.Part {
        let route = route(entry.path)
        var members: [(String, JSONValue)] = [("route", .string(route)), ("method", .string(entry.method))]
        var comments: [String] = []
        let name = entry.sequence.map { "#\($0)" } ?? entry.id
        if let user = entry.username { members.append(("username", .string(user))) }
        guard let status = entry.status else {
            members.append(("delivered", false))
            return ScenarioDraft.Part(
                members, ["\(name) was lost before it was handled, by the fault \(fault(of: entry))."])
        }
        if isInQuestion(entry) {
            members.append(("status", "2xx"))
            members.append(("at_least", .number(JSONNumber(wanted(route, entry)))))
            let because = entry.because.map { ", because \($0)" } ?? ""
            comments.append(
                "CHOOSE: \(name) was \(entry.answerText)\(because). If that is right, expect status \(status).")
        } else {
            members.append(("status", .number(JSONNumber(status))))
            if !entry.delivered {
                members.append(("delivered", false))
                comments.append("\(name) was \(entry.answerText), by the fault \(fault(of: entry)).")
            } else if status >= 400 {
                let decided =
                    entry.decided_by.fault.map { "the fault \($0)" }
                    ?? entry.decided_by.limits.joined(separator: ", ")
                comments.append("\(name) was \(status) by \(decided).")
            }
        }
        return ScenarioDraft.Part(members, comments)
    }

    private func fault(of entry: JournaledRequest) -> String { entry.decided_by.fault ?? "of its rule" }

    private func isInQuestion(_ entry: JournaledRequest) -> Bool {
        let isDecided = entry.decided_by.fault != nil || !entry.decided_by.limits.isEmpty
        return !isDecided && ((entry.status ?? 0) >= 400 || !entry.delivered)
    }

    /// The number of requests like one that should have succeeded: those that did, and those in question.
    private func wanted(_ route: String, _ entry: JournaledRequest) -> Int {
        requests.count { other in
            other.method == entry.method && (entry.username == nil || other.username == entry.username)
                && Self.matches(other.path, route)
                && (isInQuestion(other) || other.delivered && (200..<300).contains(other.status ?? 0))
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

    /// Whether a path matches a glob, in which `*` stands for any text. Takes time linear in both but for repeated parts.
    private static func matches(_ path: String, _ glob: String) -> Bool {
        let parts = glob.split(separator: "*", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let bytes = Array(path.utf8)
        guard parts.count > 1 else { return bytes == parts[0] }
        let (first, last) = (parts[0], parts[parts.count - 1])
        guard bytes.starts(with: first), bytes.count >= first.count + last.count,
            bytes.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = bytes[first.count..<(bytes.count - last.count)]
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
