import Simulation
import SimulationAPI

// Tokens and sessions.
extension Court {
    /// `token-in-url` [D audit].
    mutating func tokens(_ rule: AuditRule) {
        judgement.lookedAt = requests.count
        for request in requests where request.digests.token_in_url {
            let masks = Secrets(request.entry, material.secrets)
            let query = masks.masked(query: String(request.entry.query.dropFirst()))
            add(
                rule, [request],
                "\(request.entry.method) \(masks.masked(text: request.path))\(query.isEmpty ? "" : "?\(query)")\(request.by) has a "
                    + "token in its URL; send it in the header Authorization")
        }
    }

    /// `signed-request-reused`: a value that logged in once already, and whose client knows that [D audit].
    mutating func reuses(_ rule: AuditRule, _ routes: [AuditRoute], _ member: String) {
        var used: [String: AuditedRequest] = [:]
        for request in requests where request.isOne(of: routes) {
            judgement.skip(request, needing: request.entry.request)
            guard let digest = request.digests.sent[member] else { continue }
            judgement.lookedAt += 1
            // A client that logs in again before it has the answer has given up waiting for it.
            if let first = used[digest], request.began(after: first) ?? true {
                add(
                    rule, [first, request],
                    "\(request.entry.method) \(request.path) sent the \(member) with which request \(first.sequence) logged in already"
                )
            } else if request.hasSucceeded {
                used[digest] = used[digest] ?? request
            }
        }
    }

    /// `session-after-cleanup`: a request with the token of a session that its client has ended [D audit].
    mutating func tokens(_ rule: AuditRule, after ending: AuditRoute) {
        var ended: [String: AuditedRequest] = [:]
        for request in requests {
            if !request.entry.hasDigests { judgement.undigested += 1 }
            guard let credential = request.digests.credential else { continue }
            if ending.matches(request.entry.method, request.path) {
                if request.hasSucceeded { ended[credential] = request }
                continue
            }
            judgement.lookedAt += 1
            // A request that was on its way when the session ended is no misuse.
            if let end = ended[credential], request.began(after: end) ?? true {
                add(
                    rule, [end, request],
                    "\(request.entry.method) \(request.path) used the session that request \(end.sequence) (\(ending.text)) had ended"
                )
            }
        }
    }

    /// The sessions of each client, as the requests until now tell.
    private struct Sessions {
        typealias Client = AuditedRequest.Client

        struct Session {
            let token: String
            let expires: Double
            let login: AuditedRequest
            let client: Client
            /// The number of its requests, without its end.
            let calls: Int
        }

        /// Sessions that are used no more, oldest first; those before `first` have ended.
        struct Idle {
            var sessions: [Session] = []
            var first = 0
        }

        private var known: [String: Session] = [:]
        private var idle: [Client: Idle] = [:]
        /// The tokens of each user, oldest first, also of sessions that have ended.
        private var tokens: [String: ArraySlice<String>] = [:]
        /// The number of a program's last sessions that it ended itself, each after one call.
        private(set) var brief: [Client: Int] = [:]

        mutating func begin(_ session: Session) {
            known[session.token] = session
            if let username = session.client.caller { tokens[username, default: []].append(session.token) }
        }

        /// Notes that a session was used for the last time, or never is.
        mutating func rest(_ token: String) {
            guard let session = known[token] else { return }
            idle[session.client, default: Idle()].sessions.append(session)
        }

        /// Ends the session with a token.
        ///
        /// - Parameter isLogout: whether its client ended it.
        mutating func end(_ token: String, isLogout: Bool = false) {
            guard let session = known.removeValue(forKey: token), isLogout else { return }
            let program = session.client.onAnyConnection
            brief[program] = session.calls == 1 ? brief[program, default: 0] + 1 : 0
        }

        /// Ends the oldest living session of a user: a call of the control API did.
        mutating func endOldest(of username: String, at now: Double) {
            while let token = tokens[username]?.popFirst() {
                guard let session = known.removeValue(forKey: token), session.expires > now else { continue }
                return
            }
        }

        /// The oldest living sessions that a client has left, at most so many. Forgets those before them that have ended, so that all
        /// calls together take linear time.
        mutating func oldest(_ count: Int, of client: Client, where isLiving: (Session) -> Bool) -> [Session] {
            guard var idle = idle.removeValue(forKey: client) else { return [] }
            var living: [Session] = []
            while living.count < count, idle.first < idle.sessions.count {
                let session = idle.sessions[idle.first]
                if known[session.token] != nil, isLiving(session) { living.append(session) }
                idle.first += 1
            }
            idle.first -= living.count
            for (place, session) in living.enumerated() { idle.sessions[idle.first + place] = session }
            self.idle[client] = idle
            return living
        }
    }

