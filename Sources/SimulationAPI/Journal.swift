/// A request of the journal. Secrets are masked [D secrets].
public struct JournaledRequest: Codable, Sendable {
    /// The request's id, also in the answer's header `X-Request-Id`. Clients may choose ids, so several requests can
    /// have the same one.
    public var id: String
    /// The request's number in the journal of its namespace, from 1. It belongs to no other request. Absent in files of
    /// version 0.2.0 and older.
    public var sequence: Int64?
    /// The time of the request by the namespace's clock, in epoch seconds.
    public var at: Double
    /// The HTTP method, for instance `GET`.
    public var method: String
    /// The path, without the namespace and the query.
    public var path: String
    /// The query, without the `?`, or null.
    @Nullable public var query: String?
    /// The status of the answer, whether or not it reached the client; null if the request was lost before it was handled.
    @Nullable public var status: Int?
    /// Whether the whole answer left the server. False if a fault lost it, or if the connection ended before. Files of version
    /// 0.2.0 and older lack it, which means true.
    public var delivered: Bool
    /// The effect of the fault that was triggered, as its rule gave it, for instance `{"drop_connection": true}`; null if none
    /// was. It stays when the rule is deleted.
    @Nullable public var effect: JSONObject?
    /// The duration in milliseconds of real time.
    public var duration_ms: Double
    /// The real time at which the server received the request's head, in epoch seconds with microseconds. Null in files of
    /// version 0.2.0 and older.
    @Nullable public var started_real: Double?
    /// The real time at which the client could have the answer, after a fault's delay, in epoch seconds with microseconds. Null
    /// in files of version 0.2.0 and older.
    @Nullable public var ended_real: Double?
    /// The user of the request's session, or null.
    @Nullable public var username: String?
    /// The caller's header `X-Sim-Test`, or null.
    @Nullable public var test: String?
    /// The fault, limits and outcome rule that decided the answer.
    public var decided_by: DecidedRequest
    /// The fact behind a 403, 404 or 409, for instance `the item belongs to DemoOrg-b; the session is DemoOrg-a's`, and of a read
    /// item without a final result when that is due. The caller never sees it. Null for other answers.
    @Nullable public var because: String?
    /// The id of the trace that the request belongs to: 32 hexadecimal digits of its `traceparent` header; null if it has none,
    /// and in files of version 0.2.0 and older.
    @Nullable public var trace: String?
    /// The entries of the event log that the request added; null if they are not known.
    @Nullable public var changes: RequestChanges?
    /// The headers and body of the request. Lists leave them out.
    public var request: JournaledMessage?
    /// The headers and body of the answer, before a fault damaged it. Lists leave them out.
    public var response: JournaledMessage?
    /// Digests of the masked secrets, with which requests can be compared. Only in bundles, from version 0.3.0 on.
    public var digests: RequestDigests?
    /// A number that the requests of one connection have in common. Only in bundles.
    public var connection: Int?
    /// The time by which tests had moved the clock until the request, in seconds. Only in bundles.
    public var moved: Double?
    /// Whether it is a request of the journal that was sent again. Only in bundles, where it was.
    public var resent: Bool?

    public init(
        id: String, sequence: Int64?, at: Double, method: String, path: String, query: String?, status: Int?,
        delivered: Bool = true, effect: JSONObject? = nil, duration_ms: Double, started_real: Double? = nil,
        ended_real: Double? = nil, username: String?, test: String?,
        decided_by: DecidedRequest, because: String? = nil, trace: String? = nil, changes: RequestChanges?,
        request: JournaledMessage?,
        response: JournaledMessage?
    ) {
        self.delivered = delivered
        self._effect = Nullable(wrappedValue: effect)
        self._changes = Nullable(wrappedValue: changes)
        self.id = id
        self.sequence = sequence
        self.at = at
        self.method = method
        self.path = path
        self._query = Nullable(wrappedValue: query)
        self._status = Nullable(wrappedValue: status)
        self.duration_ms = duration_ms
        self._started_real = Nullable(wrappedValue: started_real)
        self._ended_real = Nullable(wrappedValue: ended_real)
        self._username = Nullable(wrappedValue: username)
        self._test = Nullable(wrappedValue: test)
        self.decided_by = decided_by
        self._because = Nullable(wrappedValue: because)
        self._trace = Nullable(wrappedValue: trace)
        self.request = request
        self.response = response
    }
}

