import Foundation
import Simulation
import SimulationAPI

// Captures, items and lists.
extension Court {
    /// `polling-too-tight`: the same result more often than every second before its `eta` [D audit].
    ///
    /// Counted from beginning to beginning, so that a client with a timer of a second is never blamed for what a timer is late.
    mutating func polls(_ rule: AuditRule, _ routes: [AuditRoute], _ eta: [[String]], _ every: Span) {
        var last: [Repetition: (request: AuditedRequest, eta: Double?, previous: AuditedRequest?)] = [:]
        for request in requests where request.isOne(of: routes) {
            judgement.lookedAt += 1
            guard request.hasSucceeded else { continue }
            if !request.entry.response.isWhole { judgement.cut += 1 }
            let key = Repetition(request)
            let named = request.entry.response.json.flatMap { Self.time(in: $0, eta) }
            // Where the answer has changed, the client may have known that by a webhook. One with the result names no time.
            if let (earlier, eta, previous) = last[key], let eta, named == eta {
                let least = Span(microseconds: every.microseconds * 95 / 100)
                switch request.period(after: earlier) {
                case nil: judgement.untimed += 1
                case let period? where period < least && request.began(after: earlier) == true:
                    guard isOfOneClient(request, request.period(after: previous).map { $0 < least } ?? false) else {
                        break
                    }
                    let left = Span(seconds: eta - request.entry.at.epoch)?.rounded ?? "some time"
                    add(
                        rule, [earlier, request],
                        "\(request.summary) came again after \(period.rounded), and the result is not expected for \(left)"
                    )
                default: break
                }
            }
            last[key] = (request, named, last[key]?.request)
        }
        skipUntold()
    }

    /// Whether one client sent a request that came soon after an equal one, and counts it as not judged if that cannot be told: two
    /// clients may look like one, and do not send three requests.
    ///
    /// - Parameter isThird: whether the request is the third within the time.
    private mutating func isOfOneClient(_ request: AuditedRequest, _ isThird: Bool) -> Bool {
        if request.client.isKnown, request.client.connection != nil || isThird { return true }
        judgement.untold += 1
        return false
    }

    /// Says how many requests could not be judged because nobody can tell who sent them.
    private mutating func skipUntold() {
        judgement.skip(judgement.untold, "two clients with the same token may have sent them")
    }

    /// The time that one of some ways through an answer leads to.
    private static func time(in answer: JSONValue, _ ways: [[String]]) -> Double? {
        ways.lazy.compactMap { way in way.reduce(Optional(answer)) { $0?.members?[$1] }?.number?.double }.first
    }

    /// `flag-without-check`: a refusal that a state explains which the client never read [D audit].
    mutating func refusals(
        _ rule: AuditRule, of route: AuditRoute, without member: String, _ id: String, _ known: EventKind
    ) {
        let asked = requests.filter { route.matches($0.entry.method, $0.path) }
        judgement.lookedAt = asked.count
        let refused = asked.filter(Self.isRefusedForState)
        guard !refused.isEmpty else { return }
        let begun = Dictionary(
            material.events.filter { $0.kind == known.name }.map { (TextKey($0.subject), $0.at) }
        ) { first, _ in first }
        let reads = reads(of: member, id, before: Set(refused.map(\.sequence)))
        let callersOfCutAnswers = Set(requests.filter { !$0.entry.response.isWhole }.map(\.caller))
        let lost = Dictionary(requests.filter { !$0.entry.isDelivered }.map { (Ask($0), $0.sequence) }) { first, _ in
            first
        }
        var (forgotten, cut) = (0, 0)
        for request in refused {
            let object = TextKey(request.path.split(separator: "/").dropLast().last ?? "")
            let read = reads[request.sequence]
            if read == true { continue }
            // A client that lost the answer to an earlier one is right to ask again.
            if let lost = lost[Ask(request)], lost < request.sequence { continue }
            // Objects of a seed have no event. They are older than every request.
            if let time = material.forgotten, begun[object].map({ $0 <= time }) ?? true {
                forgotten += 1
            } else if callersOfCutAnswers.contains(request.caller) {
                cut += 1
            } else {
                let known = read == nil ? "never read \(member)" : "had read \(member): false"
                add(
                    rule, [request],
                    "\(request.summary) was refused with \(request.entry.status ?? 0), and the client \(known) of \(object.text)"
                )
            }
        }
        judgement.skip(
            forgotten,
            "the journal has forgotten requests since their items began, and \(member) may have been read by one of them"
        )
        judgement.skip(
            cut, "answers in which \(member) may have been read were not kept whole (settings journal.body_bytes)")
    }

