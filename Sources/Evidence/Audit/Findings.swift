import Simulation
import SimulationAPI

/// The findings of an audit: occurrences of the same rule on the same route, by the same caller and in the same test, are one.
struct Findings {
    private struct Key: Hashable {
        let rule: TextKey
        let subject: TextKey
        let test: TextKey?
    }

    /// The maximum number of requests that a finding names, and of findings of one rule.
    private static let (maxRequests, maxOfRule) = (10, 100)

    private(set) var all: [AuditReport.Finding] = []
    private var places: [Key: Int] = [:]
    private var counts: [TextKey: Int] = [:]
    let secrets: Secrets
    /// The test whose findings are kept; `nil` for all.
    private let test: String?

    init(_ secrets: Secrets, of test: String?) {
        self.secrets = secrets
        self.test = test
    }

    /// Adds an occurrence.
    ///
    /// - Parameters:
    ///   - subject: what occurrences of one finding have in common: a route and a caller, for instance.
    ///   - requests: those that broke the rule, oldest first.
    ///   - test: the test of the requests; `nil` if they have none.
    ///   - text: what happened, for the first occurrence.
    mutating func add(
        _ rule: AuditRule, _ subject: String, _ requests: [AuditReport.RequestName], test: String?,
        _ text: String
    ) {
        if let wanted = self.test, test?.isIdentical(to: wanted) != true { return }
        var key = Key(rule: TextKey(rule.id), subject: TextKey(subject), test: test.map { TextKey($0) })
        let isFull = counts[key.rule, default: 0] >= Self.maxOfRule
        // What is over the bound is counted in one more finding.
        if isFull, places[key] == nil { key = Key(rule: key.rule, subject: TextKey(""), test: nil) }
        guard let place = places[key] else {
            places[key] = all.count
            counts[key.rule, default: 0] += 1
            all.append(
                AuditReport.Finding(
                    rule: rule.id, level: rule.level,
                    text: isFull ? "more, by other callers or on other routes" : secrets.masked(text: text),
                    count: 1, requests: Array(requests.prefix(Self.maxRequests)), source: rule.source,
                    test: isFull ? nil : test.map { secrets.masked(text: $0) }))
            return
        }
        all[place].count += 1
        for request in requests where all[place].requests.count < Self.maxRequests {
            if !all[place].requests.contains(request) { all[place].requests.append(request) }
        }
    }
}
