import EntrupyAPI
import Foundation
import SimulationAPI

/// The users with their budgets, the sessions, and the requests per second against the limits.
enum UsersPage {
    private static let rows = 50

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let users = try await api.get(
            "users", [("limit", "\(rows)"), ("cursor", request.given("cursor"))], as: UserInfoList.self)
        let sessions = try await api.get("sessions", [("limit", "\(rows)")], as: ActiveSessionList.self)
        let stats = try await api.get("stats", as: Stats.self)
        let now = stats.now
        var view: View = [
            "rows": users.users.map { user($0, now: now, request) }, "hasRows": !users.users.isEmpty,
            "isEmpty": users.users.isEmpty, "hasNext": users.next_cursor != nil,
            "nextLink": "\(request.console)/users" + Link.query([("cursor", users.next_cursor)]),
            "sessions": sessions.sessions.map { session($0, now: now, request) },
            "hasSessions": !sessions.sessions.isEmpty, "sessionTotal": sessions.total,
            "sessionsPath": "\(request.base)/_sim/sessions",
            "lastSecond": stats.requests.last_second, "lastMinute": stats.requests.last_minute,
            "limited": stats.requests.limited, "faulted": stats.requests.faulted,
        ]
        view["organizations"] = stats.organizations.map { usage -> View in
            [
                "organization": usage.organization, "token": usage.token, "used": usage.last_second,
                "hasLimit": usage.limit != nil, "limit": usage.limit ?? 0,
                "isFull": usage.last_second >= usage.limit ?? .max,
            ]
        }
        let limit = stats.organizations.compactMap(\.limit).max()
        view["bars"] = bars(stats.requests.per_second, limit: limit)
        view["shellURL"] = Shell.quoted(request.url)
        return PagePart(section: "users", title: "Users and limits", template: "users", view: view)
    }

    /// The chart of the requests in each of the last 60 seconds. Its places are parts of its width, so it is as wide as its page and
    /// its texts keep their size.
    private static func bars(_ counts: [Int], limit: Int?) -> [View] {
        let most = max(counts.max() ?? 0, limit ?? 0, 1)
        let height = 90.0
        let slots = Double(max(1, counts.count))
        func percent(_ part: Double) -> String { String(format: "%.3f", part * 100) }
        func y(_ count: Int) -> Double { height - Double(count) / Double(most) * (height - 14) }
        return [
            [
                "barList": counts.enumerated().map { index, count -> View in
                    [
                        "barX": percent(Double(index) / slots), "barWidth": percent(0.75 / slots),
                        "barY": String(format: "%.1f", y(count)),
                        "barHeight": String(format: "%.1f", height - y(count)),
                        "barText": "\(count) requests, \(59 - index) s ago",
                    ]
                },
                "height": "\(Int(height) + 22)", "textY": "\(Int(height) + 18)",
                "hasLimitLine": limit != nil, "limitY": String(format: "%.1f", y(limit ?? 0)),
                "limitText": "limit \(limit ?? 0) a second", "most": most,
                "chartText": "Requests in each of the last 60 seconds, at most \(counts.max() ?? 0) in one second",
            ]
        ]
    }

    static func user(_ user: UserInfo, now: Double, _ request: ConsoleRequest) -> View {
        [
            "key": user.username, "user": user.username,
            "link": "\(request.console)/users/\(Link.escaped(user.username))", "email": user.email ?? "",
            "organization": user.organization, "sessionCount": user.sessions, "submissions": user.submissions,
            "hasQuota": user.quota != nil, "quota": user.quota ?? 0,
            "budgets": budgets(user.budgets), "age": Moment.age(user.created_at, now: now),
            "isTest": user.test_user,
        ]
    }

    static func budgets(_ budgets: UserInfo.Budgets) -> [View] {
        let all = [
            ("requests this second", budgets.sdk_this_second), ("logins this minute", budgets.logins_this_minute),
            ("logins today", budgets.logins_this_day),
        ]
        return all.map { name, left in
            [
                "budget": name, "hasLeft": left != nil, "left": left ?? 0, "isSpent": left == 0,
                "budgetStyle": left == 0 ? "bad" : left.map { $0 <= 1 } ?? false ? "warn" : "",
            ]
        }
    }

    static func session(_ session: ActiveSession, now: Double, _ request: ConsoleRequest) -> View {
        let length = max(1, session.expires_at - session.created_at)
        return [
            "key": session.id, "sessionID": session.id, "user": session.username,
            "userLink": "\(request.console)/users/\(Link.escaped(session.username))",
            "bundle": session.bundle_id ?? "", "started": Moment.text(session.created_at),
            "left": Moment.span(session.expires_at - now), "leftSeconds": "\(max(0, session.expires_at - now))",
            "max": "\(length)",
            "value": "\(min(length, max(0, now - session.created_at)))",
            "expiresISO": Moment.iso(session.expires_at),
            "sessionPath": "\(request.base)/_sim/sessions/\(Link.escaped(session.id))",
        ]
    }
}

/// One user: budgets, sessions, items, and the changes that the vendor's support can make.
enum UserPage {
    static func part(_ name: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let path = "users/\(Link.escaped(name))"
        let user = try await api.get(path, as: UserInfo.self)
        let sessions = try await api.get(
            "sessions", [("username", user.username), ("limit", "50")], as: ActiveSessionList.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        var view = UsersPage.user(user, now: now, request)
        view["controlPath"] = "\(request.base)/_sim/\(path)"
        view["uniqueID"] = user.unique_user_id
        view["firstName"] = user.first_name ?? ""
        view["lastName"] = user.last_name ?? ""
        view["created"] = Moment.text(user.created_at)
        view["sessions"] = sessions.sessions.map { UsersPage.session($0, now: now, request) }
        view["hasSessions"] = !sessions.sessions.isEmpty
        view["sessionsPath"] = "\(request.base)/_sim/sessions" + Link.query([("username", user.username)])
        let limits = user.rate_limits?.members ?? [:]
        view["limits"] = ["sdk_per_second", "logins_per_minute", "logins_per_day"].map { key -> View in
            var text = ""
            if case .number(let number)? = limits[key] { text = number.text }
            return ["limitName": key, "limitLabel": key.replacing("_", with: " "), "limitValue": text]
        }
        view["itemsLink"] = "\(request.console)/items" + Link.query([("username", user.username)])
        view["requestsLink"] = request.console + Link.query([("q", "user:\(user.username)")])
        return PagePart(section: "users", title: user.username, template: "user", view: view)
    }
}
