import SimulationAPI

extension VerifyJournal {
    /// The members of a condition on one request.
    private static let members = ["route", "method", "status", "delivered", "username", "since", "before", "test"]
    /// The members of a body with a number of requests, and of one with a sequence. Both have `any_route`.
    private static let (ofCount, ofSequence) = (
        ["match", "times", "at_least", "at_most"], ["sequence", "min_gap", "max_gap"]
    )

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: Self.ofCount + ["any_route"] + Self.ofSequence)
        let isAnyRoute = fields.optionalBool("any_route") ?? false
        if fields.value("sequence") == nil {
            for name in Self.ofSequence where fields.value(name) != nil { fields.report(name, "needs a sequence") }
            self = .count(try Self.count(&fields, input.routes, isAnyRoute))
        } else {
            for name in Self.ofCount where fields.value(name) != nil {
                fields.report(name, "cannot be combined with sequence")
            }
            let sequence = RequestSequence(&fields, members: Self.members) { query, step in
                if !isAnyRoute { input.routes.check(routeOf: query, in: "sequence", &step) }
            }
            try fields.finish()
            self = .sequence(VerifySequence(sequence: sequence))
        }
    }

    private static func count(
        _ fields: inout FieldReader, _ routes: KnownRoutes, _ isAnyRoute: Bool
    ) throws -> VerifyRequests {
        var match = fields.object("match", known: members)
        let query = JournalQuery(&match, isJudgement: true)
        if !isAnyRoute { routes.check(routeOf: query, in: "match", &match) }
        let amount = fields.amount()
        try fields.finish()
        return VerifyRequests(
            query: query, minCount: amount.lowerBound, maxCount: amount.upperBound,
            unacceptedMethod: isAnyRoute ? nil : routes.unacceptedMethod(of: query))
    }
}

extension KnownRoutes {
    private static func wayOut(_ member: String) -> String {
        ". Send \"any_route\": true beside \(member) if it is meant"
    }

    /// Reports a route that no route of the platforms matches. It is probably misspelt, and would be verified zero times in every
    /// journal. `member` is the member of the body that has it.
    fileprivate func check(routeOf query: JournalQuery, in member: String, _ match: inout FieldReader) {
        guard let route = query.route, !unsimulated.contains(where: route.overlaps),
            !all.contains(where: { route.overlaps($0.path) })
        else { return }
        // A star of a route is a parameter.
        let routes = NearestRoute(
            all.map { route in
                (route.path.pattern.split(at: "/").map { $0 == "*" ? "{id}" : String($0) }, route.method)
            })
        let nearest = routes.nearest(to: route.pattern.split(at: "/").map(String.init), "")
        let hint = nearest.map { "; the nearest is \($0)" } ?? ""
        match.report(
            "route",
            "matches no route of the platforms, got \"\(route.pattern.excerpt)\"\(hint); GET /_sim/choices lists them"
                + Self.wayOut(member))
    }

    /// The problem of a method that no route of the query accepts; `nil` if one does.
    fileprivate func unacceptedMethod(of query: JournalQuery) -> ErrorDetail? {
        // Browsers ask with OPTIONS about every route.
        guard let route = query.route, !unsimulated.contains(where: route.overlaps), let method = query.method,
            !method.isIdentical(to: "OPTIONS")
        else { return nil }
        let notes = RouteNotes.notes(route, method: method, "match.", all, unsimulated: unsimulated)
        return notes.first { $0.field == "match.method" }.map {
            ErrorDetail($0.field, $0.problem + Self.wayOut("match"))
        }
    }
}
