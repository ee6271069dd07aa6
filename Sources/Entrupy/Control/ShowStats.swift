import EntrupyStorage
import Simulation
import SimulationAPI

/// `GET /_sim/stats`: the current usage, compared with the limits.
package struct ShowStats: Operation, Reads {
    private static let maxUsers = 100

    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> Stats {
        Stats(
            now: job.now.epoch, requests: requests(job), organizations: try organizations(job),
            users: try users(job))
    }

    private func requests(_ job: JobContext) -> Stats.Requests {
        let journal = job.state.environment.journals.entries(of: job.state.name)
        // One pass: this is polled, and there can be 10,000 entries.
        var classes = [2: 0, 3: 0, 4: 0, 5: 0]
        var (lastSecond, lastMinute, limited, faulted) = (0, 0, 0, 0)
        var seconds = Array(repeating: 0, count: 60)
        let second = job.now.microseconds / 1_000_000
        for entry in journal {
            if let status = entry.status { classes[status / 100, default: 0] += 1 }
            if job.now - entry.at < .second { lastSecond += 1 }
            if job.now - entry.at < .minute { lastMinute += 1 }
            let age = second - entry.at.microseconds / 1_000_000
            if (0..<60).contains(age) { seconds[59 - Int(age)] += 1 }
            if !entry.outcome.limits.isEmpty { limited += 1 }
            if entry.outcome.fault != nil { faulted += 1 }
        }
        return Stats.Requests(
            journaled: journal.count, last_second: lastSecond, last_minute: lastMinute, per_second: seconds,
            by_status: Dictionary(uniqueKeysWithValues: classes.map { ("\($0)xx", $1) }), limited: limited,
            faulted: faulted)
    }

    private func organizations(_ job: JobContext) throws -> [Stats.Usage] {
        try job.transaction.organizations().flatMap { organization in
            try job.transaction.apiTokens(organizationID: organization.id).map { token in
                Stats.Usage(
                    organization: organization.name, token: Secrets.shortened(token),
                    last_second: job.state.limits.count(.token(token), at: job.now),
                    limit: job.entrupy.settings.rateLimits.apiPerSecond)
            }
        }
    }

    private func users(_ job: JobContext) throws -> [Stats.UserUsage] {
        let busy = job.state.limits.busyUsers(at: job.now)
        let loggedIn = try job.transaction.usersLoggedIn(after: job.now - .day).map(\.userID)
        let ids = busy.map(\.id) + loggedIn.filter { id in !busy.contains { $0.id == id } }
        return try ids.prefix(Self.maxUsers).compactMap { id in
            guard let user = try job.transaction.user(id: id) else { return nil }
            let limits = try Users.limits(user, job)
            let logins = try job.transaction.logins(userID: id, after: job.now - .day)
            return Stats.UserUsage(
                username: user.username, last_second: job.state.limits.count(.user(id), at: job.now),
                limit: limits.sdkPerSecond, logins_last_minute: logins.count { job.now - $0 < .minute },
                logins_per_minute: limits.loginsPerMinute, logins_last_day: logins.count,
                logins_per_day: limits.loginsPerDay)
        }
    }
}
