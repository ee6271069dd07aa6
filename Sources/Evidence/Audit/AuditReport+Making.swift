import Simulation
import SimulationAPI

/// The judgement of one rule.
struct Judgement {
    /// The number of requests, or of other things, that the rule was applied to.
    var lookedAt = 0
    /// Why something could not be judged; `nil` if all was.
    var notJudged: String?

    /// Adds a reason for which a number of things could not be judged; nothing if there are none.
    mutating func skip(_ count: Int, _ reason: String) {
        if count > 0 { note("\(count) \(count == 1 ? "request" : "requests"): \(reason)") }
    }

    /// Adds a reason for which something could not be judged.
    mutating func note(_ reason: String) {
        notJudged = notJudged.map { "\($0); \(reason)" } ?? reason
    }

    /// Why requests of bundles of older versions cannot be judged.
    static let undigested =
        "written by version 0.2.0 or older, which kept nothing to compare their masked secrets with"
    /// Why requests whose bodies are cut off cannot be judged.
    static let cut = "their bodies were not kept whole (settings journal.body_bytes)"
}

extension AuditMaterial {
    /// Whether a rule compares members with those that the platforms read.
    package var needsMembers: Bool {
        rules.contains { if case .unreadMember = $0.check { true } else { false } }
    }

    /// Judges everything that was collected. Takes time in proportion to the journal.
    ///
    /// - Parameter known: the members that the platforms read; `nil` if ``needsMembers`` is false.
    package func report(_ known: KnownMembers?) -> AuditReport {
        var court = Court(material: self, requests: requests())
        var report = AuditReport(findings: [], rules: [])
        for rule in rules {
            var judgement = court.judge(rule, known)
            if let forgotten, rule.check.readsJournal {
                judgement.note("the journal has forgotten requests up to \(forgotten.display)")
            }
            report.rules.append(
                AuditReport.Rule(
                    id: rule.id, level: rule.level, looked_at: judgement.lookedAt, not_judged: judgement.notJudged))
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
    /// The places of the requests, by their numbers.
    private let places: [Int64: Int]

    init(material: AuditMaterial, requests: [AuditedRequest]) {
        self.material = material
        self.requests = requests
        findings = Findings(Secrets(material.secrets))
        places = Dictionary(requests.indices.map { (requests[$0].sequence, $0) }) { $1 }
    }

    mutating func judge(_ rule: AuditRule, _ members: KnownMembers?) -> Judgement {
        switch rule.check {
        case .retryTooSoon(let otherBody): retries(rule, otherBody)
        case .noRetry: missingRetries(rule)
        case .tokenInURL: tokens(rule)
        case .pageFetchedTwice(let within): pages(rule, within)
        case .unreadMember: self.members(rule, members ?? KnownMembers([]))
        case .slowReceiver: slowReceivers(rule)
        case .refusedWebhook: refusals(rule)
        case .redirectingReceiver: redirects(rule)
        case .valueReused(let routes, let member): reuses(rule, routes, member)
        case .tokenAfterEnd(let ending): tokens(rule, after: ending)
        case .polling(let routes, let eta, let every): polls(rule, routes, eta, every)
        case .repeatedLogin(let routes, let ending, let token, let expires, let ended, let sessions):
            logins(
                rule, LoginNames(routes: routes, ending: ending, token: token, expires: expires, ended: ended), sessions
            )
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
        let slashes = request.path.utf8.count { $0 == UInt8(ascii: "/") }
        let pattern = material.routes.first { method, path in
            method.isIdentical(to: request.entry.method) && path.matches(request.path)
                && path.pattern.utf8.count { $0 == UInt8(ascii: "/") } == slashes
        }
        return "\(request.entry.method) \(pattern?.path.pattern ?? request.path)"
    }

    /// Adds an occurrence that requests of one route make.
    mutating func add(_ rule: AuditRule, _ broken: [AuditedRequest], _ text: String) {
        guard let last = broken.last else { return }
        findings.add(
            rule, "\(route(last))\n\(last.caller ?? "")", broken.map(name), test: last.test, text)
    }
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
