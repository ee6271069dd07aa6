import Simulation
import SimulationAPI

// Requests that the server refused for the moment, and what came after.
extension Court {
    /// What a request and its repetition have in common.
    struct Repetition: Hashable {
        var client: AuditedRequest.Client
        let method: String
        let target: TextKey
        /// `nil` if a repetition may have another body, or another `Accept-Language`.
        let body, language: String?
        private let parameters: Parameters

        init(_ request: AuditedRequest, body: String? = nil, language: String? = nil) {
            client = request.client
            method = request.entry.method
            target = TextKey(request.path)
            parameters = Parameters(ofQuery: request.entry.query)
            self.body = body
            self.language = language
        }

        /// The same caller, path and method, whatever else: the order of a query says nothing, and what could not be stored once may
        /// be another picture the next time. A list that was refused in the middle may begin anew.
        init(of request: AuditedRequest) {
            client = AuditedRequest.Client(caller: request.caller, test: nil, userAgent: nil)
            method = request.entry.method
            target = TextKey(request.path)
            parameters = Parameters(ofQuery: request.entry.query, withCursor: false)
            body = nil
            language = nil
        }
    }

    /// The parameters of a query, in any order, in time proportional to its length. Two queries are equal if they have the same
    /// parameters; others are by the chance of 64 random bits. The parameter `_` is left out: clients count in it, so that no cache
    /// knows the request.
    private struct Parameters: Hashable {
        private var count = 0
        private var sum = 0

