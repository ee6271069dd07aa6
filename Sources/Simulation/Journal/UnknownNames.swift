import SimulationAPI
import Storage

/// A kind of name in a query that may be misspelt, so that no request ever has it [D request-verification].
package enum QueryName: String, CaseIterable, Sendable {
    case route, user, test, item, region, status

    /// The member that says that a name nobody has is meant, such as `any_user`.
    package var member: String { "any_\(rawValue)" }
    package static let members = allCases.map(\.member)
}

extension FieldReader {
    /// The kinds whose names may be ones that nobody has.
    package mutating func anyNames(_ kinds: [QueryName] = QueryName.allCases) -> Set<QueryName> {
        Set(kinds.filter { optionalBool($0.member) ?? false })
    }
}

/// The names in a query that nobody has. That no request was found says nothing if there is one.
struct UnknownNames {
    let query: JournalQuery
    let allowed: Set<QueryName>
    /// The path of the query's members in the body, such as `match.`, and the name of what the members of ``QueryName`` stand beside;
    /// `nil` in a filter, which has none of them.
    let place: (prefix: String, neighbour: String?)

    /// The problems; empty if a request can match. Takes time in proportion to the journal.
    ///
    /// - Parameter isOfRouteAlone: whether other names than the route and its method do not matter, since no absence is judged.
    func problems(_ job: JobContext, ofRouteAlone isOfRouteAlone: Bool) throws -> [ErrorDetail] {
        let known = job.state.environment.routes
        var problems = routeProblems(known)
        if isOfRouteAlone { return problems }
        if let username = query.username, !allowed.contains(.user), try job.transaction.user(username: username) == nil,
            !job.journal.contains(where: { $0.outcome.username?.isIdentical(to: username) ?? false })
        {
            problems.append(problem(.user, "username", "is no user of the namespace, got \"\(username.excerpt)\""))
        }
        if let test = query.test, !allowed.contains(.test),
            !job.journal.contains(where: { $0.test?.isIdentical(to: test) ?? false })
        {
            problems.append(problem(.test, "test", "is no test that has sent a request, got \"\(test.excerpt)\""))
        }
        guard problems.isEmpty, query.method.map({ !["HEAD", "OPTIONS"].contains($0) }) ?? true else { return problems }
        let met = known.all.filter { route in
            (query.route?.overlaps(route.path) ?? true) && query.method.map { $0.isIdentical(to: route.method) } ?? true
        }
        guard !met.isEmpty else { return problems }
        let asked = job.journal.filter { entry in query.route?.matches(RoutePath.plain(entry.path)) ?? true }
        if asked.isEmpty, let problem = try partProblem(met, job) { problems.append(problem) }
        if let status = query.status, !allowed.contains(.status),
            !asked.contains(where: { status.matches($0.status) }),
            try !Rules<FaultRule>.all(job).contains(where: { $0.answers(status) })
        {
            let statuses = known.statuses(of: met)
            if !statuses.isEmpty, !statuses.contains(where: { status.matches($0) }) {
                problems.append(
                    problem(
                        .status, "status",
                        "is none that \(query.route?.pattern ?? "a route") answers, got \(status.text); it answers "
                            + statuses.map(String.init).joined(separator: ", ")))
            }
        }
        return problems
    }

    /// A route or a method that no route has.
    private func routeProblems(_ known: KnownRoutes) -> [ErrorDetail] {
        // Browsers ask with OPTIONS about every route.
        guard let route = query.route, !allowed.contains(.route), !known.all.isEmpty,
            !known.unsimulated.contains(where: route.overlaps)
        else { return [] }
        let method = query.method.flatMap { $0.isIdentical(to: "OPTIONS") ? nil : $0 }
        return RouteNotes.notes(route, method: method, place.prefix, known.all, unsimulated: known.unsimulated)
            .map { ErrorDetail($0.field, "is wrong: " + $0.problem + wayOut(.route)) }
    }

    /// The problem of an item or a region in the path, if no route can have it there.
    private func partProblem(_ routes: [KnownRoute], _ job: JobContext) throws -> ErrorDetail? {
        guard let pattern = query.route else { return nil }
        var first: ErrorDetail?
        for route in routes {
            var unknown: ErrorDetail?
            for (parameter, value) in route.named(by: pattern) where unknown == nil {
                for platform in job.state.environment.platforms.all {
                    guard let (name, text) = try platform.paths.unknown(value, parameter, route.path.pattern, job)
                    else { continue }
                    if allowed.contains(name) { return nil }
                    unknown = problem(name, "route", "\(text), got \"\(value.excerpt)\"")
                }
            }
            guard let unknown else {
                // Any text may be looked up. A pattern such as **/submitt, which names nothing of the route, does not mean that.
                if pattern.crossesSlashes, !route.hasPart(of: pattern) { continue }
                return nil
            }
            first = first ?? unknown
        }
        return first
    }

    private func problem(_ name: QueryName, _ field: String, _ text: String) -> ErrorDetail {
        ErrorDetail(place.prefix + field, text + wayOut(name))
    }

    private func wayOut(_ name: QueryName) -> String {
        ". \(place.neighbour.map(name.wayOut) ?? "Send \(name.member)=true if it is meant")"
    }
}

extension JournalQuery {
    /// The filter of a list, with the username of the user whom it names.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` for a route, an item, a region or a user that nothing has, and for a text with a secret, whose list
    ///   would look like one of a client that did not ask [D control-filters].
    func known(_ job: JobContext, allowing allowed: Set<QueryName>) throws -> JournalQuery {
        var known = self
        // Other parts are compared with what came, texts with what is shown.
        var searched = JournalQuery()
        searched.text = text
        let secrets = searched.secretProblems(try job.state.readSecrets(job.transaction), "", mayBeMasked: true)
        guard secrets.isEmpty else { throw PlatformError.invalid(secrets) }
        if let username, !allowed.contains(.user),
            !job.journal.contains(where: { $0.outcome.username?.isIdentical(to: username) ?? false })
        {
            known.username = try NamedUser.find(username, job).username
        }
        guard let route, !job.journal.contains(where: { route.matches(RoutePath.plain($0.path)) }) else { return known }
        var asked = JournalQuery()
        (asked.route, asked.method) = (route, method)
        let problems = try UnknownNames(query: asked, allowed: allowed, place: ("", nil)).problems(
            job, ofRouteAlone: false)
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
        return known
    }

    /// The problems of parts that name a secret. Journals show secrets masked, so whether one was sent cannot be asked
    /// [D request-verification].
    ///
    /// - Parameters:
    ///   - prefix: the path of the query's members in the body.
    ///   - mayBeMasked: whether parts may have the mask, for lists of what the journal shows.
    func secretProblems(_ known: KnownSecrets, _ prefix: String, mayBeMasked: Bool = false) -> [ErrorDetail] {
        let secrets = Secrets(known)
        let parts = [("route", route?.pattern), ("username", username), ("test", test), ("text", text?.text)]
        return parts.compactMap { name, value in
            guard let value,
                !mayBeMasked && value.contains(Secrets.mask) || !secrets.masked(text: value).isIdentical(to: value)
            else { return nil }
            return ErrorDetail(
                prefix + name,
                "names a secret, which journals mask, so that it can match nothing; ask by route, username or test, without the secret. "
                    + "Secrets in URLs are found by the audit's rule token-in-url (GET /_sim/audit)"
            )
        }
    }
}

extension QueryName {
    package func wayOut(beside neighbour: String) -> String {
        "Send \"\(member)\": true beside \(neighbour) if it is meant"
    }
}
