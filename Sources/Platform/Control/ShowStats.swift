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
        var classes: [String: Int] = ["2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0]
        for entry in journal { classes["\(entry.status / 100)xx", default: 0] += 1 }
        return Stats.Requests(
            journaled: journal.count, last_second: journal.count { visit.now - $0.at < .second },
            last_minute: journal.count { visit.now - $0.at < .minute }, by_status: classes,
            limited: journal.count { !$0.known.limits.isEmpty }, faulted: journal.count { $0.known.fault != nil })
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
