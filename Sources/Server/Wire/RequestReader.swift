import Entrupy
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Simulation
import SimulationAPI

enum BodyRule {
    /// The route needs no body. The platforms' routes skip one that is sent; control calls that change something take `null` and an
    /// object without members [D unknown-members].
    case ignored
    case json
    /// A JSON object. No body at all, or `null`, reads as an empty object [D null-body].
    case optionalJSON
    /// A JSON object one of whose members is the text of a document, which JSON makes longer.
    case documentJSON
    /// The route reads the body itself and sets its own size limit.
    case streamed
}

struct JSONRule: Sendable {
    /// Whether a comma may stand before the end of an object or array.
    let allowsTrailingCommas: Bool
    /// The error for text that is not JSON, made from a sentence and the place.
    let malformed: @Sendable (_ message: String, _ details: [ErrorDetail]) -> PlatformError

    /// RFC 8259 [D strict-json].
    static let strict = JSONRule(allowsTrailingCommas: false) { .invalid($0, $1) }
}

/// Reads one request, and answers it with an operation that runs as one job.
struct RequestReader: RequestInput, Sendable {
    private let routed: RoutedRequest
    /// The members of the body. Empty if the route takes none.
    private(set) var body: JSONObject = [:]
    /// The version of the partner API that the request uses.
    private(set) var version = PartnerVersion.v2
    private(set) var head: RequestHead
    let bodies: BodyReader
    /// See ``Routes/minVersion``.
    private let minVersion: Int?
    private let json: JSONRule
    /// Whether the route has read the query. `nil` if this is not a control request: only control requests refuse
    /// unknown parameters [D unknown-members].
    private let hasReadQuery: NIOLockedValueBox<Bool>?

    var request: Request { routed.request.http }
    var channel: any Channel { routed.request.context.channel }
    var namespace: Namespace { routed.namespace }
    var platforms: Platforms { namespace.environment.platforms }
    var routes: KnownRoutes { namespace.environment.routes }
    /// Receives the body once it is read. `nil` if neither the recording nor the journal needs it.
    var received: ReceivedBody? { routed.request.received }
    var credential: Credential { head.metadata?.credential ?? headers.credential }
    /// Whether errors name that of Entrupy's SDK.
    var hasSDKErrors: Bool { routed.request.target.hasSDKErrors }
    var headers: HeaderReader { HeaderReader(routed.request.headers) }

    /// The maximum size of a JSON body, in bytes [D body-sizes].
    static let maxJSONBytes = 1_000_000
    /// The maximum number of values in a JSON body, those within others too [D body-sizes].
    static let maxJSONValues = 50_000
    /// The maximum size of a JSON body that holds a document.
    static let maxDocumentJSONBytes = 2_000_000

    init(_ routed: RoutedRequest, bodies: BodyReader, minVersion: Int?, json: JSONRule) {
        self.routed = routed
        head = routed.request.head
        head.size = routed.request.received
        self.bodies = bodies
        self.minVersion = minVersion
        self.json = json
        hasReadQuery = head.isControl ? NIOLockedValueBox(false) : nil
    }

    /// Makes another request to the same namespace, within the server: one that is sent again, or the console's. It is journaled,
    /// meets no documented edge, and no fault meets it.
    ///
    /// - Parameter isAbandonable: whether it is not begun once the client of this request has gone.
    func make(_ request: Request, isAbandonable: Bool) async throws -> Answer {
        let source = ApplicationRequestContextSource(channel: channel, logger: routed.request.context.logger)
        var incoming = IncomingRequest(
            request, SimContext(source: source), caller: isAbandonable ? ConnectionCaller(channel: channel) : nil,
            isResent: true)
        incoming.namespace = namespace
        return try await JournalResponder(inner: routed.responder, coverage: nil, hasFaults: false)
            .respond(to: incoming)
    }

    /// A parameter of the path, percent-decoded. A value that cannot be decoded stays as it is: it names nothing that
    /// exists.
    func path(_ name: String) -> String {
        let text = routed.parameters.value(of: name).map(String.init) ?? ""
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        // SQLite ends a text at a NUL, so a text that contains one must not be searched for.
        guard let decoded = text.removingPercentEncoding, !decoded.utf8.contains(0) else { return text }
        return decoded
    }

