import SimulationAPI

extension VerifyJournal {
    /// The members of a condition on one request.
    private static let members = ["route", "method", "status", "delivered", "username", "since", "before", "test"]
    /// The members of a body with a number of requests, and of one with a sequence. Both have those of ``QueryName``.
    private static let (ofCount, ofSequence) = (
        ["match", "times", "at_least", "at_most"], ["sequence", "min_gap", "max_gap"]
    )

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: Self.ofCount + QueryName.members + Self.ofSequence)
        let allowed = fields.anyNames()
        if fields.value("sequence") == nil {
            for name in Self.ofSequence where fields.value(name) != nil { fields.report(name, "needs a sequence") }
            self = .count(try Self.count(&fields, input.routes, allowed))
        } else {
            for name in Self.ofCount where fields.value(name) != nil {
                fields.report(name, "cannot be combined with sequence")
            }
            let sequence = RequestSequence(&fields, members: Self.members) { query, step in
                if !allowed.contains(.route) { input.routes.check(routeOf: query, in: "sequence", &step) }
            }
            try fields.finish()
            self = .sequence(VerifySequence(sequence: sequence))
        }
    }

    private static func count(
        _ fields: inout FieldReader, _ routes: KnownRoutes, _ allowed: Set<QueryName>
    ) throws -> VerifyRequests {
        let nulls = fields.members("match")?.filter { $0.value == .null }.keys.sorted() ?? []
        var match = fields.object("match", known: members)
        for name in nulls where name.isOne(of: members) { match.report(name, "must not be null; leave it out") }
        let query = JournalQuery(&match, isJudgement: true)
        if !allowed.contains(.route) { routes.check(routeOf: query, in: "match", &match) }
        let amount = fields.amount()
        try fields.finish()
        return VerifyRequests(
            amount: amount,
            names: UnknownNames(query: query, allowed: allowed, place: ("match.", "match")))
    }
}

extension KnownRoutes {
    /// Reports a route that no route of the platforms matches. It is probably misspelt, and would be verified zero times in every
    /// journal. `member` is the member of the body that has it.
    fileprivate func check(routeOf query: JournalQuery, in member: String, _ match: inout FieldReader) {
        guard let route = query.route, !unsimulated.contains(where: route.overlaps),
            !all.contains(where: { route.overlaps($0.path) })
        else { return }
        let routes = NearestRoute(
            all.map { route in
                (route.parts.map { $0.first == "{" ? "{id}" : String($0) }, route.method)
            })
        let nearest = routes.nearest(to: route.pattern.split(at: "/").map(String.init), "")
        let hint = nearest.map { "; the nearest is \($0)" } ?? ""
        match.report(
            "route",
            "matches no route of the platforms, got \"\(route.pattern.excerpt)\"\(hint); GET /_sim/choices lists them"
                + ". \(QueryName.route.wayOut(beside: member))")
    }
}