        init(ofQuery query: String, withCursor: Bool = true) {
            var query = query
            query.withUTF8 { bytes in
                for parameter in bytes.dropFirst().split(separator: UInt8(ascii: "&")) {
                    let name = parameter.prefix { $0 != UInt8(ascii: "=") }
                    if name.elementsEqual("_".utf8) || !withCursor && name.suffix(6).elementsEqual("cursor".utf8) {
                        continue
                    }
                    var hasher = Hasher()
                    hasher.combine(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: parameter)))
                    count += 1
                    sum &+= hasher.finalize()
                }
            }
        }
    }

    /// `retry-too-soon`: the same client, method and path, and but for logins the same body, begun after the refusal ended and
    /// sooner than its Retry-After [D audit].
    mutating func retries(_ rule: AuditRule, _ otherBody: [AuditRoute]) {
        var keys: [Repetition?] = []
        var groups: [Repetition: [Int]] = [:]
        judgement.skip(
            requests.count { $0.isRefusedForNow && $0.asksOtherwise }, "their Retry-After is no number of seconds")
        for request in requests {
            // A caller whom nobody knows is only recognized by the whole request.
            let mayDiffer = request.caller != nil && request.isOne(of: otherBody)
            let body = Self.comparedBody(of: request)
            if !mayDiffer, request.entry.request.length > 0, body == nil {
                // Whether another request repeats it is not known.
                if request.asksToWait {
                    if request.entry.hasDigests { judgement.cut += 1 } else { judgement.undigested += 1 }
                }
                keys.append(nil)
                continue
            }
            if request.asksToWait { judgement.lookedAt += 1 }
            let key = Repetition(request, body: mayDiffer ? nil : body ?? "")
            groups[key, default: []].append(keys.count)
            keys.append(key)
        }
        var waits = Waits()
        for group in groups.values { findWaits(in: group, &waits) }
        var early: [(refused: Int, retry: Int)] = []
        for (key, group) in groups { early += retriesTooSoon(of: key.client, group, waits) }
        for (refused, retry) in early.sorted(by: { $0.retry < $1.retry }) {
            let (refusal, request) = (requests[refused], requests[retry])
            add(
                rule, [refusal, request],
                "\(request.summary) came again \(request.entry.gap(after: refusal.entry)?.rounded ?? "at once") after it was refused with "
                    + "\(refusal.entry.status ?? 0) and Retry-After: \((refusal.retryAfter?.microseconds ?? 0) / 1_000_000)"
            )
        }
        skipOtherConnections(keys, waits)
        judgement.skip(
            judgement.untold, "another client with the same token may have sent them, so they may be no retries")
    }

    /// The refusals that were repeated when their time was over, and these repetitions, by their places.
    private struct Waits {
        var (repeated, repetitions): (Set<Int>, Set<Int>) = ([], [])

        func contain(_ place: Int) -> Bool { repeated.contains(place) || repetitions.contains(place) }
    }

    /// Whether a request began after a refusal, and the time that its Retry-After had left then; `nil` if times are not known.
    private func wait(_ refused: Int, _ later: Int) -> (began: Bool, isOver: Bool)? {
        let (refusal, request) = (requests[refused], requests[later])
        guard let began = request.began(after: refusal), let gap = request.entry.gap(after: refusal.entry) else {
            return nil
        }
        return (began, refusal.retryAfter.map { gap >= $0 } ?? true)
    }

    /// Finds a repetition in time for each refusal of equal requests, for the oldest first. Where each has one, as many clients as
    /// were refused have waited.
    private func findWaits(in group: [Int], _ waits: inout Waits) {
        var refusals: [Int] = []
        var first = 0
        for place in group {
            if first < refusals.count, let wait = wait(refusals[first], place), wait.began, wait.isOver {
                waits.repeated.insert(refusals[first])
                waits.repetitions.insert(place)
                first += 1
            }
            if requests[place].asksToWait { refusals.append(place) }
        }
    }

    /// The equal requests of a client that came too soon after a refusal.
    ///
    /// Several clients may look like one: workers with one token share their connections, or have a new one for each request. So a
    /// request is not judged if all that were refused came again in time, or requests were on their way together.
    private mutating func retriesTooSoon(
        of client: AuditedRequest.Client, _ group: [Int], _ waits: Waits
    ) -> [(refused: Int, retry: Int)] {
        var found: [(refused: Int, retry: Int)] = []
        var last: Int?
        let areParallel = zip(group, group.dropFirst()).contains {
            requests[$1].began(after: requests[$0]) == false
        }
        for place in group {
            if let refused = last {
                let wait = wait(refused, place)
                if wait == nil { judgement.untimed += 1 }
                let haveWaited = waits.repeated.contains(refused) && waits.contain(place)
                if let wait, wait.began, !wait.isOver, !haveWaited {
                    let isChain = waits.contain(refused)
                    if client.isKnown, !areParallel, client.connection != nil || !isChain {
                        found.append((refused, place))
                    } else {
                        judgement.untold += 1
                    }
                }
                // One that was on its way already is no retry, and the retry is still to come.
                if wait?.began ?? true { last = nil }
            }
            if requests[place].asksToWait { last = place }
        }
        return found
    }

    /// Counts the requests on another connection that came too soon after a refusal which was not repeated on its own.
    private mutating func skipOtherConnections(_ keys: [Repetition?], _ waits: Waits) {
        var refusals: [Repetition: Int] = [:]
        for (place, key) in keys.enumerated() {
            guard var key else { continue }
            key.client.connection = nil
            if let refused = refusals[key], requests[refused].client != requests[place].client,
                let wait = wait(refused, place), wait.began
            {
                if !wait.isOver, !waits.repeated.contains(refused) { judgement.untold += 1 }
                refusals[key] = nil
            }
            if requests[place].asksToWait { refusals[key] = place }
        }
    }

    /// The digest of a request's body. A picture, which the journal does not keep, has its length instead: a PUT replaces what its path
    /// names, so the path tells most. Image routes ignore the media type, so it tells nothing, and without one the beginning of the
    /// picture is kept. `nil` if the body cannot be compared.
    private static func comparedBody(of request: AuditedRequest) -> String? {
        if let digest = request.digests.body { return digest }
        let message = request.entry.request
        guard request.entry.hasDigests, request.entry.method.isIdentical(to: "PUT"),
            message.kept == 0 || message.value(of: "content-type") == nil
        else { return nil }
        return "\(message.length) bytes"
    }

    /// `no-retry`: an idempotent request refused with 429 or 503 and never tried again, although its client went on when the time to
    /// wait had long passed [D audit].
    mutating func missingRetries(_ rule: AuditRule, _ endings: [AuditRoute]) {
        guard requests.contains(where: \.isRefusedForNow) else { return }
        let keys = requests.map { Repetition(of: $0) }
        let retries = retriesOfRefusals(keys)
        var later: Set<Repetition> = []
        var latest: [AuditedRequest.Client: AuditedRequest] = [:]
        var ended: Set<TextKey> = []
        var missing: [(refusal: AuditedRequest, later: AuditedRequest)] = []
        var due = 0
        for (request, key) in zip(requests.reversed(), keys.reversed()) {
            let isEnding = request.isOne(of: endings) && request.hasSucceeded
            if request.isRefusedForNow, ["GET", "HEAD", "PUT", "DELETE"].contains(request.entry.method) {
                judgement.lookedAt += 1
                let isNeeded =
                    request.entry.hasArrived && !retries.contains(request.sequence)
                    && ended.isDisjoint(with: request.parts)
                // Requests that were on their way together are no reaction to the refusal.
                if isNeeded, !later.contains(key), let other = latest[request.client],
                    other.began(after: request) ?? true
                {
                    if !request.client.isKnown {
                        judgement.untold += 1
                    } else if Self.isRetryOverdue(request, other) {
                        missing.append((request, other))
                    } else {
                        due += 1
                    }
                }
            }
            later.insert(key)
            if isEnding {
                let objects = request.parts.suffix(2).dropLast()
                if endings.contains(where: { $0.hasObject && $0.matches(request.entry.method, request.path) }) {
                    ended.formUnion(objects)
                }
            } else if latest[request.client] == nil {
                latest[request.client] = request
            }
        }
        blame(missing.reversed(), rule)
        judgement.skip(due, "their retries may still have been due when their clients sent their last request")
        judgement.skip(judgement.untold, "anonymous clients cannot be told from each other")
    }

    private mutating func blame(_ missing: [(refusal: AuditedRequest, later: AuditedRequest)], _ rule: AuditRule) {
        let told = missing.isEmpty ? [:] : lastWebhooks()
        for (refusal, later) in missing {
            // A webhook brought the answer that the client asked for.
            let through = refusal.entry.outcome.changes?.through ?? .max
            if refusal.parts.contains(where: { told[$0] ?? 0 > through }) { continue }
            add(
                rule, [refusal],
                "\(refusal.summary) was refused with \(refusal.entry.status ?? 0) and not tried again, although the client went on, "
                    + "last with \(later.entry.method) \(later.path) (request \(later.sequence))")
        }
    }

    /// Whether a client that went on would have repeated a refused request by then. It may wait longer than it has to.
    private static func isRetryOverdue(_ refusal: AuditedRequest, _ later: AuditedRequest) -> Bool {
        guard let gap = later.entry.gap(after: refusal.entry) else { return true }
        return gap.microseconds >= 2 * (refusal.retryAfter?.microseconds ?? 0)
    }

    /// The numbers of the requests that repeat one which was refused. A client may give up then.
    private func retriesOfRefusals(_ keys: [Repetition]) -> Set<Int64> {
        var refused: Set<Repetition> = []
        var retries: Set<Int64> = []
        for (request, key) in zip(requests, keys) {
            if refused.contains(key) { retries.insert(request.sequence) }
            if request.isRefusedForNow { refused.insert(key) } else { refused.remove(key) }
        }
        return retries
    }

    /// The numbers of the last events of webhooks that arrived, by the id of what they are about.
    private func lastWebhooks() -> [TextKey: Int64] {
        var last: [TextKey: Int64] = [:]
        for event in material.events where event.kind == EventKind.webhookAttempted.name {
            // Events are JSON that the server wrote; one that is not tells nothing.
            guard let data = (try? StoredJSON.decode(event.data))?.members, let id = data["entrupy_id"]?.text,
                let status = data["status"]?.number?.double, (200...299).contains(status)
            else { continue }
            last[TextKey(id)] = event.sequence
        }
        return last
    }
}

extension AuditedRequest {
    /// Whether the request was refused, and its client told how long to wait.
    fileprivate var asksToWait: Bool { isRefusedForNow && retryAfter != nil }

    /// The parts of the path.
    fileprivate var parts: [TextKey] { path.split(separator: "/").map { TextKey($0) } }
}

extension AuditRoute {
    /// Whether the path names an object.
    fileprivate var hasObject: Bool { path.pattern.contains("*") }
}
