/// An HTTP archive, version 1.2, which browsers' developer tools open. The format sets the member names.
public struct HTTPArchive: Codable, Sendable {
    public var log: Log

    public init(entries: [Entry]) {
        log = Log(entries: entries)
    }

    /// The contents of the archive.
    public struct Log: Codable, Sendable {
        /// The version of the format.
        public var version = "1.2"
        /// The program that made the archive.
        public var creator = Creator()
        /// The entries, oldest first.
        public var entries: [Entry]
    }

    /// The program that made the archive.
    public struct Creator: Codable, Sendable {
        public var name = "entrupy-sim"
        public var version = "1"
    }

    /// The name and value of a header field or query parameter.
    public struct Pair: Codable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request and its answer.
    public struct Entry: Codable, Sendable {
        /// The start of the request, in ISO 8601.
        public var startedDateTime: String
        /// The duration in milliseconds.
        public var time: Double
        public var request: Request
        public var response: Response
        /// Information about caches; empty, because the journal has none.
        public var cache: [String: String] = [:]
        /// The parts of the duration. All of it counts as waiting.
        public var timings: [String: Double]
        /// Whether the whole answer left the server. Names with `_` are the simulator's own.
        public var _delivered: Bool
        /// The effect of the fault that was triggered, or null.
        public var _effect: JSONValue
        /// The real time at which the request began, in epoch seconds, or null.
        @Nullable public var _started_real: Double?
        /// The real time at which the answer was ready, in epoch seconds, or null.
        @Nullable public var _ended_real: Double?

        public init(
            startedDateTime: String, time: Double, request: Request, response: Response, delivered: Bool,
            effect: JSONObject?, startedReal: Double? = nil, endedReal: Double? = nil
        ) {
            __started_real = Nullable(wrappedValue: startedReal)
            __ended_real = Nullable(wrappedValue: endedReal)
            _delivered = delivered
            _effect = effect.map { .object($0) } ?? .null
            self.startedDateTime = startedDateTime
            self.time = time
            self.request = request
            self.response = response
            timings = ["send": 0, "wait": time, "receive": 0]
        }
    }

    /// A request of the archive.
    public struct Request: Codable, Sendable {
        /// The HTTP method, for instance `GET`.
        public var method: String
        /// The absolute URL.
        public var url: String
        public var httpVersion = "HTTP/1.1"
        /// The cookies; empty, because the platform uses none.
        public var cookies: [Pair] = []
        /// The header fields, in the order in which they arrived.
        public var headers: [Pair]
        /// The query's parameters.
        public var queryString: [Pair]
        /// The body, if it is text.
        public var postData: Post?
        /// The size of the headers; -1 means unknown.
        public var headersSize = -1
        /// The size of the body in bytes.
        public var bodySize: Int

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
        /// The media type of the body.
        public var mimeType: String
        /// The stored part of the body.
        public var text: String

        public init(mimeType: String, text: String) {
            self.mimeType = mimeType
            self.text = text
        }
    }

    /// An answer of the archive.
    public struct Response: Codable, Sendable {
        /// The status code, for instance 200; 0 if the request was lost before it was handled.
        public var status: Int
        /// The reason why the answer did not reach its client; else empty, because the journal does not store the reason phrase.
        public var statusText: String
        public var httpVersion = "HTTP/1.1"
        /// The cookies; empty, because the platform uses none.
        public var cookies: [Pair] = []
        /// The header fields, in the order in which they were sent.
        public var headers: [Pair]
        public var content: Content
        /// The target of a redirect; empty, because the platform does not redirect.
        public var redirectURL = ""
        /// The size of the headers; -1 means unknown.
        public var headersSize = -1
        /// The size of the body in bytes.
        public var bodySize: Int

        public init(status: Int, statusText: String, headers: [Pair], bodySize: Int, content: Content) {
            self.status = status
            self.statusText = statusText
            self.headers = headers
            self.bodySize = bodySize
            self.content = content
        }
    }

    /// An answer's body.
    public struct Content: Codable, Sendable {
        /// The size of the body in bytes.
        public var size: Int
        /// The media type of the body.
        public var mimeType: String
        /// The stored part of the body, if it is text.
        public var text: String?

        public init(size: Int, mimeType: String, text: String?) {
            self.size = size
            self.mimeType = mimeType
            self.text = text
        }
    }
}
