import EntrupyAPI
import Storage

/// `GET /_sim/stats`: what is asked, against what may be.
package struct ShowStats: OpenOperation {
    package static let access = Access.reads
    /// How many users are listed at most.
    private static let mostUsers = 100

    package init() {}

    package func perform(_ visit: Visit) throws -> Stats {
        Stats(
            now: visit.now.epoch, requests: requests(visit), organizations: try organizations(visit),
            users: try users(visit))
    }

    private func requests(_ visit: Visit) -> Stats.Requests {
        let journal = visit.world.environment.journals.entries(of: visit.world.name)
        // One pass: this is asked again and again, and there can be ten thousand entries.
        var classes = [2: 0, 3: 0, 4: 0, 5: 0]
        var (lastSecond, lastMinute, limited, faulted) = (0, 0, 0, 0)
        for entry in journal {
            classes[entry.status / 100, default: 0] += 1
            if visit.now - entry.at < .second { lastSecond += 1 }
            if visit.now - entry.at < .minute { lastMinute += 1 }
            if !entry.known.limits.isEmpty { limited += 1 }
            if entry.known.fault != nil { faulted += 1 }
        }
        return Stats.Requests(
            journaled: journal.count, last_second: lastSecond, last_minute: lastMinute,
            by_status: Dictionary(uniqueKeysWithValues: classes.map { ("\($0)xx", $1) }), limited: limited,
            faulted: faulted)
    }

    private func organizations(_ visit: Visit) throws -> [Stats.Usage] {
        try visit.transaction.organizations().flatMap { organization in
            try visit.transaction.apiTokens(organizationID: organization.id).map { token in
                Stats.Usage(
                    organization: organization.name, token: Secrets.shortened(token),
                    last_second: visit.world.limits.tokenCount(token, at: visit.now),
                    limit: visit.settings.rateLimits.apiPerSecond)
            }
        }
    }

    private func users(_ visit: Visit) throws -> [Stats.UserUsage] {
        let busy = visit.world.limits.busyUsers(at: visit.now)
        let loggedIn = try visit.transaction.usersLoggedIn(after: visit.now - .day).map(\.userID)
        let ids = busy.map(\.id) + loggedIn.filter { id in !busy.contains { $0.id == id } }
        return try ids.prefix(Self.mostUsers).compactMap { id in
            guard let user = try visit.transaction.user(id: id) else { return nil }
            let limits = try Users.limits(user, visit)
            let logins = try visit.transaction.logins(userID: id, after: visit.now - .day)
            return Stats.UserUsage(
                username: user.username, last_second: visit.world.limits.userCount(id, at: visit.now),
                limit: limits.sdkPerSecond, logins_last_minute: logins.count { visit.now - $0 < .minute },
                logins_per_minute: limits.loginsPerMinute, logins_last_day: logins.count,
                logins_per_day: limits.loginsPerDay)
        }
    }
}
