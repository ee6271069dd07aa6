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

    /// Whether no body at all is right too.
    fileprivate var isOptional: Bool {
        switch self {
        case .ignored, .optionalJSON: true
        case .json, .documentJSON, .streamed: false
        }
    }
}

struct JSONRule: Sendable {
    /// Whether a comma may stand before the end of an object or array.
    let allowsTrailingCommas: Bool
    /// The error for text that is not JSON, made from a sentence and the place.
    let malformed: @Sendable (_ message: String, _ details: [ErrorDetail]) -> PlatformError

    /// RFC 8259 [D strict-json].
    static let strict = JSONRule(allowsTrailingCommas: false) { .invalid($0, $1) }
}

/// A version of the partner API, as a route serves it.
enum PartnerSurface {
    /// `/v1`. Requires the header `Api-Version`: 1.`from` or later.
    case v1(from: Int = 0)
    /// `/v2`. Ignores `Api-Version` [P].
    case v2
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
    private let surface: PartnerSurface
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

    init(
        _ routed: RoutedRequest, bodies: BodyReader, _ surface: PartnerSurface, json: JSONRule = .strict
    ) {
        self.routed = routed
        head = routed.request.head
        head.size = routed.request.received
        self.bodies = bodies
        self.surface = surface
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

    /// Reads the input of a job and checks, in this order, the version, the size, the media type and the
    /// body [D order-of-checks].
    func input<Op>(
        _ rule: BodyRule = .ignored, _ decode: (RequestReader) throws -> Op
    ) async -> Result<Op, PlatformError> {
        do {
            var reader = self
            let body = await body(rule)
            if case .v1(let least) = surface {
                if let problem = headers.apiVersionProblem(from: least) { throw problem }
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
    private func body(_ rule: BodyRule) async -> Result<JSONObject, PlatformError> {
        if case .streamed = rule { return .success([:]) }
        if case .ignored = rule {
            let isTooLarge = (headers.contentLength ?? 0) > Self.maxJSONBytes
            if isTooLarge { received?.markIncomplete() }
            if let problem = received?.problem { return .failure(problem) }
            if isTooLarge { return .failure(.bodyTooLarge(limit: Self.maxJSONBytes)) }
            if hasReadQuery == nil || head.isSafe { return .success([:]) }
        }
        var limit = Self.maxJSONBytes
        if case .documentJSON = rule { limit = Self.maxDocumentJSONBytes }
        let read = await bodies.read(request, upTo: limit, into: received)
        let content = read.flatMap { body -> Result<ByteBuffer?, PlatformError> in
            if rule.isOptional, case .success(let content) = body.content,
                content.readableBytes == 0 || Self.isNull(content)
            {
                return .success(nil)
            }
            if let problem = headers.jsonMediaTypeProblem { return .failure(.unsupportedMediaType(problem)) }
            return body.content.flatMap { content in
                content.readableBytes > 0
                    ? .success(content)
                    : .failure(.invalid([ErrorDetail("body", "is empty; a JSON object is needed")]))
            }
        }
        switch content {
        case .failure(let error): return .failure(error)
        case .success(nil): return .success([:])
        case .success(let content?):
            let members = await object(content, json)
            guard case .ignored = rule else { return members }
            return members.flatMap { Self.withoutMembers($0) }
        }
    }

    private static func withoutMembers(_ members: JSONObject) -> Result<JSONObject, PlatformError> {
        var fields = FieldReader(.object(members), known: [])
        return Result { try fields.finish() }.map { members }.mapError { $0 as? PlatformError ?? .bug("\($0)") }
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

    private func object(_ content: ByteBuffer, _ rule: JSONRule) async -> Result<JSONObject, PlatformError> {
        let read: Result<(members: JSONObject, count: Int), PlatformError>
        if content.readableBytes > Self.briefJSON {
            do {
                read = try await namespace.environment.offload { Self.object(Array(content.readableBytesView), rule) }
            } catch {
                return .failure(.unavailable("\(error)"))
            }
        } else {
            read = Self.object(Array(content.readableBytesView), rule)
        }
        return read.flatMap { members, count in
            do throws(PlatformError) {
                // Which bodies wait at one moment is in no recording.
                if !namespace.environment.sequencer.ordersAllJobs {
                    received?.keep(try namespace.bodies.take(values: count, text: content.readableBytes))
                }
                return .success(members)
            } catch {
                return .failure(error)
            }
        }
    }

    /// The body as YAML or JSON text. The caller parses it.
    func document() async -> Result<String, PlatformError> {
        let read = await bodies.read(request, upTo: Self.maxJSONBytes, into: received)
        if case .success = read, let problem = headers.documentMediaTypeProblem {
            return .failure(.unsupportedMediaType(problem))
        }
        switch read.flatMap(\.content) {
        case .failure(let error): return .failure(error)
        case .success(let content): return await text(content)
        }
    }

    private func text(_ buffer: ByteBuffer) async -> Result<String, PlatformError> {
        // JSON is strict here as everywhere [D strict-json].
        if headers.isJSON, case .failure(let error) = await object(buffer, .strict) {
            return .failure(error)
        }
        guard buffer.readableBytes > 0 else {
            return .failure(.invalid([ErrorDetail("body", "is empty; YAML or JSON is needed")]))
        }
        guard let text = String(validating: buffer.readableBytesView, as: UTF8.self) else {
            return .failure(.invalid([ErrorDetail("body", "must be UTF-8")]))
        }
        return .success(text)
    }

    private static func object(
        _ bytes: [UInt8], _ rule: JSONRule
    ) -> Result<(members: JSONObject, count: Int), PlatformError> {
        do {
            let (value, count) = try StrictJSON.read(
                bytes, maxValues: maxJSONValues, allowsTrailingCommas: rule.allowsTrailingCommas)
            guard let members = value.members else {
                return .failure(.invalid([ErrorDetail("body", "must be a JSON object, got \(value.typeName)")]))
            }
            return .success((members, count))
        } catch {
            let place = "line \(error.line), column \(error.column)"
            let message = "malformed JSON at \(place): \(error.text)"
            let details = [ErrorDetail(error.path.isEmpty ? "body" : error.path, "\(place): \(error.text)")]
            return .failure(rule.malformed(message, details))
        }
    }
}
