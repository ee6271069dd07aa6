import Foundation
import Simulation
import SimulationAPI

struct ReplayedAnswer: Sendable {
    let status: Int
    let headers: [[String]]
    let body: Data
    /// The reason why there is no answer; `nil` if there is one.
    var failure: String?
}

/// Compares the answer of a replay with the recorded one.
struct AnswerComparison {
    private let request: RecordedRequest
    private let isControl: Bool
    private let path: String

    /// The headers that are compared. `Date` and headers about the connection are not.
    private static let headers = [
        "content-type", "retry-after", "x-request-id", "www-authenticate", "allow", "location", "content-disposition",
    ]
    /// Routes whose answers depend on the machine or on durations. Their bodies are not compared.
    private static let volatilePaths = [
        "/_sim/info", "/_sim/metrics", "/_sim/stats", "/_sim/requests", "/_sim/namespaces", "/_sim/bundle",
        "/_sim/events", "/_sim/coverage",
        "/_sim/ready",
    ]
    private static let volatileMembers: Set = [
        "database_bytes", "duration_ms", "ended_real", "held_back", "started_real", "uptime",
    ]
    /// The route to wait for settling. The number of times it reads the clock depends on the machine's speed.
    private static let settlePath = "/_sim/settle"

    init(_ request: RecordedRequest) {
        self.request = request
        var path = request.target.prefix { $0 != "?" }
        if path.hasPrefix("/ns/") { path = path.dropFirst(4).drop { $0 != "/" } }
        self.path = String(path)
        isControl = self.path.hasPrefix("/_sim")
    }

    var comparesBody: Bool {
        request.answer != nil && request.unrepeatable != true && !Self.volatilePaths.contains { path.hasPrefix($0) }
    }

    /// The lines that differ; empty if the answers are equal.
    func differences(_ answer: ReplayedAnswer) -> [String] {
        if let failure = answer.failure { return ["- \(request.status)", "+ no answer: \(failure)"] }
        guard request.unrepeatable != true else { return [] }
        var was = ["status: \(request.status)"]
        var now = ["status: \(answer.status)"]
        for name in Self.headers {
            was += values(request.answer_headers, name)
            now += values(answer.headers, name)
        }
        if comparesBody, let recorded = request.answer?.data, recorded != answer.body {
            was += lines(recorded)
            now += lines(answer.body)
        }
        return Self.difference(was, now)
    }

    private func values(_ headers: [[String]], _ name: String) -> [String] {
        headers.filter { $0.count == 2 && $0[0].lowercased() == name }.map { header in
            "\(name): \(name == "x-request-id" ? Self.requestID(header[1]) : header[1])"
        }
    }

    /// Replaces request ids that do not come from a namespace's counter of platform requests. They depend on what
    /// else the process did.
    private static func requestID(_ id: String) -> String {
        id.hasPrefix("ctl_") ? "ctl_…" : id.hasPrefix("srv_") ? "srv_…" : id
    }

    /// Members of control answers that are not compared.
    private var leftOut: Set<String> {
        // Scenario results depend on the journal, and so on which of several requests ended first.
        path == Self.settlePath
            ? Self.volatileMembers.union(["clock"])
            : path.hasPrefix("/_sim/scenarios/")
                ? Self.volatileMembers.union(["found", "passed", "problem", "nearest", "verified", "details", "error"])
                : Self.volatileMembers
    }

    private func lines(_ body: Data) -> [String] {
        guard let value = try? WireJSON.decode(JSONValue.self, from: body) else {
            return body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        var lines: [String] = []
        write(value, "", &lines)
        return lines
    }

    /// Whether a member is the text of an error, which a later release may word better [D replay-wording].
    private func isWording(_ key: String, _ path: String) -> Bool {
        guard request.status >= 400 else { return false }
        return path.isEmpty ? key == "error" : key == "problem" && path.hasPrefix("details[")
    }

    /// Writes one line for each value, with its path.
    private func write(_ value: JSONValue, _ path: String, _ lines: inout [String]) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for key in members.keys.sorted()
            where !(isControl && leftOut.contains(key)) && !isWording(key, path) {
                write(members[key] ?? .null, path.isEmpty ? key : "\(path).\(key)", &lines)
            }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                write(element, "\(path)[\(index)]", &lines)
            }
        case .string(let text) where path.hasSuffix("request_id"): lines.append("\(path): \(Self.requestID(text))")
        default:
            // A value that was decoded encodes again.
            lines.append("\(path): \((try? WireJSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "")")
        }
    }

    /// The maximum number of lines shown of a difference.
    private static let maxLines = 40
    /// The number of lines compared after the first difference. The cost grows with its square.
    private static let window = 500

    private static func difference(_ old: [String], _ new: [String]) -> [String] {
        // By bytes: a composed and a decomposed letter are different answers.
        let same = zip(old, new).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        guard same < max(old.count, new.count) else { return [] }
        let (was, now) = (old[same...].prefix(window), new[same...].prefix(window))
        let changes = Array(now).difference(from: Array(was)) { $0.utf8.elementsEqual($1.utf8) }
        let lines = changes.removals.map(line) + changes.insertions.map(line)
        let more = max(old.count, new.count) - same > window ? ["… and perhaps more"] : []
        return Array(lines.prefix(maxLines))
            + (lines.count > maxLines ? ["… and \(lines.count - maxLines) more"] : more)
    }

    private static func line(_ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .remove(_, let text, _): "- \(text)"
        case .insert(_, let text, _): "+ \(text)"
        }
    }
}
