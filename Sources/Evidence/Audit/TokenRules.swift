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
            if let first = used[digest] {
                add(
                    rule, [first, request],
                    "\(request.entry.method) \(request.path) sent the \(member) with which request \(first.sequence) logged in already"
                )
            } else if request.hasSucceeded {
                used[digest] = request
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

    /// The living sessions of each client, as the requests until now tell.
    private struct Sessions {
        struct Client: Hashable {
            let username: String?
            let test, userAgent: TextKey?
        }
        struct Session {
            let token: String
            let expires: Double
            let login: AuditedRequest
        }

        private(set) var living: [Client: [Session]] = [:]
        private var clients: [String: Client] = [:]
        /// The tokens of each user, oldest first, also of sessions that have ended.
        private var tokens: [String: ArraySlice<String>] = [:]

        /// Begins a session beside others of its client that live.
        mutating func begin(_ session: Session, of client: Client, beside others: [Session]) {
            living[client] = others + [session]
            clients[session.token] = client
            if let username = client.username { tokens[username, default: []].append(session.token) }
        }

        /// Ends the session with a token.
        mutating func end(_ credential: String) {
            guard let client = clients[credential] else { return }
            living[client]?.removeAll { $0.token == credential }
        }

        /// Ends the oldest living session of a user: a call of the control API did.
        mutating func endOldest(of username: String) {
            while let token = tokens[username]?.popFirst() {
                guard let client = clients[token], living[client]?.contains(where: { $0.token == token }) == true else {
                    continue
                }
                return end(token)
            }
        }
    }

    /// `login-each-time`: a third login of one user, test and User-Agent while its sessions lived [D audit].
    ///
    /// - Parameters:
    ///   - token: the member of the answer with the session's token.
    ///   - expires: the member with its end.
    ///   - ended: the events of sessions that ended, whose subject is the user.
    mutating func logins(
        _ rule: AuditRule, _ routes: [AuditRoute], _ ending: AuditRoute, _ token: String, _ expires: String,
        _ ended: [EventKind], _ limit: Int
    ) {
        var sessions = Sessions()
        // Those that calls of the control API ended, oldest first.
        let kinds = Set(ended.map(\.name))
        var ends = material.events.filter { event in
            if kinds.contains(event.kind), case .control? = event.cause?.kind { true } else { false }
        }[...]
        for request in requests {
            while let end = ends.first, end.sequence <= request.entry.outcome.changes?.after ?? 0 {
                sessions.endOldest(of: end.subject)
                ends = ends.dropFirst()
            }
            if let credential = request.digests.credential, endsSession(request, ending) { sessions.end(credential) }
            guard request.isOne(of: routes), request.hasSucceeded else { continue }
            judgement.skip(request, needing: request.entry.response)
            guard let begun = request.digests.answered[token] else { continue }
            judgement.lookedAt += 1
            let client = Sessions.Client(
                username: request.entry.outcome.username, test: request.testKey, userAgent: request.userAgentKey)
            let now = request.entry.at.epoch
            let others = (sessions.living[client] ?? []).filter { $0.expires > now }
            if others.count >= limit {
                add(
                    rule, others.prefix(1).map(\.login) + [request],
                    "login \(others.count + 1)\(request.by) while \(others.count) sessions of the same client lived; keep the token until "
                        + "it expires")
            }
            let end = request.entry.response.json?.members?[expires]?.number ?? .infinity
            sessions.begin(.init(token: begun, expires: end, login: request), of: client, beside: others)
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

extension AuditRoute {
    /// The route in words.
    var text: String { "\(method) \(path.pattern)" }
}

extension JSONValue {
    /// The value as a number; `nil` if it is none.
    var number: Double? { if case .number(let number) = self { number.double } else { nil } }
}
