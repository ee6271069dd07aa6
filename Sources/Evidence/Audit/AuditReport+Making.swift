import Simulation
import SimulationAPI

/// The judgement of one rule.
struct Judgement {
    /// The number of requests, or of other things, that the rule was applied to.
    var lookedAt = 0
    /// The numbers of requests that could not be judged: without real times, without digests of their secrets, and with bodies that
    /// are cut off.
    var (untimed, undigested, cut) = (0, 0, 0)
    /// The number of requests of which it cannot be told whether one client sent them.
    var untold = 0
    /// Further reasons for which something could not be judged.
    private var notes: [String] = []

    /// Counts a request that has no digests, or a message of it that is cut off.
    mutating func skip(_ request: AuditedRequest, needing message: JournalEntry.Message) {
        if !request.entry.hasDigests { undigested += 1 } else if !message.isWhole { cut += 1 }
    }

    /// Adds a reason for which a number of requests could not be judged; nothing if there are none.
    mutating func skip(_ count: Int, _ reason: String) { notes += Self.skipped(count, reason) }

    /// Adds a reason for which something could not be judged.
    mutating func note(_ reason: String) { notes.append(reason) }

    private static func skipped(_ count: Int, _ reason: String) -> [String] {
        count > 0 ? ["\(count) \(count == 1 ? "request" : "requests"): \(reason)"] : []
    }

    /// Why something could not be judged; `nil` if all was.
    var notJudged: String? {
        let times = "the bundle was written by version 0.2.0 or older, which did not keep them"
        let reasons =
            (untimed > 0 ? ["\(Counted.text(untimed, "request")) without real times: \(times)"] : [])
            + Self.skipped(
                undigested, "written by version 0.2.0 or older, which kept nothing to compare their masked secrets with"
            )
            + Self.skipped(cut, "their bodies were not kept whole (settings journal.body_bytes)") + notes
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension AuditMaterial {
    /// Judges everything that was collected. Takes time in proportion to the journal.
    ///
    /// - Parameter known: the members that the platforms read.
    package func report(_ known: KnownMembers) -> AuditReport {
        var court = Court(material: self, requests: requests())
        var report = AuditReport(findings: [], rules: [])
        for rule in rules {
            court.judge(rule, known)
            if let forgotten, !wereJudged, rule.check.readsJournal {
                court.judgement.note("the journal has forgotten requests up to \(forgotten.display)")
            }
            report.rules.append(
                AuditReport.Rule(
                    id: rule.id, level: rule.level, looked_at: court.judgement.lookedAt,
                    not_judged: court.judgement.notJudged))
        }
        report.findings = court.findings.all
        return report
    }
}

/// Applies the rules to what was collected.
struct Court {
    let material: AuditMaterial
    let requests: [AuditedRequest]
    var findings: Findings
    /// That of the rule which is judged, or was the last.
    var judgement = Judgement()
    /// The places of the requests, by their numbers.
    private let places: [Int64: Int]
    private let routeNames = RouteNames()

    /// The names of routes that were looked up: a finding may have thousands of requests of one.
    private final class RouteNames {
        var known: [TextKey: String] = [:]
    }

    init(material: AuditMaterial, requests: [AuditedRequest]) {
        self.material = material
        self.requests = requests
        findings = Findings(Secrets(material.secrets), of: material.test)
        places = Dictionary(requests.indices.map { (requests[$0].sequence, $0) }) { $1 }
    }

    mutating func judge(_ rule: AuditRule, _ members: KnownMembers) {
        judgement = Judgement()
        switch rule.check {
        case .retryTooSoon(let otherBody): retries(rule, otherBody)
        case .noRetry(let endings): missingRetries(rule, endings)
        case .tokenInURL: tokens(rule)
        case .pageFetchedTwice(let within): pages(rule, within)
        case .unreadMember(let foreign, let shadowed):
            self.members(rule, members, foreign, shadowed)
        case .slowReceiver: slowReceivers(rule)
        case .refusedWebhook: answers(rule, 400...) { "answered \($0) to a delivery that was rightly signed" }
        case .redirectingReceiver: answers(rule, 300..<400) { "answered \($0), a redirect" }
        case .valueReused(let routes, let member): reuses(rule, routes, member)
        case .tokenAfterEnd(let ending): tokens(rule, after: ending)
        case .polling(let routes, let eta, let every): polls(rule, routes, eta, every)
        case .repeatedLogin(let routes, let ending, let token, let expires, let ended, let sessions):
            logins(rule, routes, ending, token, expires, ended, sessions)
        case .refusedWithoutReading(let route, let member, let id, let known):
            refusals(rule, of: route, without: member, id, known)
        case .happened(let kind, let start, let what): happenings(rule, kind, start, what)
        case .unanswered(let kind, let answer, let closing, let member, let within):
            questions(rule, kind, answer, closing, member, within)
        case .repeatedUpload(let routes, let digest): uploads(rule, routes, digest)
        case .oldVersion(let path, let header, let old): versions(rule, path, header, old)
        case .resubmitted: resubmissions(rule)
        }
    }

    // MARK: Names

    /// The request with a number; `nil` if the journal has it no more.
    func request(_ sequence: Int64?) -> AuditedRequest? { sequence.flatMap { places[$0] }.map { requests[$0] } }

    func name(_ request: AuditedRequest) -> AuditReport.RequestName {
        // Clients choose ids, and a token has the form of one.
        AuditReport.RequestName(id: findings.secrets.masked(text: request.entry.requestID), sequence: request.sequence)
    }

    /// The route of a request, as findings group it.
    func route(_ request: AuditedRequest) -> String {
        let asked = TextKey("\(request.entry.method) \(request.path)")
        if let known = routeNames.known[asked] { return known }
        func slashes(_ path: String) -> Int { path.utf8.count { $0 == UInt8(ascii: "/") } }
        let count = slashes(request.path)
        let pattern = material.routes.first { method, path in
            method.isIdentical(to: request.entry.method) && slashes(path.pattern) == count
                && path.matches(request.path)
        }
        let name = "\(request.entry.method) \(pattern?.path.pattern ?? request.path)"
        routeNames.known[asked] = name
        return name
    }

    /// Adds an occurrence that requests of one route make.
    mutating func add(_ rule: AuditRule, _ broken: [AuditedRequest], _ text: String) {
        guard let last = broken.last else { return }
        findings.add(rule, subject(last), broken.map(name), test: last.test, text)
    }

    /// The route and the caller of a request, which occurrences of one finding have in common.
    func subject(_ request: AuditedRequest) -> String { "\(route(request))\n\(request.caller ?? "")" }
}

extension AuditCheck {
    /// Whether the check is about requests of the journal, and not about events or webhooks.
    fileprivate var readsJournal: Bool {
        switch self {
        case .happened, .unanswered, .resubmitted: false
        default: !isOfReceivers
        }
    }
}

extension Span {
    /// The duration in whole milliseconds, for people.
    var rounded: String { Span(microseconds: microseconds / 1000 * 1000).text }
}