    /// `login-each-time`: a third login of one client while it uses its living sessions no more, or one after three sessions that it
    /// ended after one call each [D audit].
    ///
    /// - Parameters:
    ///   - token: the member of the answer with the session's token.
    ///   - expires: the members with its ends, of which the first one counts.
    ///   - ended: the events of sessions that ended, whose subject is the user.
    mutating func logins(
        _ rule: AuditRule, _ routes: [AuditRoute], _ ending: AuditRoute, _ token: String, _ expires: [String],
        _ ended: [EventKind], _ limit: Int
    ) {
        var sessions = Sessions()
        var ends = controlled(ended)[...]
        let uses = uses(ending)
        var (behind, unclear) = (0, 0)
        for request in requests {
            let now = request.entry.at.epoch
            while let end = ends.first, end.sequence <= request.entry.outcome.changes?.after ?? 0 {
                sessions.endOldest(of: end.subject, at: now)
                ends = ends.dropFirst()
            }
            if let credential = request.client.credential {
                if endsSession(request, ending) { sessions.end(credential, isLogout: request.hasSucceeded) }
                if uses[credential]?.last == request.sequence { sessions.rest(credential) }
            }
            guard request.isOne(of: routes), request.hasSucceeded else { continue }
            judgement.skip(request, needing: request.entry.response)
            guard let begun = request.digests.answered[token] else { continue }
            judgement.lookedAt += 1
            let client = request.client.inAnySession
            let real = request.entry.times?.started.epoch ?? now
            let end = request.end(expires)
            // A session that is over on the device from its beginning is never used.
            var looksExpired = end <= real && uses[begun] == nil
            let others = sessions.oldest(limit, of: client) { session in
                guard session.expires > now, request.began(after: session.login) ?? true else { return false }
                if session.expires <= real { looksExpired = true }
                guard session.expires > real else { return false }
                // Where each request has its own connection, only programs that log in for each call can be told from several devices.
                let isClear = client.connection != nil || session.calls <= 1
                if !isClear { unclear += 1 }
                return isClear
            }
            if looksExpired { behind += 1 }
            blame(rule, request, others, brief: sessions.brief[client.onAnyConnection] ?? 0, limit)
            sessions.begin(
                Sessions.Session(
                    token: begun, expires: end, login: request, client: client, calls: uses[begun]?.count ?? 0))
            if uses[begun] == nil { sessions.rest(begun) }
        }
        judgement.skip(
            behind,
            "the namespace's clock is behind real time, so that a client with the real time takes its tokens for expired"
        )
        judgement.skip(unclear < limit ? 0 : unclear, "one program cannot be told from devices of the same user")
    }

    /// The events that calls of the control API caused, oldest first.
    private func controlled(_ kinds: [EventKind]) -> [StoredEvent] {
        let names = Set(kinds.map(\.name))
        return material.events.filter { event in
            if names.contains(event.kind), case .control? = event.cause?.kind { true } else { false }
        }
    }

    /// The last use of each token, and the number of its calls but for logouts.
    private func uses(_ ending: AuditRoute) -> [String: (last: Int64, count: Int)] {
        var uses: [String: (last: Int64, count: Int)] = [:]
        for request in requests {
            guard let credential = request.client.credential else { continue }
            let isLogout = ending.matches(request.entry.method, request.path)
            uses[credential] = (request.sequence, uses[credential, default: (0, 0)].count + (isLogout ? 0 : 1))
        }
        return uses
    }

    /// Adds a login that the client did not need.
    ///
    /// - Parameters:
    ///   - others: the client's sessions that lived, oldest first.
    ///   - brief: the number of its sessions that were ended after one call.
    private mutating func blame(
        _ rule: AuditRule, _ request: AuditedRequest, _ others: [Sessions.Session], brief: Int, _ limit: Int
    ) {
        if others.count >= limit {
            add(
                rule, others.prefix(1).map(\.login) + [request],
                "login \(limit + 1)\(request.by) while \(limit) sessions of the same client lived; keep the token until it expires"
            )
        } else if brief > limit {
            add(
                rule, [request],
                "login \(brief + 1)\(request.by) after \(Counted.text(brief, "session")) with one call each; keep the token until it "
                    + "expires")
        }
    }

    /// Whether a request ended its session, or its answer says that it has ended.
    private func endsSession(_ request: AuditedRequest, _ ending: AuditRoute) -> Bool {
        switch request.entry.status {
        case 401: true
        // Ended sessions may be answered so by the settings; the answer then names the reason.
        case 403: request.entry.response.json?.members?["ecode"] != nil
        case let status?: status < 300 && ending.matches(request.entry.method, request.path)
        case nil: false
        }
    }

    /// `deprecated-version` [D audit].
    mutating func versions(_ rule: AuditRule, _ path: Glob, _ header: String, _ old: [String]) {
        for request in requests where path.matches(request.path) {
            guard let version = request.entry.request.value(of: header) else { continue }
            judgement.lookedAt += 1
            if old.contains(version) {
                add(rule, [request], "\(request.summary) asks for version \(version)")
            }
        }
    }
}

extension AuditedRequest {
    /// The first of the times in the answer's members, in epoch seconds; infinite if there is none.
    fileprivate func end(_ members: [String]) -> Double {
        let answer = entry.response.json?.members
        return members.compactMap { answer?[$0]?.number?.double }.min() ?? .infinity
    }
}

extension AuditRoute {
    /// The route in words.
    var text: String { "\(method) \(path.pattern)" }
}
