/// `GET /_sim/requests` [D].
public struct RequestList: Codable, Sendable {
    /// Newest first.
    public var requests: [JournaledRequest]
    /// Where the next page begins; null on the last.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(requests: [JournaledRequest], next_cursor: String?) {
        self.requests = requests
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// A request of the journal; secrets are masked [D].
public struct JournaledRequest: Codable, Sendable {
    /// The request's id, as `X-Request-Id` said it.
    public var id: String
    /// Epoch seconds, by the namespace's clock.
    public var at: Double
    /// For instance `GET`.
    public var method: String
    /// Without the namespace and the query.
    public var path: String
    /// Without its `?`, or null.
    @Nullable public var query: String?
    /// The answer's status.
    public var status: Int
    /// In real time.
    public var duration_ms: Double
    /// Whose session it was, or null.
    @Nullable public var username: String?
    /// The caller's `X-Sim-Test`, or null.
    @Nullable public var test: String?
    /// What decided the answer besides the platform's own rules.
    public var decided_by: DecidedRequest
    /// The request, where one alone is shown.
    public var request: JournaledMessage?
    /// The answer, likewise; as it was before a fault spoilt it.
    public var response: JournaledMessage?

    /// Makes one from its members.
    public init(
        id: String, at: Double, method: String, path: String, query: String?, status: Int, duration_ms: Double,
        username: String?, test: String?, decided_by: DecidedRequest, request: JournaledMessage?,
        response: JournaledMessage?
    ) {
        self.id = id
        self.at = at
        self.method = method
        self.path = path
        self._query = Nullable(wrappedValue: query)
        self.status = status
        self.duration_ms = duration_ms
        self._username = Nullable(wrappedValue: username)
        self._test = Nullable(wrappedValue: test)
        self.decided_by = decided_by
        self.request = request
        self.response = response
    }
}

/// What decided an answer besides the platform's own rules.
public struct DecidedRequest: Codable, Sendable {
    /// The fault rule that struck, or null.
    @Nullable public var fault: String?
    /// The limits that were exceeded.
    public var limits: [String]
    /// The outcome rule that decided what the submitted item gets, or null.
    @Nullable public var outcome: String?

    /// Makes one from its members.
    public init(fault: String?, limits: [String], outcome: String?) {
        self._fault = Nullable(wrappedValue: fault)
        self.limits = limits
        self._outcome = Nullable(wrappedValue: outcome)
    }
}

/// The headers and body of a request or an answer.
public struct JournaledMessage: Codable, Sendable {
    /// Name and value, in the order they came.
    public var headers: [[String]]
    /// As much of it as is kept; null where it is no text.
    @Nullable public var body: String?
    /// How long it was.
    public var bytes: Int
    /// Whether there was more than is kept.
    public var truncated: Bool

    /// Makes one from its members.
    public init(headers: [[String]], body: String?, bytes: Int, truncated: Bool) {
        self.headers = headers
        self._body = Nullable(wrappedValue: body)
        self.bytes = bytes
        self.truncated = truncated
    }
}

/// The answer of `POST /_sim/requests/verify` where it was asked as often as it should have been [D].
public struct Verification: Codable, Sendable {
    /// True; an answer that is not is a 409.
    public var verified: Bool
    /// How many requests match.
    public var count: Int

    /// Makes one from its members.
    public init(verified: Bool, count: Int) {
        self.verified = verified
        self.count = count
    }
}

/// A request that almost matched.
public struct NearMiss: Codable, Sendable {
    /// The request.
    public var request: JournaledRequest
    /// In what it differs; empty where there were too many.
    public var differences: [String]

    /// Makes one from its members.
    public init(request: JournaledRequest, differences: [String]) {
        self.request = request
        self.differences = differences
    }
}

/// An HTTP archive, version 1.2, as browsers' developer tools open it. Member names are the format's.
public struct HTTPArchive: Codable, Sendable {
    /// The archive.
    public var log: Log

    /// Makes one of entries.
    public init(entries: [Entry]) {
        log = Log(entries: entries)
    }

    /// What the archive holds.
    public struct Log: Codable, Sendable {
        /// `1.2`.
        public var version = "1.2"
        /// The program that made it.
        public var creator = Creator()
        /// Oldest first.
        public var entries: [Entry]
    }

    /// The program that made it.
    public struct Creator: Codable, Sendable {
        /// `entrupy-sim`.
        public var name = "entrupy-sim"
        /// Its version.
        public var version = "1"
    }

    /// A name and a value.
    public struct Pair: Codable, Sendable {
        /// For instance a header's.
        public var name: String
        /// What it says.
        public var value: String

        /// Makes one from its members.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request and its answer.
    public struct Entry: Codable, Sendable {
        /// ISO 8601.
        public var startedDateTime: String
        /// Milliseconds.
        public var time: Double
        /// What was asked.
        public var request: Request
        /// What was answered.
        public var response: Response
        /// Empty: nothing is known of caches.
        public var cache: [String: String] = [:]
        /// Where the time went: all of it in waiting.
        public var timings: [String: Double]

        /// Makes one from its members.
        public init(startedDateTime: String, time: Double, request: Request, response: Response) {
            self.startedDateTime = startedDateTime
            self.time = time
            self.request = request
            self.response = response
            timings = ["send": 0, "wait": time, "receive": 0]
        }
    }

    /// What was asked.
    public struct Request: Codable, Sendable {
        /// For instance `GET`.
        public var method: String
        /// Absolute.
        public var url: String
        /// `HTTP/1.1`.
        public var httpVersion = "HTTP/1.1"
        /// Empty: the platform has none.
        public var cookies: [Pair] = []
        /// In the order they came.
        public var headers: [Pair]
        /// The query's parameters.
        public var queryString: [Pair]
        /// The body, where there is one that is text.
        public var postData: Post?
        /// -1: not known.
        public var headersSize = -1
        /// In bytes.
        public var bodySize: Int

        /// Makes one from its members.
        public init(
            method: String, url: String, headers: [Pair], queryString: [Pair], bodySize: Int, postData: Post?
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.queryString = queryString
            self.bodySize = bodySize
            self.postData = postData
        }
    }

    /// A request's body.
    public struct Post: Codable, Sendable {
        /// Its media type.
        public var mimeType: String
        /// As much of it as is kept.
        public var text: String

        /// Makes one from its members.
        public init(mimeType: String, text: String) {
            self.mimeType = mimeType
            self.text = text
        }
    }

    /// What was answered.
    public struct Response: Codable, Sendable {
        /// For instance 200.
        public var status: Int
        /// Not kept.
        public var statusText = ""
        /// `HTTP/1.1`.
        public var httpVersion = "HTTP/1.1"
        /// Empty: the platform has none.
        public var cookies: [Pair] = []
        /// In the order they went.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// Empty: the platform redirects nobody.
        public var redirectURL = ""
        /// -1: not known.
        public var headersSize = -1
        /// In bytes.
        public var bodySize: Int

        /// Makes one from its members.
        public init(status: Int, headers: [Pair], bodySize: Int, content: Content) {
            self.status = status
            self.headers = headers
            self.bodySize = bodySize
            self.content = content
        }
    }

    /// An answer's body.
    public struct Content: Codable, Sendable {
        /// In bytes.
        public var size: Int
        /// Its media type.
        public var mimeType: String
        /// As much of it as is kept, where it is text.
        public var text: String?

        /// Makes one from its members.
        public init(size: Int, mimeType: String, text: String?) {
            self.size = size
            self.mimeType = mimeType
            self.text = text
        }
    }
}