    /// Whether a change was refused because of the state of its object, and not for a mistake in the request: the member of the body
    /// that is named as the path's last part is what was refused.
    private static func isRefusedForState(_ request: AuditedRequest) -> Bool {
        guard request.entry.isDelivered, let status = request.entry.status, [400, 403, 409].contains(status) else {
            return false
        }
        let name = String(request.path.split(separator: "/").last ?? "")
        guard request.entry.request.json?.members?[name] == .bool(true) else { return false }
        let details = request.entry.response.json?.members?["details"]?.elements ?? []
        return status != 400 || details.contains { $0.members?["field"]?.text == name }
    }

    /// A caller and what it asked for.
    private struct Ask: Hashable {
        let caller: String?
        let method: String
        let path: TextKey

        init(_ request: AuditedRequest) {
            caller = request.caller
            method = request.entry.method
            path = TextKey(request.path)
        }
    }

    /// An object that somebody read about; with the token, or else with any of the caller's.
    private struct Reading: Hashable {
        let caller: String?
        let credential: String?
        let object: TextKey
    }

    /// The last values of a member that clients had read of the objects whose change was refused, by the numbers of the refusals.
    ///
    /// False is a reading too: a client that asks for what the answer denies has not looked at it.
    private func reads(of member: String, _ id: String, before refused: Set<Int64>) -> [Int64: Bool] {
        var last: [Reading: Bool] = [:]
        var reads: [Int64: Bool] = [:]
        for request in requests {
            let (caller, credential) = (request.caller, request.client.credential)
            if refused.contains(request.sequence) {
                let object = TextKey(request.path.split(separator: "/").dropLast().last ?? "")
                reads[request.sequence] =
                    last[Reading(caller: caller, credential: credential, object: object)]
                    ?? last[Reading(caller: caller, credential: nil, object: object)]
            }
            guard request.hasSucceeded, request.entry.response.body.data.contains(member),
                let answer = request.entry.response.json
            else { continue }
            for (object, value) in Self.values(of: member, id, in: answer, of: nil) {
                // The answer may be about the object of the path, and not repeat its id.
                let objects = object.map { [$0] } ?? request.path.split(separator: "/").map(String.init)
                for object in objects {
                    let key = TextKey(object)
                    last[Reading(caller: caller, credential: credential, object: key)] = value
                    last[Reading(caller: caller, credential: nil, object: key)] = value
                }
            }
        }
        return reads
    }

    /// The values of all members with a name, however deep, with the id of the object that they stand in.
    private static func values(
        of name: String, _ id: String, in value: JSONValue, of object: String?
    ) -> [(object: String?, value: Bool)] {
        switch value {
        case .object(let members):
            let object = members[id]?.text ?? object
            return members.sorted.flatMap { key, value in
                if key.isIdentical(to: name), case .bool(let value) = value { return [(object, value)] }
                return values(of: name, id, in: value, of: object)
            }
        case .array(let elements): return elements.flatMap { values(of: name, id, in: $0, of: object) }
        case .null, .bool, .number, .string: return []
        }
    }

    /// `capture-abandoned`: something that timed out [D audit].
    mutating func happenings(_ rule: AuditRule, _ kind: EventKind, _ start: EventKind, _ what: String) {
        var begun: [TextKey: StoredEvent] = [:]
        for event in material.events {
            if event.kind == start.name {
                judgement.lookedAt += 1
                begun[TextKey(event.subject)] = event
            } else if event.kind == kind.name {
                let first = begun[TextKey(event.subject)]
                let request = request(first?.cause)
                // A client that lost the answer does not know that it has begun.
                if request?.entry.isDelivered == false { continue }
                findings.add(
                    rule, request.map(subject) ?? "", request.map { [name($0)] } ?? [], test: request?.test,
                    "\(what) \(event.subject)\(request.map(\.by) ?? "") was left alone and timed out at \(event.at.display)"
                )
            }
        }
        noteOlderEvents()
    }

    /// Says that older events were not judged, if there are any.
    private mutating func noteOlderEvents() {
        guard material.hasOlderEvents else { return }
        judgement.note("the event log is long: only its last 100,000 events were looked at")
    }

    private func request(_ cause: Cause?) -> AuditedRequest? {
        if case .request(let sequence) = cause?.kind { return request(sequence) }
        return nil
    }

    /// `retake-unanswered`: a question without an answer in time [D audit].
    mutating func questions(
        _ rule: AuditRule, _ kind: EventKind, _ answer: EventKind, _ closing: [EventKind], _ member: String,
        _ within: Span
    ) {
        var answered: [TextKey: Instant] = [:]
        func id(_ event: StoredEvent) -> TextKey {
            // Events are JSON that the server wrote; one that is not has no id.
            TextKey((try? StoredJSON.decode(event.data))?.members?[member]?.text ?? event.subject)
        }
        for event in material.events where event.kind == answer.name { answered[id(event)] = event.at }
        let closings = Set(closing.map(\.name))
        let closed = Dictionary(grouping: material.events.filter { closings.contains($0.kind) }) { TextKey($0.subject) }
        for event in material.events where event.kind == kind.name {
            judgement.lookedAt += 1
            let later = closed[TextKey(event.subject)] ?? []
            let place = later.firstPlace { $0.sequence > event.sequence }
            let closing = place < later.count ? later[place].at : nil
            if answered[id(event)] == nil, let closing, closing - event.at < within { continue }
            let end = answered[id(event)] ?? closing ?? material.now
            guard end - event.at >= within else { continue }
            let state = answered[id(event)] == nil ? "not answered" : "answered late"
            findings.add(
                rule, event.subject, [], test: nil,
                "\(id(event).text) of \(event.subject) was asked for at \(event.at.display) and \(state) (after \((end - event.at).rounded), "
                    + "at most \(within.text))")
        }
        noteOlderEvents()
    }