    /// The query's parameters. A route that reads the query also checks it; ``checkNoQuery()`` checks it for all
    /// other routes.
    var query: FieldReader {
        hasReadQuery?.withLockedValue { $0 = true }
        return Self.query(of: request, isStrict: hasReadQuery != nil)
    }

    private static func query(of request: Request, isStrict: Bool) -> FieldReader {
        let query = request.head.path.flatMap { path in
            path.utf8.firstIndex(of: UInt8(ascii: "?")).map { path[path.index(after: $0)...] }
        }
        return FieldReader(query: query ?? "", isStrict: isStrict)
    }

    /// Refuses a control request that has parameters if the route reads none. Ignoring them would hide a caller's
    /// mistake.
    private func checkNoQuery() throws {
        guard let hasReadQuery, !hasReadQuery.withLockedValue({ $0 }) else { return }
        try Self.checkNoQuery(request)
    }

    static func checkNoQuery(_ request: Request) throws {
        var query = query(of: request, isStrict: true)
        try query.finish()
    }

    /// Answers with the operation that `decode` reads from the request.
    func answer<Op: Simulation.Operation>(
        _ rule: BodyRule = .ignored, _ decode: (RequestReader) throws -> Op
    ) async -> Completed<Op.Output> {
        await namespace.answer(await input(rule, decode), credential, head)
    }

    /// Answers with the value that `decode` reads, as one job of the namespace, so that the request has its place and its id.
    func acknowledge<Op>(
        _ rule: BodyRule = .ignored, _ decode: (RequestReader) throws -> Op
    ) async -> Completed<Op> {
        let wanted = await input(rule, decode)
        return await namespace.answer(wanted.map { _ in Acknowledge() }, credential, head).map { try wanted.get() }
    }

    /// Answers as one job of the namespace, with what `work` makes of the value that `decode` reads. An error of `work` is another job.
    func acknowledge<Op: Sendable, Output: Sendable>(
        _ decode: (RequestReader) throws -> Op, then work: (Op) async throws -> Output,
        render: (Completed<Output>) -> Answer
    ) async -> Answer {
        let acknowledged = await acknowledge(.ignored, decode)
        do {
            var made: Output?
            if case .success(let wanted) = acknowledged.result { made = try await work(wanted) }
            return render(Completed(acknowledged.map { _ in }, made))
        } catch {
            return await refuse(error)
        }
    }

    /// Reads the input of a job and checks, in this order, the version, the size, the media type and the
    /// body [D order-of-checks].
    func input<Op>(
        _ rule: BodyRule = .ignored, _ decode: (RequestReader) throws -> Op
    ) async -> Result<Op, PlatformError> {
        do {
            var reader = self
            let body: Result<JSONObject, any Error>
            do { body = .success(try await self.body(rule)) } catch { body = .failure(error) }
            if let minVersion {
                if let problem = headers.apiVersionProblem(from: minVersion) { throw problem }
                reader.version = headers.apiVersion ?? version
            }
            reader.body = try body.get()
            let made = try decode(reader)
            try checkNoQuery()
            return .success(made)
        } catch let error as PlatformError {
            return .failure(error)
        } catch {
            return .failure(.bug("\(error)"))
        }
    }

    /// The same request as the leader of a group of equal reads.
    func leading(_ group: ReadGroup) -> RequestReader {
        var reader = self
        reader.head.group = group
        return reader
    }

    /// Answers an error as one job of the namespace.
    func refuse(_ error: any Error) async -> Answer {
        await namespace.refuse(error as? PlatformError ?? .unavailable("\(error)"), head).refusal()
    }

    /// Answers with `body` once the input is read, or with its error.
    func reading<Op>(
        _ rule: BodyRule = .ignored, _ decode: (RequestReader) throws -> Op,
        then respond: (Op) async throws -> Answer
    ) async -> Answer {
        do {
            return try await respond(input(rule, decode).get())
        } catch {
            return await refuse(error)
        }
    }
}