extension JournaledRequest {
    /// The answer in words, for instance `200`, or `200, not delivered: connection reset`.
    public var answerText: String {
        let status = status.map { "\($0)" } ?? "no answer"
        guard let lossText else { return status }
        return "\(status), not delivered: \(lossText)"
    }

    /// The reason why the answer did not reach the client; `nil` if it did.
    public var lossText: String? {
        guard !delivered else { return nil }
        if effect?["lose_request"] != nil { return "connection reset before the request was handled" }
        if effect?["drop_connection"] != nil { return "connection reset" }
        if effect?["truncate_body"] != nil { return "body cut off" }
        if effect?["hold"] != nil, status == nil { return "connection ended before the request was handled" }
        return "connection ended before the last byte was sent"
    }
}

/// The entries of the event log that a request added: those with a sequence number after `after`, up to `through`. Both
/// are equal if the request changed nothing.
public struct RequestChanges: Codable, Sendable {
    /// The number of the last event before the request.
    public var after: Int64
    /// The number of the last event that the request added.
    public var through: Int64

    public init(after: Int64, through: Int64) {
        self.after = after
        self.through = through
    }
}

/// The fault, limits and outcome rule that decided an answer.
public struct DecidedRequest: Codable, Sendable {
    /// The id of the fault rule that was triggered, or null.
    @Nullable public var fault: String?
    /// The exceeded limits.
    public var limits: [String]
    /// The id of the outcome rule that decided the submitted item's result, or null.
    @Nullable public var outcome: String?
    /// The facts that decided the answer, and what would have changed it. Absent if there are none, and in files of version 0.2.0
    /// and older.
    public var facts: [DecidingFact]?
    /// The state that refused the request; absent if none did.
    public var state: RefusingState?

    public init(
        fault: String?, limits: [String], outcome: String?, facts: [DecidingFact] = [], state: RefusingState? = nil
    ) {
        self.facts = facts.isEmpty ? nil : facts
        self.state = state
        self._fault = Nullable(wrappedValue: fault)
        self.limits = limits
        self._outcome = Nullable(wrappedValue: outcome)
    }
}

/// The state that refused a request, by the events of the log that make it: the newest one before the request counts [D explain].
public struct RefusingState: Codable, Sendable, Equatable {
    /// The id of the object: the subject of the events, or else a value of their data.
    public var about: String
    /// The kinds of the events. None means that nothing has the id: each event about it counts.
    public var kinds: [String]
    /// A value that the data of the events has too, where one object has several such states; absent if it is not needed.
    public var named: String?

    public init(_ about: String, _ kinds: [String], named: String? = nil) {
        self.about = about
        self.kinds = kinds
        self.named = named
    }
}

/// A fact that decided an answer or a result, noted when it was decided [D explain].
public struct DecidingFact: Codable, Sendable, Equatable {
    /// The kind of fact.
    public enum Kind: String, Codable, Sendable {
        case rule, limit, setting
    }

    public var kind: Kind
    /// The rule's id, or the name of the limit or setting.
    public var name: String
    /// The fact in words.
    public var text: String
    /// What would have changed the answer, in words; absent if that is not known.
    public var otherwise: String?
    /// The id of the object whose history led to it; absent if there is none.
    public var about: String?

    /// The fact as an object of JSON, for the data of an event.
    package var members: JSONObject {
        var members: JSONObject = [
            "kind": .string(kind.rawValue), "name": .string(name), "text": .string(text),
        ]
        if let otherwise { members["otherwise"] = .string(otherwise) }
        if let about { members["about"] = .string(about) }
        return members
    }

    /// Reads ``members``; `nil` if the value is something else.
    package init?(_ value: JSONValue?) {
        guard let members = value?.members, let kind = members["kind"]?.text.flatMap(Kind.init(rawValue:)),
            let name = members["name"]?.text, let text = members["text"]?.text
        else { return nil }
        self.init(
            kind, name, text, otherwise: members["otherwise"]?.text, about: members["about"]?.text)
    }

    public init(_ kind: Kind, _ name: String, _ text: String, otherwise: String?, about: String? = nil) {
        self.kind = kind
        self.name = name
        self.text = text
        self.otherwise = otherwise
        self.about = about
    }
}
