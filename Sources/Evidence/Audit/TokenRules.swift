import Foundation
import Simulation
import SimulationAPI

// Tokens and sessions.
extension Court {
    /// `token-in-url` [D audit].
    mutating func tokens(_ rule: AuditRule) -> Judgement {
        var judgement = Judgement()
        for request in requests {
            judgement.lookedAt += 1
            guard request.digests.token_in_url else { continue }
            let masks = Secrets(request.entry, material.secrets)
            let query = masks.masked(query: String(request.entry.query.dropFirst()))
            add(
                rule, [request],
                "\(request.entry.method) \(masks.masked(text: request.path))\(query.isEmpty ? "" : "?\(query)")\(request.by) has a "
                    + "token in its URL; send it in the header Authorization")
        }
        return judgement
    }

    /// `signed-request-reused`: a value that logged in once already, and whose client knows that [D audit].
    mutating func reuses(_ rule: AuditRule, _ routes: [AuditRoute], _ member: String) -> Judgement {
        var judgement = Judgement()
        var used: [String: AuditedRequest] = [:]
        for request in requests where request.isOne(of: routes) {
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
        return judgement
    }

    /// `session-after-cleanup`: a request with the token of a session that its client has ended [D audit].
    mutating func tokens(_ rule: AuditRule, after ending: AuditRoute) -> Judgement {
        var judgement = Judgement()
        var ended: [String: AuditedRequest] = [:]
        for request in requests {
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
        return judgement
    }

    /// The names of a platform's logins.
    struct LoginNames {
        let routes: [AuditRoute]
        let ending: AuditRoute
        /// The members of the answer with the session's token and its end.
        let token, expires: String
    }

    /// `login-each-time`: a third login of one user, test and User-Agent while its sessions lived [D audit].
    mutating func logins(_ rule: AuditRule, _ names: LoginNames, _ sessions: Int) -> Judgement {
        struct Client: Hashable {
            let username, test, userAgent: String?
        }
        struct Session {
            let token: String
            let expires: Double
            let login: AuditedRequest
        }
        var judgement = Judgement()
        var living: [Client: [Session]] = [:]
        var clients: [String: Client] = [:]
        for request in requests {
            if let credential = request.digests.credential, let client = clients[credential],
                request.entry.status == 401
                    || names.ending.matches(request.entry.method, request.path) && request.entry.status ?? 500 < 300
            {
                living[client]?.removeAll { $0.token == credential }
            }
            guard request.isOne(of: names.routes), request.hasSucceeded,
                let token = request.digests.answered[names.token]
            else { continue }
            judgement.lookedAt += 1
            let client = Client(
                username: request.entry.outcome.username, test: request.test, userAgent: request.userAgent)
            let now = request.entry.at.epoch
            let others = (living[client] ?? []).filter { $0.expires > now }
            if others.count >= sessions {
                add(
                    rule, others.prefix(1).map(\.login) + [request],
                    "login \(others.count + 1)\(request.by) while \(others.count) sessions of the same client lived; keep the token until "
                        + "it expires")
            }
            let expires = request.entry.response.json?.members?[names.expires]?.number ?? .infinity
            living[client] = others + [Session(token: token, expires: expires, login: request)]
            clients[token] = client
        }
        return judgement
    }

    /// `deprecated-version` [D audit].
    mutating func versions(_ rule: AuditRule, _ path: Glob, _ header: String, _ old: [String]) -> Judgement {
        var judgement = Judgement()
        for request in requests where path.matches(request.path) {
            guard let version = request.entry.request.value(of: header) else { continue }
            judgement.lookedAt += 1
            if old.contains(version) {
                add(rule, [request], "\(request.entry.method) \(request.path)\(request.by) asks for version \(version)")
            }
        }
        return judgement
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
