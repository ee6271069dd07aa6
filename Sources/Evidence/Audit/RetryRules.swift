import Simulation
import SimulationAPI

// Requests that the server refused for the moment, and what came after.
extension Court {
    /// What a request and its repetition have in common.
    struct Repetition: Hashable {
        let caller: String?
        let test: TextKey?
        let method: String
        let target: TextKey
        /// `nil` if a repetition may have another body, or another `Accept-Language`.
        let body, language: String?

        init(_ request: AuditedRequest, body: String? = nil, language: String? = nil) {
            caller = request.caller
            test = request.testKey
            method = request.entry.method
            target = TextKey(request.target)
            self.body = body
            self.language = language
        }

        /// The same path and method, whatever else: the order of a query says nothing, and what could not be stored once may be
        /// another picture the next time.
        init(of request: AuditedRequest) {
            caller = request.caller
            test = nil
            method = request.entry.method
            let query = request.entry.query.dropFirst().split(separator: "&").sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            target = TextKey(request.path + "?" + query.joined(separator: "&"))
            body = nil
            language = nil
        }
    }

    /// `retry-too-soon`: the same user, method and path, and but for logins the same body, begun after the refusal ended and
    /// sooner than its Retry-After [D audit].
    mutating func retries(_ rule: AuditRule, _ otherBody: [AuditRoute]) {
        var refusals: [Repetition: AuditedRequest] = [:]
        for request in requests {
            // A caller whom nobody knows is only recognized by the whole request.
            let mayDiffer = request.caller != nil && request.isOne(of: otherBody)
            let isRefusal = request.isRefusedForNow && request.retryAfter != nil
            let body = Self.comparedBody(of: request)
            if !mayDiffer, request.entry.request.length > 0, body == nil {
                // Whether another request repeats it is not known.
                if isRefusal { if request.entry.hasDigests { judgement.cut += 1 } else { judgement.undigested += 1 } }
                continue
            }
            let key = Repetition(request, body: mayDiffer ? nil : body ?? "")
            if let refusal = refusals[key], let wait = refusal.retryAfter {
                var isRetry = true
                if let began = request.began(after: refusal), let gap = request.entry.gap(after: refusal.entry) {
                    // One that was on its way already is no retry, and the retry is still to come.
                    isRetry = began
                    if began, gap < wait {
                        add(
                            rule, [refusal, request],
                            "\(request.summary) came again \(gap.rounded) after it was refused with \(refusal.entry.status ?? 0) "
                                + "and Retry-After: \(wait.microseconds / 1_000_000)")
                    }
                } else {
                    judgement.untimed += 1
                }
                if isRetry { refusals[key] = nil }
            }
            if isRefusal {
                judgement.lookedAt += 1
                refusals[key] = request
            }
        }
    }

    /// The digest of a request's body. A picture, which the journal does not keep, has its length instead: a PUT replaces what its path
    /// names, so the path tells most. Image routes ignore the media type, so it tells nothing. `nil` if the body cannot be compared.
    private static func comparedBody(of request: AuditedRequest) -> String? {
        if let digest = request.digests.body { return digest }
        let message = request.entry.request
        guard request.entry.hasDigests, request.entry.method.isIdentical(to: "PUT"), message.kept == 0 else {
            return nil
        }
        return "\(message.length) bytes"
    }

    /// `no-retry`: an idempotent request refused with 429 or 503 and never tried again, although more came from the same user and
    /// test [D audit].
    mutating func missingRetries(_ rule: AuditRule) {
        /// A user in a test.
        struct Client: Hashable {
            let caller: String?
            let test: TextKey?
        }
        var later: Set<Repetition> = []
        var latest: [Client: AuditedRequest] = [:]
        var missing: [(refusal: AuditedRequest, later: AuditedRequest)] = []
        for request in requests.reversed() {
            let key = Repetition(of: request)
            let client = Client(caller: request.caller, test: request.testKey)
            if request.isRefusedForNow, ["GET", "HEAD", "PUT", "DELETE"].contains(request.entry.method) {
                judgement.lookedAt += 1
                // Requests that were on their way together are no reaction to the refusal.
                if !later.contains(key), let other = latest[client], other.began(after: request) ?? true {
                    missing.append((request, other))
                }
            }
            later.insert(key)
            if latest[client] == nil { latest[client] = request }
        }
        for (refusal, later) in missing.reversed() {
            add(
                rule, [refusal],
                "\(refusal.summary) was refused with \(refusal.entry.status ?? 0) and not tried again, although the client went on, "
                    + "last with \(later.entry.method) \(later.path) (request \(later.sequence))")
        }
    }
}
