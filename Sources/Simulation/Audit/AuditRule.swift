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
    ///
    /// - Parameter endings: the routes after which nothing of the object in their path is repeated. They are no sign that a client
    ///   goes on.
    case noRetry(endings: [AuditRoute])
    /// A token in a path or a query.
    case tokenInURL
    /// The same page of a list, twice.
    ///
    /// - Parameter within: the shortest time after which a page may be fetched again.
    case pageFetchedTwice(within: Span)
    /// A member of a body, or a parameter, that looks like one which the route reads.
    ///
    /// - Parameters:
    ///   - foreign: names that other APIs have, as ``AuditNames/foreign``.
    ///   - shadowed: members that are not read beside others.
    case unreadMember(foreign: [String: String], shadowed: [ShadowedMember])
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
    /// A login although the sessions of earlier ones go on, or after sessions of one call each.
    ///
    /// - Parameters:
    ///   - token: the member of the answer that holds the session's token; those of `expires` hold its ends, in epoch seconds.
    ///   - sessions: the number of sessions that may live side by side.
    ///   - ended: the events of sessions that ended.
    case repeatedLogin(
        [AuditRoute], ending: AuditRoute, token: String, expires: [String], ended: [EventKind], sessions: Int)
    /// A request that was refused because of a state which the client could have read before, and did not, or read as false.
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

/// The names of a platform that rules for every platform need.
package struct AuditNames: Sendable {
    /// Routes whose repetitions have another body.
    package var logins: [AuditRoute] = []
    /// Routes after which nothing of the object in their path is repeated, and those that end a session.
    package var endings: [AuditRoute] = []
    /// Names that other APIs have, in lower case without underscores, with the platform's own name for it.
    package var foreign: [String: String] = [:]
    package var shadowed: [ShadowedMember] = []

    package init(
        logins: [AuditRoute] = [], endings: [AuditRoute] = [], foreign: [String: String] = [:],
        shadowed: [ShadowedMember] = []
    ) {
        (self.logins, self.endings, self.foreign, self.shadowed) = (logins, endings, foreign, shadowed)
    }
}

/// A member of a body that is not read where another one is there.
package struct ShadowedMember: Sendable {
    package let route: AuditRoute
    package let name: String
    /// The member that is read instead, in the object of the body that ``object`` names.
    package let other: String
    package let object: String
    /// A member of the object, with the value without which both are read.
    package let condition: (name: String, value: String)

    package init(
        _ route: AuditRoute, _ name: String, by other: String, in object: String, where condition: (String, String)
    ) {
        (self.route, self.name, self.other, self.object, self.condition) = (route, name, other, object, condition)
    }
}

/// The names that a platform has for submissions and disputes.
package struct AuditResubmission: Sendable {
    /// The event of a submission; the member `username` of its data is the user.
    package let submitted: EventKind
    /// The events that set a result.
    package let decided: [EventKind]
    /// The event of a dispute.
    package let disputed: EventKind
    /// The customer's own id of something submitted, with what it was submitted for, and the results that can be disputed with some
    /// settings; `nil` if it has no such id, or one that a simulator's tests share. The result itself is the member `result` of the
    /// events.
    package let subject: @Sendable (String, Settings, JobContext) throws -> Subject?

    package typealias Subject = (customerID: String, purpose: String, disputable: Set<String>)

    package init(
        submitted: EventKind, decided: [EventKind], disputed: EventKind,
        subject: @escaping @Sendable (String, Settings, JobContext) throws -> Subject?
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
    /// - Parameter names: those of each platform.
    package static func ofEngine(_ names: [AuditNames]) -> [AuditRule] {
        [
            AuditRule(
                "retry-too-soon", .error,
                source: "RFC 9110, 10.2.3: Retry-After is the least time to wait before the next try",
                .retryTooSoon(otherBody: names.flatMap(\.logins))),
            AuditRule(
                "token-in-url", .error,
                source: "RFC 6750, 5.3: tokens do not belong into URLs, which logs and histories keep", .tokenInURL),
            AuditRule(
                "no-retry", .warning,
                source: "RFC 9110, 15.6.4, and RFC 6585, 4: the refusal is for the moment; try again later",
                .noRetry(endings: names.flatMap(\.endings))),
            AuditRule(
                "page-fetched-twice", .warning,
                source: "[D audit]: a page that nothing has changed is the page that the client has",
                .pageFetchedTwice(within: .second)),
            AuditRule(
                "unread-member", .warning,
                source:
                    "[D audit]: the platforms ignore members that they do not know, so a misspelt one has no effect",
                .unreadMember(
                    foreign: names.reduce(into: [:]) { $0.merge($1.foreign) { first, _ in first } },
                    shadowed: names.flatMap(\.shadowed))),
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
