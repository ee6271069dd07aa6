import EntrupyAPI
import Foundation
import SimulationAPI

/// The users with their budgets, the sessions, and the requests per second against the limits.
enum UsersPage {
    private static let rows = 50

    private struct View: Encodable, Sendable {
        let requests: Stats.Requests
        let organizations: [Stats.Usage]
        let bars: Bars
        let rows: Rows<UserRow>?
        let nextLink: String?
        let sessions: Rows<SessionRow>?
        /// The number of sessions, in words.
        let sessionWords: String
    }

    /// The chart of the requests in each of the last 60 seconds. Its places are parts of its width, so it is as wide as its page and
    /// its texts keep their size.
    private struct Bars: Encodable, Sendable {
        let chartText: String
        let height, textY: Int
        let barList: [Bar]
        /// The place of the line of the limit; `nil` if there is no limit.
        let limitY: String?
        let limitText: String

        struct Bar: Encodable, Sendable {
            let barX, barY, barWidth, barHeight, barText: String
        }

        init(_ counts: [Int], limit: Int?) {
            let most = max(counts.max() ?? 0, limit ?? 0, 1)
            let bottom = 90
            let slots = Double(max(1, counts.count))
            func percent(_ part: Double) -> String { String(format: "%.3f", part * 100) }
            func tenths(_ place: Double) -> String { String(format: "%.1f", place) }
            func y(_ count: Int) -> Double { Double(bottom) - Double(count) / Double(most) * Double(bottom - 14) }
            chartText = "Requests in each of the last 60 seconds, at most \(counts.max() ?? 0) in one second"
            (height, textY) = (bottom + 22, bottom + 18)
            barList = counts.enumerated().map { index, count in
                Bar(
                    barX: percent(Double(index) / slots), barY: tenths(y(count)), barWidth: percent(0.75 / slots),
                    barHeight: tenths(Double(bottom) - y(count)),
                    barText: "\(Counted.text(count, "request")), \(59 - index) s ago")
            }
            limitY = limit.map { tenths(y($0)) }
            limitText = "limit \(limit ?? 0) a second"
        }
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let users = try await api.get(
            "users", [("limit", "\(rows)"), ("cursor", request.given("cursor"))], as: UserInfoList.self)
        let sessions = try await api.get("sessions", [("limit", "\(rows)")], as: ActiveSessionList.self)
        let stats = try await api.get("stats", as: Stats.self)
        let view = View(
            requests: stats.requests, organizations: stats.organizations,
            bars: Bars(stats.requests.per_second, limit: stats.organizations.compactMap(\.limit).max()),
            rows: Rows(users.users.map { UserRow($0, now: stats.now) }),
            nextLink: users.next_cursor.map { "\(request.console)/users" + Link.query([("cursor", $0)]) },
            sessions: Rows(sessions.sessions.map { SessionRow($0, now: stats.now) }),
            sessionWords: sessions.total == 1 ? "1 session" : "all \(sessions.total) sessions")
        return PagePart(section: "users", title: "Users and limits", template: "users", view: view)
    }
}

struct UserRow: Encodable, Sendable {
    let user: UserInfo
    let budgets: [Budget]
    let age: String

    /// The number of calls that a limit still allows.
    struct Budget: Encodable, Sendable {
        let budget: String
        /// `nil` if there is no limit.
        let left: Int?
        let budgetStyle: String
    }

    init(_ user: UserInfo, now: Double) {
        self.user = user
        budgets = [
            ("requests this second", user.budgets.sdk_this_second),
            ("logins this minute", user.budgets.logins_this_minute), ("logins today", user.budgets.logins_this_day),
        ].map { name, left in
            Budget(
                budget: name, left: left,
                budgetStyle: left == 0 ? "bad" : left.map { $0 <= 1 } ?? false ? "warn" : "")
        }
        age = Moment.age(user.created_at, now: now)
    }
}

struct SessionRow: Encodable, Sendable {
    let session: ActiveSession
    let end: Countdown

    init(_ session: ActiveSession, now: Double) {
        self.session = session
        end = Countdown(
            to: session.expires_at, left: session.expires_at - now,
            Progress(now - session.created_at, of: session.expires_at - session.created_at))
    }
}

struct LimitField: Encodable, Sendable {
    let limitName, limitLabel: String
    /// Empty if the limit is not given.
    let limitValue: String

    /// - Parameter limits: the limits that are given, by their names.
    init(_ name: String, in limits: JSONValue?) {
        limitName = name
        limitLabel = name.replacing("_", with: " ")
        if case .number(let number)? = limits?.members?[name] { limitValue = number.text } else { limitValue = "" }
    }
}

/// One user: budgets, sessions, items, and the changes that the vendor's support can make.
enum UserPage {
    private struct View: Encodable, Sendable {
        let row: UserRow
        let controlPath: String
        let sessions: Rows<SessionRow>?
        let limits: [LimitField]
    }

    static func part(_ name: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let path = "users/\(URLPart.escaped(name))"
        let user = try await api.get(path, as: UserInfo.self)
        let sessions = try await api.get(
            "sessions", [("username", user.username), ("limit", "50")], as: ActiveSessionList.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view = View(
            row: UserRow(user, now: now), controlPath: "\(request.base)/_sim/\(path)",
            sessions: Rows(sessions.sessions.map { SessionRow($0, now: now) }),
            limits: ["sdk_per_second", "logins_per_minute", "logins_per_day"].map {
                LimitField($0, in: user.rate_limits)
            })
        return PagePart(section: "users", title: user.username, template: "user", view: view)
    }
}