extension RequestReader {
    private func body(_ rule: BodyRule) async throws -> JSONObject {
        if case .streamed = rule { return [:] }
        if case .ignored = rule {
            let isTooLarge = (headers.contentLength ?? 0) > Self.maxJSONBytes
            if isTooLarge { received?.markIncomplete() }
            if let problem = received?.problem { throw problem }
            if isTooLarge { throw PlatformError.bodyTooLarge(limit: Self.maxJSONBytes) }
            if hasReadQuery == nil || head.isSafe { return [:] }
        }
        var limit = Self.maxJSONBytes
        if case .documentJSON = rule { limit = Self.maxDocumentJSONBytes }
        let read = try await bodies.read(request, upTo: limit, into: received).get()
        // No body at all is right too.
        if rule == .ignored || rule == .optionalJSON, case .success(let content) = read.content,
            content.readableBytes == 0 || Self.isNull(content)
        {
            return [:]
        }
        if let problem = headers.jsonMediaTypeProblem { throw PlatformError.unsupportedMediaType(problem) }
        let content = try read.content.get()
        guard content.readableBytes > 0 else {
            throw PlatformError.invalid([ErrorDetail("body", "is empty; a JSON object is needed")])
        }
        let members = try await object(content, json)
        if case .ignored = rule {
            var fields = FieldReader(members, known: [])
            try fields.finish()
        }
        return members
    }

    private static func isNull(_ content: ByteBuffer) -> Bool {
        let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        let text = content.readableBytesView.drop(while: isBlank)
        guard text.starts(with: "null".utf8) else { return false }
        return text.dropFirst(4).allSatisfy(isBlank)
    }

    /// The size of JSON, in bytes, that is parsed at once, within a fraction of a millisecond. Changing threads costs tens of
    /// microseconds.
    private static let briefJSON = 65_536

    private func object(_ content: ByteBuffer, _ rule: JSONRule) async throws -> JSONObject {
        let isLong = content.readableBytes > Self.briefJSON
        let (members, count) =
            try await isLong
            ? namespace.environment.offload { try Self.object(Array(content.readableBytesView), rule) }
            : Self.object(Array(content.readableBytesView), rule)
        // Which bodies wait at one moment is in no recording.
        if !namespace.environment.sequencer.ordersAllJobs {
            received?.keep(try namespace.bodies.take(values: count, text: content.readableBytes))
        }
        return members
    }

    private static func object(_ bytes: [UInt8], _ rule: JSONRule) throws -> (members: JSONObject, count: Int) {
        let read: (value: JSONValue, count: Int)
        do {
            read = try StrictJSON.read(
                bytes, maxValues: maxJSONValues, allowsTrailingCommas: rule.allowsTrailingCommas)
        } catch {
            let place = "line \(error.line), column \(error.column)"
            let message = "malformed JSON at \(place): \(error.text)"
            let details = [ErrorDetail(error.path.isEmpty ? "body" : error.path, "\(place): \(error.text)")]
            throw rule.malformed(message, details)
        }
        guard let members = read.value.members else {
            throw PlatformError.invalid([ErrorDetail("body", "must be a JSON object, got \(read.value.typeName)")])
        }
        return (members, read.count)
    }

    /// The body as YAML or JSON text. The caller parses it.
    func document() async -> Result<String, PlatformError> {
        do {
            let read = try await bodies.read(request, upTo: Self.maxJSONBytes, into: received).get()
            if let problem = headers.documentMediaTypeProblem { throw PlatformError.unsupportedMediaType(problem) }
            let content = try read.content.get()
            // JSON is strict here as everywhere [D strict-json].
            if headers.isJSON { _ = try await object(content, .strict) }
            guard content.readableBytes > 0 else {
                throw PlatformError.invalid([ErrorDetail("body", "is empty; YAML or JSON is needed")])
            }
            guard let text = String(validating: content.readableBytesView, as: UTF8.self) else {
                throw PlatformError.invalid([ErrorDetail("body", "must be UTF-8")])
            }
            return .success(text)
        } catch {
            return .failure(error as? PlatformError ?? .unavailable("\(error)"))
        }
    }
}
