import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Simulation
import SimulationAPI

/// `POST /_sim/requests/{id}/resend`: makes a request of the journal again, as it was or edited [D resend].
enum ResendRoutes {
    static func add(to routes: Routes) {
        routes.on(.post, "requests/{id}/resend", resend)
    }

    /// The changes to a request that is sent again.
    private struct Edit: Sendable {
        let name: RequestName
        let method: HTTPRequest.Method?
        /// The path with its query, without the namespace.
        let path: String?
        /// Header fields that are set, or removed where the value is `nil`.
        let headers: [(name: HTTPField.Name, value: String?)]
        let body: ByteBuffer?

        init(_ request: RequestReader) throws {
            name = try RequestName(request)
            var fields = request.fields(known: ["method", "path", "headers", "body"])
            method = fields.method("method").flatMap(HTTPRequest.Method.init(rawValue:))
            path = fields.value(
                "path", "must be a path of the platform without a namespace, such as /sdk/session?language=ja"
            ) { value in
                value.text.flatMap { text in
                    let target = Target(text)
                    return text.begins(with: "/") && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                        && !text.contains(ascii: "#") && !target.isControl && !text.begins(with: "/ns/") ? text : nil
                }
            }
            headers = Self.headers(&fields)
            body = try fields.value("body").map { value in
                try value.text.map { ByteBuffer(string: $0) } ?? ByteBuffer(bytes: WireJSON.encode(value))
            }
            try fields.finish()
        }

        private static func headers(_ fields: inout FieldReader) -> [(name: HTTPField.Name, value: String?)] {
            let expected = "must be an object of names and values, for instance {\"Api-Version\": \"1.4\"}"
            guard let members = fields.value("headers", expected, \.members) else { return [] }
            var part = fields.object("headers")
            var found: [(name: HTTPField.Name, value: String?)] = []
            for key in members.keys.sorted() {
                guard let name = HTTPField.Name(key) else {
                    part.report(key, "is not a valid header name")
                    continue
                }
                guard !RecordedRequest.connectionHeaders.contains(name.canonicalName) else {
                    part.report(key, "is a header of the connection; the server sets it")
                    continue
                }
                let value = part.optionalString(key)
                if let value, !HTTPField.isValidValue(value) { part.report(key, "is not a valid header value") }
                found.append((name, value))
            }
            return found
        }
    }

    @Sendable private static func resend(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON, Edit.init) { edit in
            // With its secrets [D resend].
            let found = await request.namespace.run(request.head, .reads) { try edit.name.only($0) }
            let wanted = try Self.request(found.result.get(), edit, in: request.namespace.name, request.request.head)
            // Sending again is a write, whatever is sent: it shows in the journal.
            let answer = try await request.make(wanted, isAbandonable: false)
            let id = answer.original.headers[.requestID] ?? ""
            let latest = await request.namespace.run(.background, .reads) { job in
                job.journal.last { $0.requestID.isIdentical(to: id) }?.sequence
            }
            guard let sequence = try latest.result.get() else {
                let came = answer.status.map { "answered \($0)" } ?? "lost by a fault"
                throw PlatformError.wrongState(
                    "the request was made and \(came), but the journal keeps no requests (settings journal.entries)"
                )
            }
            let shown = await request.namespace.answer(
                .success(ByID<ShowRequest>(RequestName(id, sequence: sequence))), RequestHead.background)
            // The answer is this request's, and has its id.
            return Completed(requestID: found.requestID, result: shown.result).response()
        }
    }

    /// The request that is sent.
    ///
    /// - Parameter viewer: the control request, whose host the new request has.
    /// - Throws: ``PlatformError/wrongState(_:_:)`` if the journal did not keep the request whole.
    private static func request(
        _ entry: JournalEntry, _ edit: Edit, in namespace: String, _ viewer: HTTPRequest
    ) throws -> Request {
        let body = try body(of: entry, edit)
        var fields = HTTPFields()
        for (name, value) in entry.request.headers.pairs {
            guard let name = HTTPField.Name(name), !isOfTransport(name, entry, edit) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        for (name, value) in edit.headers {
            if let value { fields[name] = value } else { fields[values: name] = [] }
        }
        for field in fields where field.name == .authorization && Secrets.isMasked(field.value) {
            throw PlatformError.wrongState(
                "the journal has this request's token only masked, as in an opened bundle; give Authorization in \"headers\""
            )
        }
        if body.readableBytes > 0 { fields[.contentLength] = String(body.readableBytes) }
        let path = edit.path ?? entry.path + entry.query
        let head = HTTPRequest(
            method: edit.method ?? HTTPRequest.Method(rawValue: entry.method) ?? .get, scheme: "http",
            authority: viewer.authority, path: "/ns/\(namespace)\(path)", headerFields: fields)
        return Request(head: head, body: RequestBody(buffer: body))
    }

    private static func body(of entry: JournalEntry, _ edit: Edit) throws -> ByteBuffer {
        if let body = edit.body { return body }
        let message = entry.request
        guard entry.hasArrived, message.kept == message.length else {
            let reason =
                entry.hasArrived
                ? "the journal kept \(message.kept) of the \(message.length) bytes of its body"
                : "its body did not arrive whole"
            throw PlatformError.wrongState(
                "this request cannot be sent again as it was: \(reason); give a \"body\", or let the app send it again")
        }
        return ByteBuffer(data: message.body.data)
    }

    /// Whether a header belongs to the connection or to the bytes that were sent, and not to the request. The request id
    /// is left out too: the new request is another one.
    private static func isOfTransport(_ name: HTTPField.Name, _ entry: JournalEntry, _ edit: Edit) -> Bool {
        let text = name.canonicalName
        if RecordedRequest.connectionHeaders.contains(text) || name == .requestID { return true }
        let isOtherBody = entry.isDecoded || edit.body != nil
        return isOtherBody && (name == .contentEncoding || name == .contentDigest)
    }
}