    /// `page-fetched-twice`: the same cursor within a second, no write between [D audit].
    mutating func pages(_ rule: AuditRule, _ within: Span) {
        var last: [Repetition: (request: AuditedRequest, previous: AuditedRequest?)] = [:]
        for request in requests where request.hasCursor {
            judgement.lookedAt += 1
            let key = Repetition(
                request, body: request.digests.body, language: request.entry.request.value(of: "accept-language"))
            defer { if request.hasSucceeded { last[key] = (request, last[key]?.request) } }
            guard let (earlier, previous) = last[key], let changed = earlier.entry.outcome.changes?.through,
                let now = request.entry.outcome.changes?.after, changed == now
            else { continue }
            guard let gap = request.entry.gap(after: earlier.entry) else {
                judgement.untimed += 1
                continue
            }
            // A client that asks again before it has the answer has given up waiting for it.
            let isThird =
                previous?.entry.outcome.changes?.through == now
                && previous.flatMap { request.entry.gap(after: $0.entry) }.map { $0 < within } ?? false
            if gap < within, request.began(after: earlier) == true, isOfOneClient(request, isThird) {
                add(
                    rule, [earlier, request],
                    "\(request.summary) fetched the page of request \(earlier.sequence) again after \(gap.rounded), and nothing was "
                        + "written between")
            }
        }
        skipUntold()
    }

    /// `upload-repeated`: equal bytes for the same region after a delivered 200 [D audit].
    mutating func uploads(_ rule: AuditRule, _ routes: [AuditRoute], _ digest: String) {
        var arrived: [TextKey: (digest: String, upload: AuditedRequest)] = [:]
        for request in requests where request.isOne(of: routes) {
            judgement.lookedAt += 1
            guard request.entry.status == 200, let found = request.entry.response.json?.members?[digest]?.text else {
                continue
            }
            let key = TextKey(request.path)
            if let known = arrived[key], known.digest == found, request.began(after: known.upload) ?? true {
                add(
                    rule, [known.upload, request],
                    "\(request.summary) sent the bytes that had arrived with request \(known.upload.sequence)")
            }
            arrived[key] = request.hasSucceeded ? (found, request) : nil
        }
    }

    /// `resubmitted-instead-of-flagged`: the same customer's id again after a final result that could have been flagged [D audit].
    mutating func resubmissions(_ rule: AuditRule) {
        let submitted = rule.check.resubmission?.submitted.name
        judgement.lookedAt = material.events.count { $0.kind == submitted }
        for again in material.resubmissions {
            let request = request(again.cause)
            findings.add(
                rule, request.map { "\(route($0))\n\(again.username)" } ?? again.username,
                request.map { [name($0)] } ?? [], test: request?.test,
                "\(again.customerID) of \(again.username) was submitted again as \(again.id), although \(again.earlier) has a result that "
                    + "can be flagged")
        }
        noteOlderEvents()
        if judgement.lookedAt > Resubmission.maxSubmissions {
            judgement.note("only the last 10,000 submissions were looked at")
        }
    }
}

extension AuditedRequest {
    /// Whether the request asks for a page after the first.
    fileprivate var hasCursor: Bool {
        let isInQuery = queryPairs.contains { $0.begins(with: "cursor=") && $0.utf8.count > "cursor=".utf8.count }
        if isInQuery { return true }
        guard entry.request.length > 0, entry.request.body.data.contains("\"cursor\"") else { return false }
        switch entry.request.json?.members?["cursor"] {
        case .string(let text): return !text.isEmpty
        case .array(let parts): return !parts.isEmpty
        case .null, .bool, .number, .object, nil: return false
        }
    }

    /// The time from the beginning of an earlier request to that of this one: real time, or the namespace's where a test moved the
    /// clock, whichever is longer; `nil` if it is not known.
    fileprivate func period(after earlier: AuditedRequest?) -> Span? {
        guard let earlier, let times = entry.times, let before = earlier.entry.times else { return nil }
        return max(.zero, times.started - before.started, entry.at - earlier.entry.at)
    }
}

extension Data {
    /// Whether the bytes of a text are somewhere in the data.
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
