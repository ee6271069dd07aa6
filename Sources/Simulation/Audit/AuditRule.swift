import SimulationAPI

/// A kind of misuse that an audit looks for [D audit].
///
/// A rule is data: how it is counted and judged is the business of the module `Evidence`.
package struct AuditRule: Sendable {
    /// The name, for instance `retry-too-soon`.
    package let id: String
    package let level: AuditReport.Level
    /// The document that says what a client should do, and what that is.
    package let source: String
    package let check: AuditCheck

    package init(_ id: String, _ level: AuditReport.Level, source: String, _ check: AuditCheck) {
        self.id = id
        self.level = level
        self.source = source
        self.check = check
    }
}

/// A method and a path of a platform.
package struct AuditRoute: Sendable {
    package let method: String
    package let path: Glob

    /// - Parameter route: such as `POST /sdk/captures/*/submit`, in which a star or a `{name}` stands for one part of the path.
    package init(_ route: String) {
        let parts = route.split(separator: " ", maxSplits: 1)
        method = String(parts.first ?? "")
        path = Glob(route: String(parts.last ?? ""))
    }

    /// Whether a request is one of the route.
    ///
    /// - Parameter path: without redundant slashes.
    package func matches(_ method: String, _ path: String) -> Bool {
        self.method.isIdentical(to: method) && self.path.matches(path)
            && path.utf8.count(where: { $0 == UInt8(ascii: "/") })
                == self.path.pattern.utf8.count(where: { $0 == UInt8(ascii: "/") })
    }
}

/// The ways in which a rule can be broken, with the names that a platform has for what they are about.
package enum AuditCheck: Sendable {
    /// A refused request that was made again before its `Retry-After` was over.
    ///
    /// - Parameter otherBody: the routes whose repetitions have another body.
    case retryTooSoon(otherBody: [AuditRoute])
    /// A request that could be repeated, was refused for the moment, and was never repeated.
    case noRetry
    /// A token in a path or a query.
    case tokenInURL
    /// The same page of a list, twice.
    ///
    /// - Parameter within: the shortest time after which a page may be fetched again.
    case pageFetchedTwice(within: Span)
    /// A member of a body, or a parameter, that looks like one which the route reads.
    case unreadMember
    /// A receiver that takes more than half of the time after which a delivery fails.
    case slowReceiver
    /// A receiver that refused a rightly signed delivery.
    case refusedWebhook
    /// A receiver that answered with a redirect.
    case redirectingReceiver
    /// A member of a body whose value may be used once only, used again after it was accepted.
    case valueReused([AuditRoute], member: String)
    /// A token that was used after its client gave it back.
    case tokenAfterEnd(ending: AuditRoute)
    /// An answer that is not ready, asked for too often before the time that it named.
    ///
    /// - Parameters:
    ///   - routes: those whose answers have an `eta`.
    ///   - eta: the ways through the answer to the time, in epoch seconds.
    case polling([AuditRoute], eta: [[String]], every: Span)
    /// A login although the sessions of earlier ones go on.
    ///
    /// - Parameters:
    ///   - token: the member of the answer that holds the session's token; `expires` holds its end, in epoch seconds.
    ///   - sessions: the number of sessions that may live side by side.
    ///   - ended: the events of sessions that ended.
    case repeatedLogin(
        [AuditRoute], ending: AuditRoute, token: String, expires: String, ended: [EventKind], sessions: Int)
    /// A request that was refused because of a state which the client could have read before.
    ///
    /// - Parameters:
    ///   - route: its path holds the object's id before its last part.
    ///   - member: the member of answers that tells it; `id` is the member that names the object beside it.
    ///   - known: the kind of the event with which the object begins.
    case refusedWithoutReading(AuditRoute, member: String, id: String, known: EventKind)
    /// An event that should not happen.
    case happened(EventKind, of: EventKind, what: String)
    /// A question that was not answered in time.
    ///
    /// - Parameters:
    ///   - closing: the events of the same subject after which no answer is needed.
    ///   - member: the member of both events that holds the question's id.
    case unanswered(EventKind, answer: EventKind, closing: [EventKind], member: String, within: Span)
    /// Bytes that were sent again although they had arrived.
    ///
    /// - Parameter digest: the member of the answer that tells the bytes.
    case repeatedUpload([AuditRoute], digest: String)
    /// An old version in a header.
    case oldVersion(path: Glob, header: String, old: [String])
    /// Something submitted again, although there was a way to dispute its result.
    case resubmitted(AuditResubmission)
}

/// The names that a platform has for submissions and disputes.
package struct AuditResubmission: Sendable {
    /// The event of a submission; the member `username` of its data is the user.
    package let submitted: EventKind
    /// The events that set a result.
    package let decided: [EventKind]
    /// The event of a dispute.
    package let disputed: EventKind
    /// The customer's own id of something submitted, with what it was submitted for, and the results that can be disputed; `nil` if
    /// it has no such id, or one that a simulator's tests share. The result itself is the member `result` of the events.
    package let subject: @Sendable (String, JobContext) throws -> Subject?

    package typealias Subject = (customerID: String, purpose: String, disputable: Set<String>)

    package init(
        submitted: EventKind, decided: [EventKind], disputed: EventKind,
        subject: @escaping @Sendable (String, JobContext) throws -> Subject?
    ) {
        self.submitted = submitted
        self.decided = decided
        self.disputed = disputed
        self.subject = subject
    }
}

extension AuditRule {
    /// The names of the members of bodies that are secrets, and are compared.
    var secretMembers: [String] {
        switch check {
        case .valueReused(_, let member): [member]
        case .repeatedLogin(_, _, let token, _, _, _): [token]
        default: []
        }
    }

    /// The rules that hold for every platform.
    ///
    /// - Parameter logins: routes whose repetitions have another body.
    package static func ofEngine(logins: [AuditRoute]) -> [AuditRule] {
        [
            AuditRule(
                "retry-too-soon", .error,
                source: "RFC 9110, 10.2.3: Retry-After is the least time to wait before the next try",
                .retryTooSoon(otherBody: logins)),
            AuditRule(
                "token-in-url", .error,
                source: "RFC 6750, 5.3: tokens do not belong into URLs, which logs and histories keep", .tokenInURL),
            AuditRule(
                "no-retry", .warning,
                source: "RFC 9110, 15.6.4, and RFC 6585, 4: the refusal is for the moment; try again later", .noRetry),
            AuditRule(
                "page-fetched-twice", .warning,
                source: "[D audit]: a page that nothing has changed is the page that the client has",
                .pageFetchedTwice(within: .second)),
            AuditRule(
                "unread-member", .warning,
                source:
                    "[D audit]: the platforms ignore members that they do not know, so a misspelt one has no effect",
                .unreadMember),
            AuditRule(
                "slow-receiver", .warning,
                source: "[D audit]: a delivery fails after 10 s, so answer first and work afterwards", .slowReceiver),
            AuditRule(
                "refused-webhook", .warning,
                source: "[P]: a delivery that is not answered with 2xx is repeated, and at last given up",
                .refusedWebhook),
            AuditRule(
                "redirecting-receiver", .warning,
                source: "[D audit]: redirects are not followed; subscribe the address that answers",
                .redirectingReceiver),
        ]
    }
}
